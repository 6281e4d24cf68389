"""Values when the state is seen, and one exact step of improvement on the uniform policy."""

from __future__ import annotations

import operator
from typing import Self

import numpy as np

from uqf.plans import BeliefModel, Floats, PlanPolicy, infinite_horizon_model, tabular_model
from uqf.worlds.environments import TabularPOMDP


def backup(model: BeliefModel, values: Floats) -> Floats:
    """Worth (A, S) of each action when `values` (S,) follow it."""
    return model.rewards + model.discount * (model.transitions @ values)


def evaluate(model: BeliefModel, choice: Floats) -> Floats:
    """Exact endless values (S,) of choosing actions by `choice` (A, S), probabilities per state."""
    transitions = np.einsum("as,ast->st", choice, model.transitions)
    rewards = np.einsum("as,as->s", choice, model.rewards)
    return np.linalg.solve(np.eye(model.n_states) - model.discount * transitions, rewards)


def blind_values(model: BeliefModel) -> Floats:
    """Exact values (A, S) of repeating one action for ever: what needs no observation is a lower bound."""
    systems = np.eye(model.n_states) - model.discount * model.transitions
    return np.asarray(np.linalg.solve(systems, model.rewards[..., np.newaxis])[..., 0], np.float64)


def observable_values(model: BeliefModel) -> Floats:
    """Best endless values (S,) when the state is seen.

    Value iteration whose every sweep is followed by an exact evaluation of its greedy choice (policy
    iteration): plain sweeps would need about 10/(1 - discount) of them, this a handful at any discount.
    """
    values = blind_values(model).max(axis=0)
    while True:
        table = backup(model, values)
        improved = evaluate(model, np.eye(model.n_actions)[table.argmax(axis=0)].T)
        if np.all(improved <= values + 1e-12 * (1.0 + np.abs(values))):
            return np.asarray(np.maximum(values, improved))
        values = np.maximum(values, improved)


class ValueIteration:
    """Fully observable value iteration: what could be earned if the state were seen.

    Under partial observation nobody can play it, so there is no `policy_`; it is the ceiling of every
    other method. With `horizon` it counts that many steps (any discount), without it all of them.

    Attributes after `solve`
    ------------------------
    values_ : (S,), q_values_ : (A, S), upper_bound_ : float (the mean of `values_` at the start)
    """

    def __init__(self, *, horizon: int | None = None) -> None:
        if horizon is not None and operator.index(horizon) < 1:
            raise ValueError(f"horizon = {horizon}: give at least one step, or None for an endless future")
        self.horizon = horizon

    def solve(self, pomdp: TabularPOMDP) -> Self:
        """Computes the values of this model."""
        if self.horizon is None:
            model = BeliefModel(infinite_horizon_model(pomdp, "ValueIteration without a horizon"))
            self.q_values_ = backup(model, observable_values(model))
        else:
            model = BeliefModel(tabular_model(pomdp))
            values = np.zeros(model.n_states)
            for _ in range(self.horizon):
                self.q_values_ = backup(model, values)
                values = self.q_values_.max(axis=0)
        self.values_: Floats = self.q_values_.max(axis=0)
        self.upper_bound_ = float(model.start @ self.values_)
        return self


class OneStepBelief:
    """Greedy on the exact Q of the uniform random policy, with the exact belief.

    What one round of learning from uniformly random data can reach at best. `lower_bound_` holds for
    `policy_` too (policy improvement); `upper_bound_` is that of `ValueIteration`.
    """

    def solve(self, pomdp: TabularPOMDP) -> Self:
        """Computes the policy of this model."""
        model = BeliefModel(infinite_horizon_model(pomdp, "OneStepBelief"))
        uniform = np.full((model.n_actions, model.n_states), 1.0 / model.n_actions)
        table = backup(model, evaluate(model, uniform))
        self.policy_ = PlanPolicy(model, table, np.arange(model.n_actions))
        self.lower_bound_ = float((table @ model.start).max())
        self.upper_bound_ = float(model.start @ observable_values(model))
        return self
