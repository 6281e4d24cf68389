"""Exact value iteration in the space of beliefs, for small problems."""

from __future__ import annotations

from typing import Self

import numpy as np

from uqf.baselines.alpha_vectors import AlphaVectors, useful
from uqf.baselines.pbvi import PBVI
from uqf.episodes.checks import above_zero, positive
from uqf.errors import NumericalError
from uqf.learn.plan.belief_model import BeliefModel, Floats, infinite_horizon_model, tabular_model
from uqf.learn.plan.plan_policy import PlanPolicy
from uqf.worlds.environments import TabularPOMDP


class ExactValueIteration:
    """All plans that are best in some belief, one step longer at each stage (incremental pruning).

    The number of plans can grow doubly exponentially; beyond a handful of states use `PBVI`. Exact up to
    the 1e-7 (of the spread of values) by which pruning decides, per stage.

    Parameters
    ----------
    horizon : int or None
        Number of steps that count; any discount. None counts all of them and needs a discount below 1:
        stages then start from the plans of a short PBVI and stop when the bounds are within `tolerance`.
    max_vectors : int
        Raises `uqf.NumericalError` rather than prune more vectors than this at once.

    Attributes after `solve`
    ------------------------
    policy_ (with a horizon it counts the steps, and is indifferent once they are spent), lower_bound_,
    upper_bound_ (equal with a horizon), plans_ (`AlphaVectors` of the last stage), stages_

    Examples
    --------
    >>> import uqf
    >>> planner = uqf.baselines.ExactValueIteration(horizon=1).solve(uqf.make("tiger").tabular())
    >>> planner.lower_bound_  # with one step to go, listening is best
    -1.0
    """

    def __init__(
        self, *, horizon: int | None = None, tolerance: float = 1e-3, max_vectors: int = 20_000
    ) -> None:
        self.horizon = None if horizon is None else positive("horizon", horizon)
        self.tolerance = above_zero("tolerance", tolerance)
        self.max_vectors = positive("max_vectors", max_vectors)

    def solve(self, pomdp: TabularPOMDP) -> Self:
        if self.horizon is not None:
            return self._solve_horizon(BeliefModel(tabular_model(pomdp)), self.horizon)
        model = infinite_horizon_model(pomdp, "ExactValueIteration without a horizon")
        return self._solve_endless(BeliefModel(model))

    def _solve_horizon(self, model: BeliefModel, horizon: int) -> Self:
        stages = [AlphaVectors(np.zeros((1, model.n_states)), np.zeros(1, np.int64))]
        for _ in range(horizon):
            stages.append(self._longer(model, stages[-1]))
        numbers = np.repeat(np.arange(1, horizon + 1), [len(plans.actions) for plans in stages[1:]])
        vectors, actions = (
            np.concatenate([getattr(plans, name) for plans in stages[1:]]) for name in ("vectors", "actions")
        )
        self.policy_ = PlanPolicy(model, vectors, actions, stages=numbers, lookahead=True)
        self.plans_ = stages[-1]
        self.stages_ = horizon
        self.lower_bound_ = self.upper_bound_ = float(self.plans_.values(model.openings).sum())
        return self

    def _solve_endless(self, model: BeliefModel) -> Self:
        # Any start converges, and the bounds below hold for any. From the blind policies Tiger passes through
        # stages of 76 plans and needs 74 s; from where PBVI ends no stage has many more plans than the last.
        start = PBVI(tolerance=self.tolerance, iterations=100, seconds=60.0).solve(model.pomdp)
        self.plans_, self.stages_ = start.plans_, 0
        while True:
            longer = self._longer(model, self.plans_)
            # The optimum is within γ/(1 − γ) times the greatest rise, or fall, of one stage.
            factor = model.discount / (1.0 - model.discount)
            rise, fall = factor * _rise(self.plans_, longer), factor * _rise(longer, self.plans_)
            self.plans_, self.stages_ = longer, self.stages_ + 1
            if rise + fall <= self.tolerance:
                break
        self.policy_ = PlanPolicy(model, self.plans_.vectors, self.plans_.actions, lookahead=True)
        value = float(self.plans_.values(model.openings).sum())
        self.lower_bound_, self.upper_bound_ = value - fall, value + rise
        return self

    def _longer(self, model: BeliefModel, plans: AlphaVectors) -> AlphaVectors:
        """Every useful plan of one action followed, for each observation, by one of `plans`."""
        following = model.discount * (plans.vectors @ model.joint_operators().swapaxes(2, 3))  # (A, O, V, S)
        by_action = [self._after(*parts) for parts in zip(model.rewards, following, strict=True)]
        vectors = np.concatenate(by_action)
        actions = np.repeat(np.arange(model.n_actions), [len(some) for some in by_action])
        kept = useful(vectors)
        return AlphaVectors(vectors[kept], actions[kept])

    def _after(self, rewards: Floats, following: Floats) -> Floats:
        """Useful sums of `rewards` (S,) and one vector for each observation of `following` (O, V, S)."""
        total = rewards[np.newaxis]
        for vectors in following:
            choices = vectors[useful(vectors)]
            if len(total) * len(choices) > self.max_vectors:
                raise NumericalError(
                    f"{len(total) * len(choices)} vectors to prune exceed max_vectors = {self.max_vectors}: "
                    "this problem is too large to solve exactly; use PBVI, a shorter horizon or more vectors"
                )
            sums = (total[:, np.newaxis] + choices).reshape(-1, len(rewards))
            alone = len(total) == 1 or len(choices) == 1  # then every sum is as useful as its part
            total = sums if alone else sums[useful(sums)]
        return total


def _rise(before: AlphaVectors, after: AlphaVectors) -> float:
    """At least the most by which the value of any belief rose: each later plan against its nearest before."""
    return max(0.0, *(float((plan - before.vectors).max(axis=1).min()) for plan in after.vectors))
