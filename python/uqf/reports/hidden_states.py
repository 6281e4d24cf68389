"""Hidden states of a belief policy: what each looks like, what the policy does there, where it leads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import cut_before, episodes_within, returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.policies.policy import BeliefPolicy, shown_by_states
from uqf.reports.names import Names
from uqf.reports.study import Study
from uqf.types import Record

#: States that are drawn, steps that tell how they are used, and actions whose transitions are drawn.
MAX_STATES = 16
USED_STEPS = 20_000
MAX_ACTIONS = 8

#: Rarer transitions are not drawn.
MIN_TRANSITION = 0.08

#: Of what a state may show, what it shows this often is named.
OFTEN = 0.25

#: Under this name stand the transitions under the policy itself.
POLICY = "the policy"


@dataclass(frozen=True)
class State:
    """A hidden state."""

    name: str
    looks: str
    """What is observed there."""
    share: float
    """Of the time that the policy believes to be there, on held-out episodes."""
    action: str
    """What the policy mostly does there."""
    action_share: float
    to_come: float
    """Discounted rewards that the log still had to come there."""


@dataclass(frozen=True)
class Transition:
    """From the state with one number to that with another."""

    start: int
    end: int
    share: float


@dataclass(frozen=True)
class HiddenStates:
    """The states of one model, those that are believed in most often first."""

    states: list[State]
    covered: float
    """Share of the time in which the policy believes to be in one of them."""
    of_model: int
    models: int
    transitions: dict[str, list[Transition]]
    """Transitions among these states by action; under `POLICY`, as the policy acts."""
    mean_to_come: float

    @classmethod
    def of(cls, study: Study) -> HiddenStates:
        """Of the model that predicts held-out observations best."""
        policy = study.policy
        assert isinstance(policy, BeliefPolicy), "other policies have no hidden states"
        data = study.held_out[: episodes_within(study.held_out, USED_STEPS)]
        beliefs = policy.beliefs_along(data)[cut_before(data), 1:]
        models = _models(policy.parts())
        likelihoods = [_likelihood(one, beliefs, data) for one in models]
        model = models[int(np.argmax(likelihoods))]
        own = beliefs[:, model.first : model.first + model.size].astype(np.float64)
        shares = own.mean(axis=0)
        shown = np.argsort(-shares, kind="stable")[:MAX_STATES]
        shown = shown[shares[shown] > 1e-3]
        probs = study.probs[: data.n_steps]
        to_come = returns_to_go(data, study.baseline.discount)
        weights = own / np.maximum(own.sum(axis=0), 1e-12)
        acts, follows = weights.T @ probs, weights.T @ to_come
        names = study.names
        states = [
            State(
                _letters(number),
                model.looks(int(state), names),
                float(shares[state]),
                names.action(int(acts[state].argmax())),
                float(acts[state].max()),
                float(follows[state]),
            )
            for number, state in enumerate(shown)
        ]
        common = np.argsort(-np.bincount(data.actions, minlength=data.n_actions), kind="stable")[:MAX_ACTIONS]
        transitions = {POLICY: _transitions(np.einsum("sa,ast->st", acts, model.transitions), shown)}
        transitions |= {
            names.action(int(action)): _transitions(model.transitions[action], shown)
            for action in np.sort(common)
        }
        return cls(
            states, float(shares[shown].sum()), model.size, len(models), transitions, float(to_come.mean())
        )


@dataclass(frozen=True)
class Model:
    """One hidden Markov model of a policy."""

    first: int
    """Its first column among the beliefs of all models."""
    size: int
    transitions: NDArray[np.float32]
    """(n_actions, size, size)"""
    shown: NDArray[np.float32]
    """(n_observations, size): probability that a state shows an observation; all 1 if it was never seen."""

    def looks(self, state: int, names: Names) -> str:
        """What is observed in a state."""
        known = (self.shown < 1.0).any(axis=1)
        shows = np.where(known, self.shown[:, state], 0.0)
        if not shows.any():
            return "anything"
        often = np.flatnonzero(shows >= min(OFTEN, shows.max()))
        found = [names.observation(int(code)) for code in often[np.argsort(-shows[often], kind="stable")]]
        return found[0] if len(found) == 1 else f"{found[0]} or {len(found) - 1} others"


def _models(parts: Record) -> list[Model]:
    kinds, found, first, entry = parts["kinds"], [], 0, 0
    count = int(kinds.max()) + 1
    for size, shown in zip(parts["states"].tolist(), shown_by_states(parts), strict=True):
        flat = parts["transitions"][entry : entry + count * size * size]
        found.append(Model(first, size, flat.reshape(count, size, size)[kinds], shown))
        first, entry = first + size, entry + count * size * size
    return found


def _likelihood(model: Model, beliefs: NDArray[np.float32], data: Trajectories) -> float:
    """Mean log-probability of the next observation; a model is right where this is high."""
    own = beliefs[:, model.first : model.first + model.size]
    totals = np.empty(len(own))
    for action in np.unique(data.actions):
        now = np.flatnonzero(data.actions == action)
        ahead = own[now] @ model.transitions[action]
        totals[now] = (ahead * model.shown[data.observations[now]]).sum(axis=1)
    return float(np.log(np.maximum(totals, 1e-6)).mean())


def _transitions(probs: FloatArray, shown: NDArray[np.int64]) -> list[Transition]:
    among = probs[np.ix_(shown, shown)]
    return [
        Transition(int(start), int(end), float(among[start, end]))
        for start, end in np.argwhere(among >= MIN_TRANSITION)
    ]


def _letters(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"Z{number - 25}"
