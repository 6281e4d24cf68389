"""Acting on plans in a world whose model is known: the exact filter, and the best plan for its belief."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.errors import NumericalError
from uqf.policies.policy import ValuePolicy, checked_temperature
from uqf.types import Memory, Raw, Record
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
            f"pomdp is a {type(pomdp).__name__}: a planner needs the model; give a uqf.TabularPOMDP, "
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

    def summed(self, places: NDArray[np.intp], values: Floats, beliefs: int = 1) -> Floats:
        """Sums (beliefs, A) over observations, from values (R,) of the `successors` of so many."""
        sums = np.bincount(places // self.n_observations, values, minlength=beliefs * self.n_actions)
        return np.asarray(sums.reshape(beliefs, self.n_actions), np.float64)

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


class PlanPolicy(ValuePolicy):
    """Its memory is the exact belief over the states of a known model; it acts on the best plan for that belief.

    A plan is worth a linear function of the belief and begins with an action. With `lookahead` every action is tried
    for one step and the best plan follows; without, an action is worth the best of the plans that begin with it
    (−inf if there is none). Trap: the belief is that of the *model*: in a world that does what the model calls
    impossible, `update` raises `uqf.NumericalError`.

    Parameters
    ----------
    model : BeliefModel or TabularPOMDP
    vectors : (plans, states); actions : (plans,), the first action of each
    stages : (plans,), optional
        Number of steps that each plan is for. Only plans for the steps that are left count then, and the memory counts
        them down from the largest; when none is left all actions are alike.
    """

    def __init__(
        self,
        model: BeliefModel | TabularPOMDP,
        vectors: ArrayLike,
        actions: ArrayLike,
        *,
        stages: ArrayLike | None = None,
        lookahead: bool = False,
        temperature: float = 0.0,
    ) -> None:
        self.model = model if isinstance(model, BeliefModel) else BeliefModel(model)
        self.vectors, self.actions = np.asarray(vectors, np.float64), np.asarray(actions, np.int64)
        self.stages = None if stages is None else np.asarray(stages, np.int64)
        self.lookahead, self.temperature = bool(lookahead), checked_temperature(temperature)
        self.n_actions, self.n_observations = self.model.n_actions, self.model.n_observations
        count = self.actions.size
        if self.actions.shape != (count,):
            raise ValueError(f"actions has shape {self.actions.shape}: give the first action of each plan")
        if self.vectors.shape != (count, self.model.n_states):
            raise ValueError(
                f"vectors has shape {self.vectors.shape}: expected {(count, self.model.n_states)}"
            )
        if not np.isfinite(self.vectors).all():
            raise ValueError("vectors: every entry must be a finite number")
        if count == 0 or self.actions.min() < 0 or self.actions.max() >= self.n_actions:
            raise ValueError(f"actions: give at least one plan, with actions below {self.n_actions}")
        if self.stages is not None:
            steps = np.unique(self.stages)
            if self.stages.shape != (count,) or not np.array_equal(steps, np.arange(len(steps)) + 1):
                raise ValueError(
                    f"stages has shape {self.stages.shape}: give a number of steps for each of {count} plans, and at "
                    "least one plan for every number of steps from 1 on"
                )

    def initial_state(self, first: int | None = None) -> Memory:
        """The belief (S,) after what was shown first; with stages also the number of steps left."""
        belief = self.model.opened(first)
        return belief if self.stages is None else (belief, int(self.stages.max()))

    def update(self, state: Memory, action: int, observation: int) -> Memory:
        """The belief after one more step."""
        for name, code, codes in (
            ("action", action, self.n_actions),
            ("observation", observation, self.n_observations),
        ):
            if not 0 <= code < codes:
                raise ValueError(f"{name} = {code}: choose 0 to {codes - 1}")
        if self.stages is None:
            return self.model.update(state, action, observation)
        belief, left = state
        return self.model.update(belief, action, observation), max(left - 1, 0)

    def q_values(self, state: Memory) -> Floats:
        """What each action is worth, (A,), in this belief."""
        belief, left = (state, None) if self.stages is None else state
        if left == 0:
            return np.zeros(self.n_actions)
        if self.lookahead:
            places, successors = self.model.successors(belief)
            following = self.model.summed(places, (successors @ self._usable(left, 1).T).max(axis=1))[0]
            return np.asarray(self.model.rewards @ belief + self.model.discount * following)
        values = np.full(self.n_actions, -np.inf)
        chosen = slice(None) if left is None else self.stages == left
        np.maximum.at(values, self.actions[chosen], self.vectors[chosen] @ belief)
        return values

    def _usable(self, left: int | None, later: int) -> Floats:
        """Plans for the steps that are left `later` steps from now; the end of all is worth nothing."""
        if left is None or self.stages is None:
            return self.vectors
        return (
            self.vectors[self.stages == left - later] if left > later else np.zeros((1, self.model.n_states))
        )

    def parts(self) -> Record:
        """The arguments that make this policy again, the model as arrays."""
        pomdp = self.model.pomdp
        arrays = ("transitions", "observations", "rewards", "start", "terminal", "first_observations")
        mine = {
            name: getattr(self, name) for name in ("vectors", "actions", "stages", "lookahead", "temperature")
        }
        return {name: getattr(pomdp, name) for name in arrays} | {"discount": pomdp.discount} | mine

    @classmethod
    def from_parts(cls, **parts: Raw) -> PlanPolicy:
        """The policy of such parts."""
        arrays = (
            "transitions",
            "observations",
            "rewards",
            "start",
            "discount",
            "terminal",
            "first_observations",
        )
        model = TabularPOMDP(**{name: parts.pop(name) for name in arrays})
        return cls(model, parts.pop("vectors"), parts.pop("actions"), **parts)
