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
    """

    n_actions: int
    n_states: int
    cells: NDArray[np.int64]
    tried: FloatArray
    rewards: FloatArray
    squares: FloatArray
    arrivals: scipy.sparse.csr_array

    @classmethod
    def of(cls, data: Trajectories) -> Counts:
        """Of a data set."""
        pairs = last_observations(data) * data.n_actions + data.actions
        cells, place = np.unique(pairs, return_inverse=True)
        n_states, on = data.n_observations + 1, goes_on(data)
        arrivals = scipy.sparse.coo_array(
            (np.ones(int(on.sum())), (place[on], data.observations[on])), shape=(len(cells), n_states)
        )
        return cls(
            data.n_actions,
            n_states,
            cells,
            np.bincount(place).astype(np.float64),
            np.bincount(place, data.rewards).astype(np.float64),
            np.bincount(place, data.rewards**2).astype(np.float64),
            arrivals.tocsr(),
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
        return Counts(self.n_actions, self.n_states, cells, tried, rewards, squares, arrivals.tocsr())

    @property
    def states(self) -> NDArray[np.int64]:
        """The observation of every pair."""
        return self.cells // self.n_actions

    def pooled(self) -> scipy.sparse.csr_array:
        """Sums over the pairs with the same observation, sparse (states, pairs)."""
        size = (self.n_states, len(self.cells))
        ones = (np.ones(len(self.cells)), (self.states, np.arange(len(self.cells))))
        return scipy.sparse.coo_array(ones, shape=size).tocsr()
