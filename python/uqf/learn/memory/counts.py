"""How often what followed every observation and action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import last_observations
from uqf.episodes.sums import goes_on
from uqf.episodes.trajectories import Trajectories


@dataclass(frozen=True)
class Counts:
    """What followed every pair of an observation and an action that was tried.

    cells : (pairs,), observation · n_actions + action, ascending; the observation n_observations is a start that showed
        nothing
    tried : (pairs,), how often
    rewards, squares : (pairs,), sums of rewards and of their squares
    arrivals : sparse (pairs, n_observations + 1), how often each observation followed; where an episode ended, none did
    offered : (n_states, n_actions), how often each action was allowed after each observation; None where all always are
    """

    n_actions: int
    n_states: int
    cells: NDArray[np.int64]
    tried: FloatArray
    rewards: FloatArray
    squares: FloatArray
    arrivals: scipy.sparse.csr_array
    offered: FloatArray | None = None

    @classmethod
    def of(cls, data: Trajectories) -> Counts:
        """Of a data set."""
        states = last_observations(data)
        pairs = states * data.n_actions + data.actions
        cells, place = np.unique(pairs, return_inverse=True)
        n_states, on = data.n_observations + 1, goes_on(data)
        arrivals = scipy.sparse.coo_array(
            (np.ones(int(on.sum())), (place[on], data.observations[on])), shape=(len(cells), n_states)
        )
        offered = None
        if data.allowed is not None:
            offered = np.zeros((n_states, data.n_actions))
            np.add.at(offered, states, data.allowed)
        return cls(
            data.n_actions,
            n_states,
            cells,
            np.bincount(place).astype(np.float64),
            np.bincount(place, data.rewards).astype(np.float64),
            np.bincount(place, data.rewards**2).astype(np.float64),
            arrivals.tocsr(),
            offered,
        )

    def plus(self, other: Counts) -> Counts:
        """Of both data sets, which have the same alphabets."""
        cells, place = np.unique(np.concatenate([self.cells, other.cells]), return_inverse=True)
        tried, rewards, squares = (
            np.bincount(place, np.concatenate([getattr(self, name), getattr(other, name)])).astype(np.float64)
            for name in ("tried", "rewards", "squares")
        )
        merge = scipy.sparse.csr_array(
            (np.ones(len(place)), (place, np.arange(len(place)))), shape=(len(cells), len(place))
        )
        arrivals = merge @ scipy.sparse.vstack([self.arrivals, other.arrivals], format="csr")
        offered = None
        if self.offered is not None and other.offered is not None:
            offered = self.offered + other.offered
        return Counts(
            self.n_actions, self.n_states, cells, tried, rewards, squares, arrivals.tocsr(), offered
        )

    @property
    def states(self) -> NDArray[np.int64]:
        """The observation of every pair."""
        return self.cells // self.n_actions

    @property
    def possible(self) -> NDArray[np.int64]:
        """All pairs of observations that were left, those aside that were never allowed there; ascending."""
        states = np.unique(self.states)
        pairs = states[:, np.newaxis] * self.n_actions + np.arange(self.n_actions)
        return pairs.ravel() if self.offered is None else pairs[self.offered[states] > 0.0]

    def pooled(self) -> scipy.sparse.csr_array:
        """Sums over the pairs with the same observation, sparse (states, pairs)."""
        size = (self.n_states, len(self.cells))
        ones = (np.ones(len(self.cells)), (self.states, np.arange(len(self.cells))))
        return scipy.sparse.coo_array(ones, shape=size).tocsr()
