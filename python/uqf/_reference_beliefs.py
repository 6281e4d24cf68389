"""The method of `BeliefQ` in plain NumPy, equation by equation: the oracle of its tests and its best explanation.

A cloned hidden Markov model has states that show one observation each; several states (clones) may show the same. In a
noisy one a state shows observation o with probability ``shown[o, s]``.

In state s, action a brings an *event* (a class of rewards, and whether the episode ended) with probability
``events[a, e, s]``; if the episode goes on, the next state is s' with probability ``transitions[a, s, s']``, and its
observation is seen. Nothing here is fast. An episode is (actions, observations, events, ended, first), where `first` is
the observation before the first action, or None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Episode = tuple[Sequence[int], Sequence[int], Sequence[int], bool, int | None]


class Model(NamedTuple):
    """start (S,), transitions (A, S, S), events (A, E, S), shown (O, S): 0 or 1 in cloned models."""

    start: FloatArray
    transitions: FloatArray
    events: FloatArray
    shown: FloatArray


class Counts(NamedTuple):
    """Expected counts in the shapes of a model, and the log-likelihood of the episodes.

    `shown` are those of observations in states that were left: the last of an episode is not counted.
    """

    start: FloatArray
    transitions: FloatArray
    events: FloatArray
    shown: FloatArray
    log_likelihood: float


def begun(model: Model, first: int | None) -> FloatArray:
    """The belief (S,) before the first action, among the states that show what was shown."""
    return model.start if first is None else settled(model.start * model.shown[first], model.shown[first])


def settled(joint: FloatArray, shown: FloatArray) -> FloatArray:
    """The belief; even over the states that may show what was seen, if the model holds it impossible."""
    possible = shown > 0.0
    return np.asarray(joint / joint.sum() if joint.sum() > 1e-12 else possible / possible.sum())


def beliefs(
    model: Model, actions: Sequence[int], observations: Sequence[int], first: int | None = None
) -> FloatArray:
    """Bayes' rule at every cut of an episode that goes on, (T + 1, S); rewards are not looked at, as when acting.

    That the episode goes on is evidence too: odd events are ends.
    """
    belief = begun(model, first)
    rows = [belief]
    for action, observation in zip(actions, observations, strict=True):
        goes_on = model.events[action, 0::2].sum(axis=0)
        shown = model.shown[observation]
        belief = settled(((belief * goes_on) @ model.transitions[action]) * shown, shown)
        rows.append(belief)
    return np.stack(rows)


def expectation(model: Model, episodes: Sequence[Episode]) -> Counts:
    """How often every start, transition and event is expected to have occurred, given all that was seen.

    With the forward probabilities f_t(s) of what was seen before step t, and the backward probabilities b_t(s) of what
    was seen from step t on, the share of a transition at step t is f_t(s) · events · transitions · b_{t+1}(s') over
    the probability of the episode.
    """
    start, transitions, event_counts, shown = (np.zeros_like(table) for table in model)
    log_likelihood = 0.0
    for actions, observations, events, ended, first in episodes:
        length = len(actions)
        opening = model.start if first is None else model.start * model.shown[first]
        forward, backward = [opening], [np.ones_like(model.start)]
        steps = []
        for t in range(length):
            last = ended and t == length - 1
            law = model.events[actions[t], events[t]]
            arrives = (
                np.eye(len(law)) if last else model.transitions[actions[t]] * model.shown[observations[t]]
            )
            steps.append(law[:, np.newaxis] * arrives)
            forward.append(forward[-1] @ steps[-1])
        for step in reversed(steps):
            backward.insert(0, step @ backward[0])
        likelihood = float(forward[-1].sum())
        log_likelihood += float(np.log(likelihood))
        start += forward[0] * backward[0] / likelihood
        for t in range(length):
            joint = forward[t][:, np.newaxis] * steps[t] * backward[t + 1] / likelihood
            event_counts[actions[t], events[t]] += joint.sum(axis=1)
            before = observations[t - 1] if t > 0 else first
            if before is not None:
                shown[before] += joint.sum(axis=1)
            if not (ended and t == length - 1):
                transitions[actions[t]] += joint
    return Counts(start, transitions, event_counts, shown, log_likelihood)


def maximisation(
    model: Model,
    counts: Counts,
    law: FloatArray,
    transition_prior: float = 0.05,
    event_prior: float = 1.0,
    shown_prior: float | None = None,
) -> Model:
    """The model that makes the expected counts likeliest, with pseudo-counts.

    A row of transitions has `transition_prior` of them, spread evenly; the events of a state have `event_prior`,
    spread as the frequencies `law` (A, E) of all events; what a state shows has `shown_prior`, spread evenly. Without
    it states show what they did before, as those of cloned models must.
    """
    shown = model.shown
    if shown_prior is not None:
        shown = counts.shown + shown_prior / len(shown)
        shown = shown / shown.sum(axis=0)
    transitions = counts.transitions + transition_prior / len(model.start)
    # An action that was never taken has all events alike.
    events = counts.events + event_prior * law[:, :, np.newaxis] + 1e-12
    return Model(
        counts.start / counts.start.sum(),
        transitions / transitions.sum(axis=2, keepdims=True),
        events / events.sum(axis=1, keepdims=True),
        shown,
    )


def temporal_differences(
    features: FloatArray, rewards: FloatArray, ended: bool, discount: float, trace: float
) -> tuple[FloatArray, FloatArray]:
    """(A, b) of one episode: the value weights w of the policy that played it solve (ridge + Σ A) w = Σ b.

    `features` are those at all T + 1 cuts. Row t asks that x_t · w = Σ_i (γλ)^i (r_{t+i} + γ(1 − λ) x_{t+i+1} · w …):
    with z_t = Σ_i (γλ)^i (x_{t+i} − γ x_{t+i+1}) and ρ_t = Σ_i (γλ)^i r_{t+i}, A = Σ x_t z_tᵀ and b = Σ x_t ρ_t.
    """
    length, width = len(rewards), features.shape[1]
    left, right = np.zeros((width, width)), np.zeros(width)
    for t in range(length):
        difference, earned = np.zeros(width), 0.0
        for i in range(t, length):
            weight = (discount * trace) ** (i - t)
            following = 0.0 if ended and i == length - 1 else 1.0
            difference += weight * (features[i] - discount * following * features[i + 1])
            earned += weight * rewards[i]
        left += np.outer(features[t], difference)
        right += features[t] * earned
    return left, right


def generalised_advantages(
    values: FloatArray, rewards: FloatArray, ended: bool, discount: float, trace: float
) -> FloatArray:
    """Σ_i (γλ)^i δ_{t+i} of every step, with δ_t = r_t + γ V_{t+1} − V_t; `values` are those at all T + 1 cuts."""
    length = len(rewards)
    following = np.where(ended & (np.arange(length) == length - 1), 0.0, values[1:])
    residuals = rewards + discount * following - values[:-1]
    return np.array(
        [sum((discount * trace) ** (i - t) * residuals[i] for i in range(t, length)) for t in range(length)]
    )


def ridge_advantages(
    features: FloatArray, targets: FloatArray, weights: FloatArray, ridge: float
) -> FloatArray:
    """Weights of one action: the ridge regression of its targets on the features before its steps, each weighted."""
    gram = features.T @ (weights[:, np.newaxis] * features) + ridge * np.eye(features.shape[1])
    return np.asarray(np.linalg.solve(gram, features.T @ (weights * targets)))
