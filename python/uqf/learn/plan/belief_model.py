"""A finite POMDP as filtering and planning use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.errors import NumericalError, kind_of
from uqf.worlds.environments import Environment, TabularPOMDP

if TYPE_CHECKING:
    import scipy.sparse

Floats = NDArray[np.float64]

#: Matrices with at least so many numbers, and this share of zeros, are multiplied without the zeros.
MANY = 10_000
EMPTY = 0.95


def tabular_model(pomdp: Environment) -> TabularPOMDP:
    """The argument of every `solve`, or an error that says what to give instead."""
    if not isinstance(pomdp, TabularPOMDP):
        raise TypeError(
            f"pomdp is {kind_of(pomdp)}: a planner needs the model; give a uqf.TabularPOMDP, "
            "for example uqf.make('tiger').tabular()"
        )
    return pomdp


def infinite_horizon_model(pomdp: Environment, planner: str) -> TabularPOMDP:
    """The model, if its discounted sum over an endless future is finite whatever one does."""
    model = tabular_model(pomdp)
    if model.discount >= 1.0:
        raise ValueError(
            f"discount = {model.discount:g}: {planner} plans for an endless future and needs a discount "
            "below 1; lower it, or use ValueIteration(horizon=…) or ExactValueIteration(horizon=…)"
        )
    return model


def expected_rewards(pomdp: TabularPOMDP) -> Floats:
    """Mean immediate reward (A, S) of each action in each state; never larger in memory than `rewards`."""
    if pomdp.rewards.ndim == 2:
        return pomdp.rewards
    if pomdp.rewards.ndim == 3:
        return np.asarray(np.einsum("ast,ast->as", pomdp.transitions, pomdp.rewards))
    outcomes = (pomdp.transitions, pomdp.observations, pomdp.rewards)
    return np.asarray(np.einsum("ast,ato,asto->as", *outcomes, optimize=True))


class BeliefModel:
    """Arrays of a POMDP in the form that filtering and planning use.

    A step that ends the episode leads nowhere: whoever must choose again knows that it did not happen, and
    the value after it is 0. So `transitions` has zero columns for terminal states, and rows may sum to less than 1.

    Attributes
    ----------
    transitions : (A, S, S)
        Probability of going on, in s', after a in s.
    observations : (A, S, O)
        Probability of seeing o on arriving in s' by a.
    rewards : (A, S)
        Mean immediate reward.
    start : (S,)
    openings : (R, S)
        Beliefs before the first action, one for everything that may be shown first; each sums to its probability.
        `start` alone where nothing is shown.
    """

    def __init__(self, pomdp: TabularPOMDP) -> None:
        self.pomdp = tabular_model(pomdp)
        self.transitions: Floats = pomdp.transitions * ~pomdp.terminal
        self.observations: Floats = pomdp.observations
        self.rewards: Floats = expected_rewards(pomdp)
        self.start: Floats = pomdp.start
        shown = pomdp.first_observations
        joint = self.start[np.newaxis] if shown is None else self.start * shown.T
        self.openings: Floats = joint[joint.sum(axis=1) > 0.0]
        self.discount = pomdp.discount
        self.n_actions, self.n_states, self.n_observations = self.observations.shape
        self._flat_transitions = _without_zeros(
            self.transitions.transpose(1, 0, 2).reshape(self.n_states, -1)
        )
        self._transitions = [_without_zeros(matrix) for matrix in self.transitions]

    def joint_operators(self) -> Floats:
        """Probability (A, O, S, S) of seeing o and going on in s' after a in s: one matrix per symbol."""
        return self.transitions[:, np.newaxis] * self.observations.transpose(0, 2, 1)[:, :, np.newaxis]

    def likelihood(self, beliefs: ArrayLike, action: int) -> Floats:
        """Probability (..., O) of each observation and of going on, from beliefs (..., S)."""
        return np.asarray((np.asarray(beliefs) @ self.transitions[action]) @ self.observations[action])

    def successors(self, beliefs: ArrayLike) -> tuple[NDArray[np.intp], Floats]:
        """(places (R,), unnormalised next beliefs (R, S)), of what may happen after beliefs (..., S).

        Places are those in (..., A, O), in order. Each next belief sums to the probability of its observation.
        """
        arrivals = (np.asarray(beliefs) @ self._flat_transitions).reshape(-1, self.n_actions, self.n_states)
        chances = (arrivals.transpose(1, 0, 2) @ self.observations).transpose(1, 0, 2)
        places = np.flatnonzero(chances)
        belief, action, seen = np.unravel_index(places, chances.shape)
        return places, arrivals[belief, action] * self.observations[action, :, seen]

    def ahead(self, beliefs: ArrayLike, places: NDArray[np.intp], values: Floats) -> Floats:
        """What each action is worth (..., A) at beliefs (..., S), from values (R,) of their `successors`."""
        at = np.asarray(beliefs)
        cells = at[..., 0].size * self.n_actions
        following = np.bincount(places // self.n_observations, values, minlength=cells)
        return np.asarray(at @ self.rewards.T + self.discount * following.reshape(*at.shape[:-1], -1))

    def before(self, action: int, values: Floats) -> Floats:
        """What is expected (S, ...) before an action of what states are worth (S, ...) after it."""
        return np.asarray(self._transitions[action] @ values)

    def opened(self, first: int | None) -> Floats:
        """The belief (S,) before the first action of an episode that showed `first`.

        It is `start` if nothing was shown, or if the model does not describe what is.
        """
        shown = self.pomdp.first_observations
        if first is None or shown is None:
            return self.start
        if not 0 <= first < self.n_observations:
            raise ValueError(f"first = {first}: choose 0 to {self.n_observations - 1}")
        joint = self.start * shown[:, first]
        if not joint.sum() > 0.0:
            raise NumericalError(
                f"observation {first} before the first action has probability 0 under {self.pomdp.name}: "
                "the model does not describe these data"
            )
        return np.asarray(joint / joint.sum())

    def update(self, beliefs: ArrayLike, action: int, observation: int) -> Floats:
        """Beliefs (..., S) after one more step that did not end the episode."""
        joint = (np.asarray(beliefs) @ self.transitions[action]) * self.observations[action, :, observation]
        total = joint.sum(axis=-1, keepdims=True)
        if not np.all(total > 0.0):
            raise NumericalError(
                f"observation {observation} after action {action} has probability 0 under {self.pomdp.name} "
                "(or the step ended the episode): the model does not describe these data"
            )
        return np.asarray(joint / total)


def _without_zeros(matrix: Floats) -> Floats | scipy.sparse.csr_array:
    """The matrix, without its zeros if it has many."""
    if matrix.size < MANY or np.count_nonzero(matrix) > (1.0 - EMPTY) * matrix.size:
        return matrix
    # Agents do without SciPy unless they plan.
    import scipy.sparse

    return scipy.sparse.csr_array(matrix)
