"""Values that are linear in the belief: when the state is seen, now or later, and one step of improvement."""

from __future__ import annotations

from typing import Self

import numpy as np

from uqf.episodes.checks import positive
from uqf.learn.plan.belief_model import BeliefModel, Floats, infinite_horizon_model, tabular_model
from uqf.learn.plan.plan_policy import PlanPolicy
from uqf.learn.plan.values import optimal_values, policy_values
from uqf.worlds.environments import TabularPOMDP

#: Sweeps towards the fast informed bound, at most.
MAX_SWEEPS = 100_000


def backup(model: BeliefModel, values: Floats) -> Floats:
    """Worth (A, S) of each action when `values` (S,) follow it."""
    return model.rewards + model.discount * (model.transitions @ values)


def blind_values(model: BeliefModel) -> Floats:
    """Exact values (A, S) of repeating one action for ever: what needs no observation is a lower bound."""
    pairs = zip(model.transitions, model.rewards, strict=True)
    return np.stack([policy_values(*pair, model.discount) for pair in pairs])


def observable_values(model: BeliefModel) -> Floats:
    """Best endless values (A, S) when the state is seen from the next step on: those of QMDP."""
    return optimal_values(model.rewards, model.transitions, model.discount)


def informed_backup(model: BeliefModel, table: Floats) -> Floats:
    """R + γ Σ_o max_a' Σ_s' P(s', o | s, a) table[a', s'], (A, S)."""
    seen = model.observations[..., np.newaxis] * table.T[:, np.newaxis]  # (A, S', O, A')
    worth = model.transitions @ seen.reshape(model.n_actions, model.n_states, -1)
    best = worth.reshape(*worth.shape[:2], model.n_observations, -1).max(axis=-1)
    return np.asarray(model.rewards + model.discount * best.sum(axis=-1))


def informed_values(model: BeliefModel, tolerance: float) -> Floats:
    """Upper bounds (A, S), linear in the belief for each action, `tolerance` (in value) above their limit at most.

    Sweeps start from QMDP's values and only descend: stopping early leaves a looser bound, not a wrong one.
    """
    table = observable_values(model)
    for _ in range(MAX_SWEEPS):
        lower = np.minimum(table, informed_backup(model, table))
        change = float((table - lower).max())
        table = lower
        if change <= tolerance * (1.0 - model.discount):
            break
    return table


def best_at_start(model: BeliefModel, plans: Floats) -> float:
    """Value before an episode of taking, after what is shown first, the best of plans (V, S)."""
    return float((model.openings @ plans.T).max(axis=1).sum())


class ValueIteration:
    """Fully observable value iteration: what could be earned if the state were seen.

    Under partial observation nobody can play it, so there is no `policy_`; it is the ceiling of every
    other method. With `horizon` it counts that many steps (any discount), without it all of them.

    Attributes after `solve`
    ------------------------
    values_ : (S,), q_values_ : (A, S), upper_bound_ : float (the mean of `values_` at the start)

    Examples
    --------
    >>> import uqf
    >>> planner = uqf.baselines.ValueIteration(horizon=3).solve(uqf.make("tiger").tabular())
    >>> planner.q_values_.shape  # actions, states
    (3, 2)
    """

    def __init__(self, *, horizon: int | None = None) -> None:
        self.horizon = None if horizon is None else positive("horizon", horizon)

    def solve(self, pomdp: TabularPOMDP) -> Self:
        if self.horizon is None:
            model = BeliefModel(infinite_horizon_model(pomdp, "ValueIteration without a horizon"))
            self.q_values_ = observable_values(model)
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

    Examples
    --------
    >>> import uqf
    >>> planner = uqf.baselines.OneStepBelief().solve(uqf.make("tiger").tabular())
    >>> planner.policy_.n_actions
    3
    """

    def solve(self, pomdp: TabularPOMDP) -> Self:
        model = BeliefModel(infinite_horizon_model(pomdp, "OneStepBelief"))
        uniform = policy_values(model.transitions.mean(axis=0), model.rewards.mean(axis=0), model.discount)
        table = backup(model, uniform)
        self.policy_ = PlanPolicy(model, table, np.arange(model.n_actions))
        self.lower_bound_ = best_at_start(model, table)
        self.upper_bound_ = float(model.start @ observable_values(model).max(axis=0))
        return self


class QMDP:
    """Greedy on the mean over the belief of the fully observable Q (Littman, Cassandra & Kaelbling 1995).

    Its values are upper bounds of the optimum in every belief. Trap: they take information for free, so
    the policy never pays to look, and its return has no bound; `lower_bound_` is the best blind policy's.

    Examples
    --------
    >>> import uqf
    >>> planner = uqf.baselines.QMDP().solve(uqf.make("tiger").tabular())
    >>> planner.lower_bound_ < planner.upper_bound_
    True
    """

    def _table(self, model: BeliefModel) -> Floats:
        return observable_values(model)

    def solve(self, pomdp: TabularPOMDP) -> Self:
        model = BeliefModel(infinite_horizon_model(pomdp, type(self).__name__))
        table = self._table(model)
        self.policy_ = PlanPolicy(model, table, np.arange(model.n_actions))
        self.lower_bound_ = best_at_start(model, blind_values(model))
        self.upper_bound_ = best_at_start(model, table)
        return self


class FIB(QMDP):
    """Greedy on the fast informed bound (Hauskrecht 2000): as if the state were seen one step later than QMDP supposes.

    An upper bound of the optimum in every belief, never above QMDP's, at O times the cost of a sweep. `lower_bound_`
    is the best blind policy's.

    Examples
    --------
    >>> import uqf
    >>> model = uqf.make("tiger").tabular()
    >>> fib, qmdp = uqf.baselines.FIB().solve(model), uqf.baselines.QMDP().solve(model)
    >>> fib.upper_bound_ <= qmdp.upper_bound_
    True
    """

    def _table(self, model: BeliefModel) -> Floats:
        return informed_values(model, 1e-6)
