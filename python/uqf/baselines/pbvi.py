"""Point-based value iteration, anytime, with a lower and an upper bound."""

from __future__ import annotations

import time
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from uqf.baselines.alpha_vectors import AlphaVectors
from uqf.baselines.sawtooth import Sawtooth
from uqf.baselines.value_iteration import blind_values, informed_values
from uqf.episodes.checks import above_zero, positive
from uqf.learn.plan.belief_model import BeliefModel, Floats, infinite_horizon_model
from uqf.learn.plan.plan_policy import PlanPolicy
from uqf.reading.parallel import single_blas
from uqf.worlds.environments import TabularPOMDP


@dataclass(frozen=True)
class SearchSettings:
    """What `PBVI` does not ask its users.

    slack : improvements below this part of the tolerance are not worth remembering
    negligible : a state less probable than this is left out of a belief
    growth, min_plans : when there are `growth` times as many plans as after the last pruning, and `min_plans` at least,
        those that are best at no point are left out
    followed, straying : steps of a walk by the lower bound, and the share of them that is left to chance; without any
        it was caught in a worse plan on one seed of four (tag-avoid)
    ambition, depth, max_depth : a trial looks, `depth` steps deep at most, for a belief that keeps the gap above the
        part `ambition` of itself; both widen, up to `max_depth`, where a trial changed nothing
    """

    slack: float = 1e-3
    negligible: float = 1e-10
    growth: float = 1.5
    min_plans: int = 200
    followed: int = 30
    straying: float = 0.1
    ambition: float = 0.9
    depth: int = 50
    max_depth: int = 10_000


@dataclass
class Point:
    """A belief that was met, what may follow it, and what is known of that."""

    belief: Floats
    places: NDArray[np.intp]  # (R,), in (A, O), of what may follow
    successors: Floats  # (R, S), unnormalised
    upper: Floats  # (R,) upper bounds of the successors
    seen: int  # points of the sawtooth that `upper` accounts for
    number: int | None = None  # its own place in the sawtooth
    value: float = np.inf


@dataclass(eq=False, repr=False)
class PBVI:
    """Point-based value iteration (Pineau, Gordon & Thrun 2003) with heuristic search (Smith & Simmons 2005).

    The lower bound is a set of plans that begins with the blind policies; the upper bound a sawtooth over the fast
    informed bound. Both are backed up at beliefs that can be reached from the start: a walk follows the action of the
    highest upper bound and the observation that contributes most to the gap at the start, and is backed up from its end
    (HSVI). After each the plans so far are followed for a while, and the lower bound is backed up where they lead; now
    and then plans that are best at no point are left out.

    Parameters
    ----------
    tolerance : float
        Stops when upper − lower bound at the start is at most this.
    seconds : float
        Stops at the end of the iteration that passes this time. Trap: results then depend on the machine;
        for reproducible ones set `iterations` and leave time to spare.
    iterations : int
        Most trials.

    Attributes after `solve`
    ------------------------
    policy_, lower_bound_ (earned at least by `policy_`, too), upper_bound_, plans_ (`AlphaVectors`),
    iterations_, stopped_ ("tolerance", "seconds" or "iterations")

    Examples
    --------
    >>> import uqf
    >>> planner = uqf.baselines.PBVI(tolerance=2.0).solve(uqf.make("tiger").tabular())
    >>> planner.lower_bound_ < planner.upper_bound_ < planner.lower_bound_ + 2.0
    True
    """

    _: KW_ONLY
    tolerance: float = 1e-3
    seconds: float = 60.0
    iterations: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("tolerance", "seconds"):
            above_zero(name, getattr(self, name))
        positive("iterations", self.iterations)

    def solve(self, pomdp: TabularPOMDP) -> Self:
        # Products of small matrices: a second thread waits longer than it works.
        with single_blas():
            return self._solve(pomdp)

    def _solve(self, pomdp: TabularPOMDP) -> Self:
        began = time.perf_counter()
        model = BeliefModel(infinite_horizon_model(pomdp, "PBVI"))
        search = Search(model, self.tolerance, np.random.default_rng(self.seed))
        self.stopped_ = "iterations"
        for iteration in range(1, self.iterations + 1):
            search.trial()
            self.iterations_ = iteration
            if search.gap <= self.tolerance:
                self.stopped_ = "tolerance"
                break
            if time.perf_counter() - began > self.seconds:
                self.stopped_ = "seconds"
                break
        self.plans_ = plans = search.plans
        self.policy_ = PlanPolicy(model, plans.vectors, plans.actions, lookahead=True)
        self.lower_bound_ = search.lower
        self.upper_bound_ = search.upper
        return self


class Search:
    """The state of one run: the two bounds and the points where they were backed up."""

    def __init__(
        self,
        model: BeliefModel,
        tolerance: float,
        rng: np.random.Generator,
        settings: SearchSettings | None = None,
    ) -> None:
        self.model, self.tolerance, self.rng = model, tolerance, rng
        self.settings = SearchSettings() if settings is None else settings
        self.plans = AlphaVectors(blind_values(model), np.arange(model.n_actions))
        self.sawtooth = Sawtooth(informed_values(model, 1e-2 * tolerance))
        self.ambition, self.depth = self.settings.ambition, self.settings.depth
        self.points: dict[bytes, Point] = {}
        self._kept = self.settings.min_plans
        self.shares: Floats = model.openings.sum(axis=1)
        self.roots = [self.point(belief / belief.sum()) for belief in model.openings]
        for root in self.roots:
            self.refine(root)

    @property
    def lower(self) -> float:
        return float(self.plans.values(np.array([root.belief for root in self.roots])) @ self.shares)

    @property
    def upper(self) -> float:
        return float(np.array([root.value for root in self.roots]) @ self.shares)

    @property
    def gap(self) -> float:
        return self.upper - self.lower

    def widest(self) -> Point:
        """The belief before the first action, of those that what is shown first may lead to, with most of the gap."""
        gaps = [root.value - float(self.plans.values(root.belief)) for root in self.roots]
        return self.roots[int((self.shares * gaps).argmax())]

    def point(self, belief: Floats) -> Point:
        """The point at this belief, new if it was never met.

        Negligible entries are left out. They do not distinguish points, but the bound at a point says little about a
        belief that lacks one of its entries, and would never apply where a search comes back to it.
        """
        belief = np.where(belief < self.settings.negligible, 0.0, belief)
        belief /= belief.sum()
        key = np.round(belief, 10).tobytes()
        if key not in self.points:
            places, successors = self.model.successors(belief)
            self.points[key] = Point(belief, places, successors, self.sawtooth.linear(successors), seen=0)
        return self.points[key]

    def upper_q_values(self, point: Point) -> Floats:
        """Upper bounds (A,) of each action at a point."""
        if point.seen < self.sawtooth.count:
            point.upper = self.sawtooth.values(point.successors, point.upper, since=point.seen)
            point.seen = self.sawtooth.count
        return self.model.ahead(point.belief, point.places, point.upper)

    def refine(self, point: Point) -> None:
        value = float(self.upper_q_values(point).max())
        if point.number is None:
            point.value = float(self.sawtooth.values(point.belief[np.newaxis])[0])
        if value < point.value - self.settings.slack * self.tolerance:
            if point.number is not None:
                self.sawtooth.forget(point.number)
            point.number = self.sawtooth.add(point.belief, value)
        point.value = min(point.value, value)

    def trial(self) -> None:
        """One walk from the start to where the bounds are close, and backups on the way back."""
        path = [self.widest()]
        plans, count = self.plans, self.sawtooth.count
        goal = self.ambition * (path[0].value - float(self.plans.values(path[0].belief)))
        discount = max(self.model.discount, 1e-9)
        while len(path) < self.depth:
            goal /= discount
            point = path[-1]
            action = int(self.upper_q_values(point).argmax())
            rows, successors = self.after(point, action)
            if not len(rows):
                break
            excess = point.upper[rows] - self.plans.values(successors) - goal * successors.sum(axis=1)
            seen = int(excess.argmax())
            if excess[seen] <= 0.0:
                break
            path.append(self.point(successors[seen] / successors[seen].sum()))
        for point in reversed(path):
            self.improve(point)
            self.refine(point)
        self.follow()
        if self.plans is plans and self.sawtooth.count == count:
            # The next trial would be the same: look farther.
            self.ambition *= 0.9
            self.depth = min(2 * self.depth, self.settings.max_depth)

    def follow(self) -> None:
        """A walk by the best plans, now and then by chance, and backups of the lower bound on the way back.

        Walks by the upper bound go where something may be better than it is known to be. What the plans at hand earn
        is decided elsewhere: where they lead.
        """
        path = [self.widest()]
        while len(path) < self.settings.followed:
            point = path[-1]
            values = self.model.ahead(point.belief, point.places, self.plans.values(point.successors))
            strays = self.rng.random() < self.settings.straying
            action = self.rng.integers(self.model.n_actions) if strays else values.argmax()
            successors = self.after(point, int(action))[1]
            if not len(successors):
                break
            weights = successors.sum(axis=1)
            seen = self.rng.choice(len(weights), p=weights / weights.sum())
            path.append(self.point(successors[seen] / weights[seen]))
        for point in reversed(path):
            self.improve(point)

    def after(self, point: Point, action: int) -> tuple[NDArray[np.intp], Floats]:
        """(rows of the point's successors that an action may lead to, these rows)."""
        rows = np.flatnonzero(point.places // self.model.n_observations == action)
        return rows, point.successors[rows]

    def improve(self, point: Point) -> None:
        """Backs up the lower bound at a point; a plan that helps there is kept."""
        plan = self.plans.backup(self.model, point.belief, point.places, point.successors)
        if plan[0] @ point.belief > self.plans.values(point.belief) + 1e-4 * self.tolerance:
            self.plans = self.plans.joined(plan)
            if len(self.plans.actions) > self.settings.growth * self._kept:
                self.plans = self.plans.best_at(np.array([one.belief for one in self.points.values()]))
                self._kept = max(len(self.plans.actions), self.settings.min_plans)
