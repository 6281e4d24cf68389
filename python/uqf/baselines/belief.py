"""The exact filter of a finite POMDP, and policies that act on its belief."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.environments import TabularPOMDP
from uqf.errors import NumericalError

Floats = NDArray[np.float64]

#: Actions whose values differ by less than this part of the best value (or of 1) are equally good.
TIE = 1e-10


def tabular_model(pomdp: Any) -> TabularPOMDP:
    """The argument of every `solve`, or an error that says what to give instead."""
    if not isinstance(pomdp, TabularPOMDP):
        raise TypeError(
            f"pomdp is a {type(pomdp).__name__}: a planner needs the model; give a uqf.TabularPOMDP, "
            "for example uqf.make('tiger').tabular()"
        )
    return pomdp


def infinite_horizon_model(pomdp: Any, planner: str) -> TabularPOMDP:
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
    the value after it is 0. So `moves` has zero columns for terminal states, and rows may sum to less than 1.

    Attributes
    ----------
    moves : (A, S, S)
        Probability of going on, in s', after a in s.
    sights : (A, S, O)
        Probability of seeing o on arriving in s' by a.
    rewards : (A, S)
        Mean immediate reward.
    start : (S,)
    """

    def __init__(self, pomdp: TabularPOMDP) -> None:
        self.pomdp = tabular_model(pomdp)
        self.moves: Floats = pomdp.transitions * ~pomdp.terminal
        self.sights: Floats = pomdp.observations
        self.rewards: Floats = expected_rewards(pomdp)
        self.start: Floats = pomdp.start
        self.discount = pomdp.discount
        self.n_actions, self.n_states, self.n_observations = self.sights.shape
        self._flat_moves = self.moves.transpose(1, 0, 2).reshape(self.n_states, -1)

    def joint_operators(self) -> Floats:
        """Probability (A, O, S, S) of seeing o and going on in s' after a in s: one matrix per symbol."""
        return self.moves[:, np.newaxis] * self.sights.transpose(0, 2, 1)[:, :, np.newaxis]

    def likelihood(self, beliefs: ArrayLike, action: int) -> Floats:
        """Probability (..., O) of each observation and of going on, from beliefs (..., S)."""
        return np.asarray((np.asarray(beliefs) @ self.moves[action]) @ self.sights[action])

    def successors(self, beliefs: ArrayLike) -> Floats:
        """Unnormalised next beliefs (..., A, O, S); each sums to the probability of its observation."""
        arrivals = np.asarray(beliefs) @ self._flat_moves
        by_action = arrivals.reshape(*arrivals.shape[:-1], self.n_actions, 1, self.n_states)
        return np.asarray(by_action * self.sights.transpose(0, 2, 1))

    def update(self, beliefs: ArrayLike, action: int, observation: int) -> Floats:
        """Beliefs (..., S) after one more step that did not end the episode."""
        joint = (np.asarray(beliefs) @ self.moves[action]) * self.sights[action, :, observation]
        total = joint.sum(axis=-1, keepdims=True)
        if not np.all(total > 0.0):
            raise NumericalError(
                f"observation {observation} after action {action} has probability 0 under {self.pomdp.name} "
                "(or the step ended the episode): the model does not describe these data"
            )
        return np.asarray(joint / total)


class BeliefPolicy:
    """A policy whose memory is the exact belief; greedy on `q_values`, ties split evenly.

    Subclasses say what an action is worth in a belief. The belief is that of the *model*: in a world that
    does what the model calls impossible, `update` raises `uqf.NumericalError`.
    """

    def __init__(self, model: BeliefModel) -> None:
        self.model = model
        self.n_actions = model.n_actions
        self.n_observations = model.n_observations

    def initial_state(self) -> Any:
        """The start belief (S,)."""
        return self.model.start

    def update(self, state: Any, action: int, observation: int) -> Any:
        """The belief after one more step."""
        return self.model.update(state, action, observation)

    def q_values(self, state: Any) -> Floats:
        """What each action is worth, (A,), in this belief."""
        raise NotImplementedError(f"{type(self).__name__} does not say what actions are worth")

    def best_actions(self, state: Any) -> NDArray[np.bool_]:
        """Which actions are best, (A,), up to rounding."""
        values = self.q_values(state)
        best = float(values.max())
        return values >= best - TIE * max(1.0, abs(best))

    def action_probs(self, state: Any) -> Floats:
        """Equal shares for the best actions."""
        best = self.best_actions(state)
        return np.asarray(best / best.sum())

    def action(self, state: Any, rng: np.random.Generator | None = None) -> int:
        """A best action: drawn with `rng`, or the first without."""
        best = np.flatnonzero(self.best_actions(state))
        return int(best[0] if rng is None else rng.choice(best))


class LinearBeliefPolicy(BeliefPolicy):
    """Each action is worth a linear function of the belief: `table` (A, S)."""

    def __init__(self, model: BeliefModel, table: Floats) -> None:
        super().__init__(model)
        self.table = table

    def q_values(self, state: Any) -> Floats:
        """Mean of the table over the belief."""
        return np.asarray(self.table @ state)
