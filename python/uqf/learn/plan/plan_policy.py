"""Acting on plans in a world whose model is known: the exact filter, and the best plan for its belief."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from uqf.episodes.checks import whole
from uqf.errors import kind_of
from uqf.learn.plan.belief_model import BeliefModel, Floats
from uqf.policies.policy import ValuePolicy, checked_support, checked_temperature
from uqf.types import Memory, Raw, Record
from uqf.worlds.environments import TabularPOMDP


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
        supported: ArrayLike | None = None,
    ) -> None:
        self.model = model if isinstance(model, BeliefModel) else BeliefModel(model)
        self.vectors, self.actions = np.asarray(vectors, np.float64), np.asarray(actions, np.int64)
        self.stages = None if stages is None else np.asarray(stages, np.int64)
        self.lookahead, self.temperature = bool(lookahead), checked_temperature(temperature)
        self.n_actions, self.n_observations = self.model.n_actions, self.model.n_observations
        self.supported = checked_support(supported, self.n_actions)
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
            if not 0 <= whole(name, code, -1) < codes:
                raise ValueError(f"{name} = {code}: choose 0 to {codes - 1}")
        belief, left = self._taken_apart(state)
        if left is None:
            return self.model.update(belief, action, observation)
        return self.model.update(belief, action, observation), max(left - 1, 0)

    def q_values(self, state: Memory) -> Floats:
        """What each action is worth, (A,), in this belief."""
        belief, left = self._taken_apart(state)
        if left == 0:
            return np.zeros(self.n_actions)
        if self.lookahead:
            places, successors = self.model.successors(belief)
            return self.model.ahead(belief, places, (successors @ self._after(left).T).max(axis=1))
        values = np.full(self.n_actions, -np.inf)
        chosen = slice(None) if left is None else self.stages == left
        np.maximum.at(values, self.actions[chosen], self.vectors[chosen] @ belief)
        return values

    def _taken_apart(self, state: Memory) -> tuple[Floats, int | None]:
        """The belief (S,), and with stages the number of steps left."""
        try:
            belief, left = (state, None) if self.stages is None else state
            belief = np.asarray(belief, np.float64)
        except (TypeError, ValueError):
            belief, left = np.zeros(0), None
        if belief.shape != (self.model.n_states,):
            raise TypeError(f"state is {kind_of(state)}: give what initial_state() or update() returned")
        return belief, left

    def _after(self, left: int | None) -> Floats:
        """Plans for the steps that are left after the next one; the end of all is worth nothing."""
        if left is None or self.stages is None:
            return self.vectors
        return self.vectors[self.stages == left - 1] if left > 1 else np.zeros((1, self.model.n_states))

    def parts(self) -> Record:
        """The arguments that make this policy again, the model as arrays."""
        pomdp = self.model.pomdp
        arrays = ("transitions", "observations", "rewards", "start", "terminal", "first_observations")
        own = ("vectors", "actions", "stages", "lookahead", "temperature", "supported")
        mine = {name: getattr(self, name) for name in own}
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
