"""A model of the world whose state is learned: a compressed predictive state representation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.learn.state import Basis, Target, learn_state
from uqf.ope.replay import by_steps_to_go
from uqf.policies import AutomatonPolicy
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]


class PredictiveStateModel:
    """Values that are linear in the state of a CPSR, one function per action, by backward recursion.

    The state predicts what will be seen, from projected statistics of the logs. It remembers more than the
    last symbol, and so is less wrong where that matters; what is left of its error shows in no interval.

    Parameters
    ----------
    rank : int
        Largest size of the state.
    ridge : float
        Penalty on the weights, relative to the mean square of a state's entries.
    """

    def __init__(self, rank: int = 20, *, ridge: float = 1e-3, seed: int = 0) -> None:
        self.rank = rank
        self.ridge = ridge
        self.basis = Basis(projection="hashed", seed=seed)

    def fit(self, data: Trajectories, probs: FloatArray, *, discount: float) -> PredictiveStateModel:
        """Learns state and moments. `probs` (n_steps, n_actions): the policy's, before every step."""
        found = learn_state(data, self.basis, [Target("probability")], None)
        state = found.truncated(min(self.rank, found.rank))
        self._tracker = AutomatonPolicy(
            state.wfa().automaton,
            n_actions=data.n_actions,
            n_observations=data.n_observations,
            start=state.alpha,
            anchor=state.anchor,
            weights=np.zeros((data.n_actions, state.rank)),
            normaliser=np.ascontiguousarray(state.omegas[:, 0]),
        )
        states = self._states(data)
        goes_on = np.ones(data.n_steps, np.bool_)
        goes_on[data.offsets[1:] - 1] = False
        # What follows the last step of a cut recording is not known: such steps are left out.
        known = goes_on.copy()
        known[data.offsets[1:][data.terminated] - 1] = True
        steps = np.flatnonzero(known)
        self._rewards, self._discount = data.rewards[steps], discount * goes_on[steps]
        follows = np.minimum(steps + 1, data.n_steps - 1)
        self._next_states, self._next_probs = states[follows], probs[follows]
        self._solvers = [
            self._solver(states[steps], np.flatnonzero(data.actions[steps] == action))
            for action in range(data.n_actions)
        ]
        self._limits = min(0.0, float(data.rewards.min())), max(0.0, float(data.rewards.max()))
        return self

    def _solver(self, states: FloatArray, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], FloatArray]:
        """Steps of an action, and the matrix (k, steps) that turns their targets into weights."""
        rows = states[chosen]
        moment = rows.T @ rows
        penalty = self.ridge * max(float(np.trace(moment)) / len(moment), 1.0)
        return chosen, np.linalg.solve(moment + penalty * np.eye(len(moment)), rows.T)

    def _states(self, data: Trajectories) -> FloatArray:
        return self._tracker.states_along(data)[0]

    def values(self, data: Trajectories, *, horizon: int) -> FloatArray:
        """Q of every action before every step, shape (n_steps, n_actions), up to step `horizon`."""
        states = self._states(data)
        values = np.zeros((data.n_steps, data.n_actions))
        weights = np.zeros((states.shape[1], data.n_actions))
        least, most = 0.0, 0.0
        for now in by_steps_to_go(data, horizon):
            ahead = np.clip(self._next_states @ weights, least, most)
            targets = self._rewards + self._discount * (self._next_probs * ahead).sum(1)
            weights = np.stack([solve @ targets[chosen] for chosen, solve in self._solvers], axis=1)
            # No value lies beyond what the rewards allow; linear functions of a learned state may.
            least, most = least + self._limits[0], most + self._limits[1]
            values[now] = np.clip(states[now] @ weights, least, most)
        return values
