"""Point-based value iteration, anytime, with a lower and an upper bound."""

from __future__ import annotations

import operator
import time
from dataclasses import KW_ONLY, dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from uqf.baselines.alpha_vectors import AlphaVectors
from uqf.baselines.sawtooth import Sawtooth
from uqf.baselines.value_iteration import blind_values, informed_values
from uqf.plans import BeliefModel, Floats, PlanPolicy, infinite_horizon_model
from uqf.reading.parallel import single_blas
from uqf.worlds.environments import TabularPOMDP

#: Improvements below this part of the tolerance are not worth remembering.
SLACK = 0.001

#: A state less probable than this is left out of a belief.
NEGLIGIBLE = 1e-10

#: When there are so many times as many plans as after the last pruning, those that are best at no point are left out.
GROWTH = 1.5
MIN_PLANS = 200

#: Steps of a walk that does what the lower bound advises, but for this share of them: without any chance it was caught
#: in a worse plan on one seed of four (tag-avoid).
FOLLOWED = 30
STRAYING = 0.1

#: Longest walk of a trial.
MAX_DEPTH = 10_000


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

    The lower bound is a set of plans that begins with the blind policies; the upper bound a sawtooth over
    the fast informed bound. Both are backed up at beliefs that can be reached from the start, chosen by

    * ``expansion="trials"``: walks that follow the action of the highest upper bound and the observation
      that contributes most to the gap at the start, backed up from their end (HSVI). After each the plans that were
      found are followed for a while, and the lower bound is backed up where they lead; now and then plans that are
      best at no point are left out;
    * ``expansion="farthest"``: for each belief the successor farthest (L1) from all beliefs kept so far,
      which doubles their number, then sweeps over all of them (PBVI as published).

    Parameters
    ----------
    tolerance : float
        Stops when upper − lower bound at the start is at most this.
    seconds : float
        Stops at the end of the iteration that passes this time. Trap: results then depend on the machine;
        for reproducible ones set `iterations` and leave time to spare.
    iterations : int
        Most trials or expansions.
    lookahead : bool
        How `policy_` chooses; see `PlanPolicy`.

    Attributes after `solve`
    ------------------------
    policy_, lower_bound_ (earned at least by `policy_`, too), upper_bound_, plans_ (`AlphaVectors`),
    points_ (N, S), iterations_, seconds_, stopped_ ("tolerance", "seconds" or "iterations")

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
    expansion: Literal["trials", "farthest"] = "trials"
    lookahead: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.tolerance > 0.0:
            raise ValueError(f"tolerance = {self.tolerance}: give a positive number")
        if not self.seconds > 0.0:
            raise ValueError(f"seconds = {self.seconds}: give a positive number")
        if operator.index(self.iterations) < 1:
            raise ValueError(f"iterations = {self.iterations}: give at least one")
        if self.expansion not in ("trials", "farthest"):
            raise ValueError(f"expansion = {self.expansion!r}: choose 'trials' or 'farthest'")

    def solve(self, pomdp: TabularPOMDP) -> Self:
        """Plans for this model until one of the limits is met."""
        # Products of small matrices: a second thread waits longer than it works.
        with single_blas():
            return self._solve(pomdp)

    def _solve(self, pomdp: TabularPOMDP) -> Self:
        began = time.perf_counter()
        model = BeliefModel(infinite_horizon_model(pomdp, "PBVI"))
        search = Search(model, self.tolerance, np.random.default_rng(self.seed))
        step = search.trial if self.expansion == "trials" else search.expand
        self.stopped_ = "iterations"
        for iteration in range(1, self.iterations + 1):
            step()
            self.iterations_ = iteration
            if search.gap <= self.tolerance:
                self.stopped_ = "tolerance"
                break
            if time.perf_counter() - began > self.seconds:
                self.stopped_ = "seconds"
                break
        self.plans_ = search.plans
        self.points_ = np.array([point.belief for point in search.points.values()])
        plans = search.plans
        self.policy_ = PlanPolicy(model, plans.vectors, plans.actions, lookahead=self.lookahead)
        self.lower_bound_ = search.lower
        self.upper_bound_ = search.upper
        self.seconds_ = time.perf_counter() - began
        return self


class Search:
    """The state of one run: the two bounds and the points where they were backed up."""

    def __init__(self, model: BeliefModel, tolerance: float, rng: np.random.Generator) -> None:
        self.model = model
        self.tolerance = tolerance
        self.rng = rng
        self.plans = AlphaVectors(blind_values(model), np.arange(model.n_actions))
        self.sawtooth = Sawtooth(informed_values(model, 1e-2 * tolerance, max_iterations=10_000))
        # A trial looks, this deep at most, for a belief that keeps the gap above this part of itself.
        self.ambition, self.depth = 0.9, 50
        self.points: dict[bytes, Point] = {}
        self._kept = MIN_PLANS
        self.shares: Floats = model.openings.sum(axis=1)
        self.roots = [self.point(belief / belief.sum()) for belief in model.openings]
        for root in self.roots:
            self.refine(root)

    @property
    def lower(self) -> float:
        """Lower bound at the start."""
        return float(self.plans.values(np.array([root.belief for root in self.roots])) @ self.shares)

    @property
    def upper(self) -> float:
        """Upper bound at the start."""
        return float(np.array([root.value for root in self.roots]) @ self.shares)

    @property
    def gap(self) -> float:
        """Upper minus lower bound at the start."""
        return self.upper - self.lower

    def widest(self) -> Point:
        """The belief before the first action, of those that what is shown first may lead to, with most of the gap."""
        lower = self.plans.values(np.array([root.belief for root in self.roots]))
        gaps = self.shares * (np.array([root.value for root in self.roots]) - lower)
        return self.roots[int(gaps.argmax())]

    def point(self, belief: Floats) -> Point:
        """The point at this belief, new if it was never met.

        Negligible entries are left out. They cannot tell points apart, but the bound at a point says little about a
        belief that lacks one of its entries, and would never apply where a search comes back to it.
        """
        belief = np.where(belief < NEGLIGIBLE, 0.0, belief)
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
        following = self.model.summed(point.places, point.upper)[0]
        return np.asarray(self.model.rewards @ point.belief + self.model.discount * following)

    def refine(self, point: Point) -> None:
        """Backs up the upper bound at a point."""
        value = float(self.upper_q_values(point).max())
        if point.number is None:
            point.value = float(self.sawtooth.values(point.belief[np.newaxis])[0])
        if value < point.value - SLACK * self.tolerance:
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
            self.improve(point.belief[np.newaxis])
            self.refine(point)
        self.follow()
        if (
            self.plans is plans and self.sawtooth.count == count
        ):  # the next trial would be the same: look farther
            self.ambition *= 0.9
            self.depth = min(2 * self.depth, MAX_DEPTH)

    def follow(self) -> None:
        """A walk by the best plans, now and then by chance, and backups of the lower bound on the way back.

        Walks by the upper bound go where something may be better than it is known to be. What the plans at hand earn
        is decided elsewhere: where they lead.
        """
        path = [self.widest()]
        while len(path) < FOLLOWED:
            point = path[-1]
            following = self.model.summed(point.places, self.plans.values(point.successors))[0]
            values = self.model.rewards @ point.belief + self.model.discount * following
            strays = self.rng.random() < STRAYING
            action = self.rng.integers(self.model.n_actions) if strays else values.argmax()
            successors = self.after(point, int(action))[1]
            if not len(successors):
                break
            weights = successors.sum(axis=1)
            seen = self.rng.choice(len(weights), p=weights / weights.sum())
            path.append(self.point(successors[seen] / weights[seen]))
        for point in reversed(path):
            self.improve(point.belief[np.newaxis])

    def after(self, point: Point, action: int) -> tuple[NDArray[np.intp], Floats]:
        """(rows of the point's successors that an action may lead to, these rows)."""
        rows = np.flatnonzero(point.places // self.model.n_observations == action)
        return rows, point.successors[rows]

    def improve(self, beliefs: Floats) -> None:
        """Backs up the lower bound at beliefs (N, S), keeping plans that help there."""
        found = self.plans.backup(self.model, beliefs)
        if np.any(found.values(beliefs) > self.plans.values(beliefs) + 1e-4 * self.tolerance):
            self.plans = self.plans.merged(found)
            if len(self.plans.actions) > GROWTH * self._kept:
                self.plans = self.plans.best_at(np.array([point.belief for point in self.points.values()]))
                self._kept = max(len(self.plans.actions), MIN_PLANS)

    def expand(self) -> None:
        """Doubles the points by farthest successors, then sweeps until the lower bound hardly rises."""
        kept = np.array([point.belief for point in self.points.values()])
        for point in list(self.points.values()):
            actions, weights = point.places // self.model.n_observations, point.successors.sum(axis=1)
            drawn = []
            for action in np.unique(actions):
                mine = np.flatnonzero(actions == action)
                drawn.append(self.rng.choice(mine, p=weights[mine] / weights[mine].sum()))
            if not drawn:
                continue
            beliefs = point.successors[drawn]
            beliefs = beliefs / beliefs.sum(axis=1, keepdims=True)
            distances = np.abs(beliefs[:, np.newaxis] - kept).sum(axis=2).min(axis=1)
            if distances.max() > 1e-6:
                self.point(beliefs[distances.argmax()])
                kept = np.concatenate([kept, beliefs[[distances.argmax()]]])
        for _ in range(20):
            before = self.plans.values(kept)
            self.improve(kept)
            for point in reversed(list(self.points.values())):
                self.refine(point)
            if np.all(self.plans.values(kept) - before <= self.tolerance * (1.0 - self.model.discount)):
                break
