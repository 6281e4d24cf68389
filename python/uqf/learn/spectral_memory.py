"""Memory as the state of an automaton found by spectral learning: the paper's way and its variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uqf.learn.automata import WFA
from uqf.learn.basis import Basis, Target
from uqf.learn.decision import value_automaton
from uqf.learn.progress import Progress
from uqf.learn.state import SpectralState, learn_state_and_tally
from uqf.learn.tally import Tally
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
    tally: Tally


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

    def fit(
        self, data: Any, executor: Any = None, progress: Callable[[Progress], object] | None = None
    ) -> FittedSpectral:
        """Two passes, one decomposition, one linear solve; arguments as in `learn_state`."""
        state, tally = learn_state_and_tally(
            data, self.basis, [self.target], self.rank, self.threads, executor, progress
        )
        return self.decide(state, tally)

    def decide(self, state: SpectralState, data: Trajectories | Tally) -> FittedSpectral:
        """From a learned state to a policy; states of lower rank need no further pass over the data."""
        tally = data if isinstance(data, Tally) else Tally.of(data)
        notes: list[str] = []
        if self.target.name == "return":
            rewards = values = state.wfa()
        else:
            rewards, values, notes = value_automaton(
                state, self.target.discount, tally.longest, self.on_divergence
            )
        weights = values.action_weights(tally.n_actions, tally.n_observations)
        if self.behavior is None:
            # A policy that does not look at the history takes every action with its overall frequency.
            frequency = tally.action_frequency()
            weights /= np.where(frequency > 0, frequency, 1.0)[:, np.newaxis]
        policy = AutomatonPolicy(
            values.automaton,
            n_actions=tally.n_actions,
            n_observations=tally.n_observations,
            start=values.alpha,
            anchor=state.anchor[: values.rank],
            weights=weights,
            window=self.window,
            temperature=self.temperature,
            behavior=self.behavior,
        )
        return FittedSpectral(policy, rewards, values, state, notes, tally)
