"""Memory as the state of an automaton found by spectral learning: the paper's way and its variants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf.learn.automata import WFA
from uqf.learn.decision import value_automaton
from uqf.learn.state import Basis, SpectralState, Target, learn_state
from uqf.policies import AutomatonPolicy
from uqf.trajectories import Trajectories


@dataclass(frozen=True)
class FittedSpectral:
    """A policy on a spectral state and the automata behind it."""

    policy: AutomatonPolicy
    rewards: WFA
    values: WFA
    state: SpectralState
    notes: list[str]


@dataclass(frozen=True)
class SpectralLearner:
    """Algorithms 1 and 2 of the paper, their anywhere and return variants, and the decision on them."""

    basis: Basis
    target: Target
    rank: int | None = None
    window: int | None = None
    temperature: float = 0.0
    on_divergence: str = "horizon"
    behavior: tuple[AutomatonPolicy, float] | None = None
    threads: int | None = None

    def fit(self, data: Trajectories) -> FittedSpectral:
        """Two passes, one decomposition, one linear solve."""
        state = learn_state(data, self.basis, [self.target], self.rank, threads=self.threads)
        return self.decide(state, data)

    def decide(self, state: SpectralState, data: Trajectories) -> FittedSpectral:
        """From a learned state to a policy; states of lower rank need no further pass over the data."""
        notes: list[str] = []
        if self.target.name == "return":
            rewards = values = state.wfa()
        else:
            longest = int(data.lengths.max())
            rewards, values, notes = value_automaton(state, self.target.discount, longest, self.on_divergence)
        weights = values.action_weights(data.n_actions, data.n_observations)
        if self.behavior is None:
            # A policy that does not look at the history takes every action with its overall frequency.
            frequency = np.bincount(data.actions, minlength=data.n_actions) / data.n_steps
            weights /= np.where(frequency > 0, frequency, 1.0)[:, np.newaxis]
        policy = AutomatonPolicy(
            values.automaton,
            n_actions=data.n_actions,
            n_observations=data.n_observations,
            start=values.alpha,
            anchor=state.anchor[: values.rank],
            weights=weights,
            window=self.window,
            temperature=self.temperature,
            behavior=self.behavior,
        )
        return FittedSpectral(policy, rewards, values, state, notes)
