"""What states and actions are worth where the state is known: policy iteration, on tables and on counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.reading.parallel import single_blas
from uqf.types import Matrix

#: Plans in learned models do not look farther ahead than this discount: no learned model is that exact.
MAX_DISCOUNT = 0.99

#: Up to so many states a policy is evaluated by a dense solve.
MAX_DENSE = 1_500

#: Another action must be better by this part of the largest value, or rounding could exchange two for ever.
MARGIN = 1e-12

#: Rounds of policy iteration, and sweeps of value iteration in each: alone, a round carries a value one step back.
MAX_ROUNDS = 500
SWEEPS = 50


class Optimum(NamedTuple):
    """Q of every pair (pairs,), and a bound of the error of any value."""

    pairs: FloatArray
    error: float


@dataclass(frozen=True)
class DecisionProcess:
    """A Markov decision process with a known state, over those pairs of state and action that may be taken.

    states : (pairs,), ascending, the state of every pair
    rewards : (pairs,), what follows on average
    transitions : (pairs, n_states), dense or sparse; what a row lacks to 1 ends the episode
    floor : what states are worth in which nothing may be done
    """

    states: NDArray[np.int64]
    rewards: FloatArray
    transitions: Matrix
    floor: float = 0.0

    @property
    def n_states(self) -> int:
        """Those without any pair included."""
        return int(self.transitions.shape[1])

    def worth(self, values: FloatArray, discount: float) -> FloatArray:
        """What every pair is worth (pairs,) if states are worth `values`."""
        return np.asarray(self.rewards + discount * (self.transitions @ values))

    def best(self, pairs: FloatArray) -> FloatArray:
        """What states are worth (n_states,) if pairs are worth `pairs`."""
        begins = np.flatnonzero(np.diff(self.states, prepend=-1))
        values = np.full(self.n_states, self.floor)
        values[self.states[begins]] = np.maximum.reduceat(pairs, begins)
        return values

    def greedy(self, pairs: FloatArray) -> NDArray[np.int64]:
        """The best pair of every state that has any, the first of equals."""
        best = np.flatnonzero(pairs >= self.best(pairs)[self.states])
        return best[np.unique(self.states[best], return_index=True)[1]]

    def following(
        self, chosen: NDArray[np.int64], rewards: FloatArray, discount: float, floor: float = 0.0
    ) -> FloatArray:
        """Discounted sums (n_states,) of `rewards` (pairs,) where the chosen pairs are taken for ever."""
        sums = np.full(self.n_states, floor)
        sums[self.states[chosen]] = rewards[chosen]
        places = (self.states[chosen], np.arange(len(chosen)))
        spread = scipy.sparse.csr_array((np.ones(len(chosen)), places), shape=(self.n_states, len(chosen)))
        return policy_values(spread @ self.transitions[chosen], sums, discount)

    def optimal(self, discount: float) -> Optimum:
        """The values of the best policy, for a discount below 1.

        Policy iteration: every round evaluates a policy exactly and improves it by some sweeps. Sweeps alone would
        need about 20 / (1 − discount) of them.
        """
        chosen = self.greedy(self.rewards)
        for _ in range(MAX_ROUNDS):
            values = self.following(chosen, self.rewards, discount, self.floor)
            pairs = self.worth(values, discount)
            better = self.greedy(pairs)
            if (pairs[better] - pairs[chosen]).max() <= MARGIN * (1.0 + float(np.abs(values).max())):
                break
            improved = self.best(pairs)
            for _ in range(SWEEPS):
                improved = self.best(self.worth(improved, discount))
            chosen = self.greedy(self.worth(improved, discount))
        change = float(np.abs(self.best(pairs) - values).max())
        return Optimum(pairs, change / (1.0 - discount))


def policy_values(transitions: Matrix, rewards: FloatArray, discount: float) -> FloatArray:
    """Discounted sums (S,) of rewards (S,) under transitions (S, S), dense or sparse, for a discount below 1."""
    states = len(rewards)
    if states <= MAX_DENSE or not scipy.sparse.issparse(transitions):
        dense = transitions.toarray() if scipy.sparse.issparse(transitions) else transitions
        with single_blas():
            return np.asarray(np.linalg.solve(np.eye(states) - discount * dense, rewards))
    system = (scipy.sparse.eye_array(states) - discount * transitions).tocsc()
    values, failed = scipy.sparse.linalg.gmres(system, rewards, rtol=1e-11, restart=50, maxiter=2)
    if failed:
        # Where values travel far they hardly mix, and a rough factorisation is nearly exact.
        rough = scipy.sparse.linalg.spilu(system, drop_tol=1e-4, fill_factor=10.0)
        near = scipy.sparse.linalg.LinearOperator(system.shape, rough.solve)
        values, _ = scipy.sparse.linalg.gmres(
            system, rewards, values, rtol=1e-11, restart=50, maxiter=20, M=near
        )
    return np.asarray(values)


def optimal_values(rewards: FloatArray, transitions: FloatArray, discount: float) -> FloatArray:
    """Q (A, S) of rewards (A, S) and transitions (A, S, S), whose rows may sum to less than 1."""
    actions, states = rewards.shape
    process = DecisionProcess(
        np.repeat(np.arange(states), actions),
        np.ascontiguousarray(rewards.T, np.float64).ravel(),
        np.ascontiguousarray(transitions.transpose(1, 0, 2), np.float64).reshape(-1, states),
    )
    return np.ascontiguousarray(process.optimal(discount).pairs.reshape(states, actions).T)
