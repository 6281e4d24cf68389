"""How well the models of a policy predict what is seen next."""

from __future__ import annotations

import numpy as np

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import cut_before, episodes_within, goes_on
from uqf.episodes.trajectories import Trajectories
from uqf.policies.policy import BeliefPolicy, shown_by_states


def predicted(policy: BeliefPolicy, data: Trajectories, least: float = 1e-4) -> FloatArray:
    """Log-probability of what every episode shows, each step given all before it and its action, (n_steps,).

    Probabilities are averaged over the models of the policy, and are `least` at least. They are given that the episode
    goes on; where it ends, 0.
    """
    parts = policy.parts()
    before, actions = cut_before(data), np.asarray(parts["kinds"])[data.actions]
    beliefs = policy.beliefs_along(data)[before, 1:]
    probs, at, used = np.zeros(data.n_steps), 0, 0
    kinds = int(max(parts["kinds"])) + 1
    for states, shown in zip(parts["states"], shown_by_states(parts), strict=True):
        size = kinds * states * states
        transitions = parts["transitions"][used : used + size].reshape(kinds, states, states)
        for kind in np.unique(actions):
            steps = np.flatnonzero(actions == kind)
            ahead = (beliefs[steps, at : at + states] @ transitions[kind]).astype(np.float64)
            seen = (ahead * shown[data.observations[steps]]).sum(axis=1)
            probs[steps] += seen / np.maximum(ahead.sum(axis=1), least) / len(parts["states"])
        at, used = at + states, used + size
    return np.where(goes_on(data), np.log(np.clip(probs, least, 1.0)), 0.0)


def by_episode(steps: FloatArray, data: Trajectories) -> FloatArray:
    """Sums over the steps of every episode, (n_episodes,)."""
    return np.asarray(np.add.reduceat(steps, data.offsets[:-1]))


def few(data: Trajectories, features: int, cells: int = 5_000_000) -> Trajectories:
    """The first episodes, so many that beliefs over `features` states have `cells` numbers at most."""
    first: Trajectories = data[: episodes_within(data, cells // features)]
    return first
