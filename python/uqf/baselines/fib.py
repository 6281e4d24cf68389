"""The fast informed bound (Hauskrecht 2000): as if the state were seen one step later than QMDP supposes."""

from __future__ import annotations

import operator
from typing import Self

import numpy as np

from uqf.baselines.value_iteration import backup, blind_values, observable_values
from uqf.plans import BeliefModel, Floats, PlanPolicy, infinite_horizon_model
from uqf.worlds.environments import TabularPOMDP


def informed_backup(model: BeliefModel, table: Floats) -> Floats:
    """R + γ Σ_o max_a' Σ_s' P(s', o | s, a) table[a', s'], (A, S)."""
    seen = model.observations[..., np.newaxis] * table.T[:, np.newaxis]  # (A, S', O, A')
    worth = model.transitions @ seen.reshape(model.n_actions, model.n_states, -1)
    best = worth.reshape(*worth.shape[:2], model.n_observations, -1).max(axis=-1)
    return np.asarray(model.rewards + model.discount * best.sum(axis=-1))


def informed_values(model: BeliefModel, tolerance: float, max_iterations: int) -> Floats:
    """Upper bounds (A, S), linear in the belief for each action.

    Sweeps start from QMDP's values and only descend: stopping early leaves a looser bound, not a wrong one.
    """
    table = backup(model, observable_values(model))
    for _ in range(max_iterations):
        lower = np.minimum(table, informed_backup(model, table))
        change = float((table - lower).max())
        table = lower
        if change <= tolerance * (1.0 - model.discount):
            break
    return table


class FIB:
    """Greedy on the fast informed bound.

    An upper bound of the optimum in every belief, never above QMDP's, at O times the cost of a sweep.
    `tolerance` is how far (in value) the sweeps may stop from their limit. `lower_bound_` is the best blind
    policy's.
    """

    def __init__(self, *, tolerance: float = 1e-6, max_iterations: int = 100_000) -> None:
        if not tolerance > 0.0:
            raise ValueError(f"tolerance = {tolerance}: give a positive number")
        if operator.index(max_iterations) < 1:
            raise ValueError(f"max_iterations = {max_iterations}: give at least one")
        self.tolerance = tolerance
        self.max_iterations = max_iterations

    def solve(self, pomdp: TabularPOMDP) -> Self:
        """Computes the policy and the bounds of this model."""
        model = BeliefModel(infinite_horizon_model(pomdp, "FIB"))
        table = informed_values(model, self.tolerance, self.max_iterations)
        self.policy_ = PlanPolicy(model, table, np.arange(model.n_actions))
        self.lower_bound_ = float((blind_values(model) @ model.start).max())
        self.upper_bound_ = float((table @ model.start).max())
        return self
