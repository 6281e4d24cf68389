"""Importance weights along episodes, and sums of them by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.sums import by_time, time_within
from uqf.episodes.trajectories import Trajectories
from uqf.ope.ratios import MAX_GROUPS, Term, by_group_and_step

FloatArray = NDArray[np.float64]

#: Weights of long episodes stay below this, so that their squares are finite; one such weight drowns all others.
MAX_WEIGHT = 1e100

#: A reward that is discounted to less than this part of itself is nothing beside the first.
NEGLIGIBLE = 1e-16


@dataclass(frozen=True)
class Weights:
    """ρ_t = Π_{s ≤ t} π(a_s | h_s) / b(a_s | h_s) of every step, and how steps are summed over episodes.

    An episode that the world ended goes on for ever without reward, so its last weight still counts in the
    later means. An episode whose recording stopped leaves the later means.
    """

    upto: FloatArray
    """ρ_t, the weight of what follows the action of step t."""
    before: FloatArray
    """ρ_{t-1}, the weight of the history before step t; 1 at the first step."""
    factors: FloatArray
    """π(a_t | h_t) / b(a_t | h_t), of which ρ_t is the product."""
    steps: NDArray[np.int64]
    """Number of the step within its episode, from 0."""
    groups: NDArray[np.int64]
    """Group of the episode of every step."""
    n_groups: int
    ends: tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]
    """Group, length and last weight of the episodes that the world ended."""

    @property
    def horizon(self) -> int:
        """Length of the longest episode."""
        return int(self.steps.max()) + 1

    def discounts(self, discount: float) -> FloatArray:
        """γ^t of every step, (horizon,)."""
        return np.float64(discount) ** np.arange(self.horizon, dtype=np.float64)

    def term(self, values: FloatArray, weights: FloatArray, discount: float) -> Term:
        """Σ_t γ^t · (mean over episodes of values at t, weighted); ended episodes keep their last weight for ever.

        values : weights · numbers of every step; weights : `upto` or `before`
        """
        # What is discounted to nothing is left out, and what ended there or later keeps no weight before.
        horizon = int(np.count_nonzero(self.discounts(discount) > NEGLIGIBLE))
        (groups, lengths, last), counted = self.ends, self.steps < horizon
        here, kept, shape = (
            (self.groups[counted], self.steps[counted]),
            lengths < horizon,
            (self.n_groups, horizon),
        )
        return Term(
            by_group_and_step(*here, values[counted], shape),
            by_group_and_step(*here, weights[counted], shape),
            by_group_and_step(groups[kept], lengths[kept], last[kept], shape),
            self.discounts(discount)[:horizon],
        )

    def by_step(self, values: FloatArray) -> FloatArray:
        """Sums of a number per step over all episodes: shape (horizon,)."""
        sums: FloatArray = np.bincount(self.steps, values, minlength=self.horizon).astype(np.float64)
        return sums

    def reward_shares(self, rewards: FloatArray, discount: float) -> FloatArray:
        """The discounted size of the rewards that the policy meets at every step, (horizon,).

        If there are none at all, every step counts with its discount.
        """
        sums, totals = self.by_step(self.upto * np.abs(rewards)), self.powers(1)
        shares = self.discounts(discount) * np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        return shares if shares.any() else self.discounts(discount)

    def powers(self, exponent: int) -> FloatArray:
        """Σ ρ_t^exponent over all episodes by step, ended ones with their last weight: shape (horizon,)."""
        _, lengths, last = self.ends
        after = np.bincount(lengths, last**exponent, minlength=self.horizon + 1).cumsum()[:-1]
        return np.asarray(self.by_step(self.upto**exponent) + after)


def importance_weights(data: Trajectories, factors: FloatArray) -> Weights:
    """From the probability of every logged action under the policy over that under the behaviour, (n_steps,)."""
    episodes = np.repeat(np.arange(len(data)), data.lengths)
    upto = factors.copy()
    for now in list(by_time(data))[1:]:
        upto[now] = np.minimum(upto[now] * upto[now - 1], MAX_WEIGHT)
    before = np.empty_like(upto)
    before[1:] = upto[:-1]
    before[data.offsets[:-1]] = 1.0
    n_groups = min(len(data), MAX_GROUPS)
    ended = np.flatnonzero(data.terminated)
    ends = (ended % n_groups, data.lengths[ended], upto[data.offsets[1:][ended] - 1])
    return Weights(upto, before, factors, time_within(data), episodes % n_groups, n_groups, ends)


@dataclass(frozen=True)
class Overlap:
    """How much the logs say about a policy."""

    shown: float
    """Episodes of the policy itself that the weighted ones are worth: Kish's (Σ ρ)² / Σ ρ²."""
    foreseen: float
    """The same from the factors of the weights, step by step: n / Π_t mean((π / b)²)."""
    mean_weight: float
    """Over discounted steps; one in expectation."""

    @property
    def size(self) -> float:
        """The effective sample size: the smaller of both.

        Rare large weights carry much of Σ ρ², and logs that happen to lack them show too large a size (and earn too
        little). Factors are bounded and their means settle soon, whether or not such an episode is among the logs.
        They are averaged over logged steps as if they did not depend on what came before; where the policy
        leaves the logs most on its own favourite paths, `shown` is the one to notice.
        """
        return min(self.shown, self.foreseen)

    @property
    def stretch(self) -> float:
        """By how much standard errors grow if the weights are spread as widely as their factors foresee."""
        return float(np.sqrt(self.shown / max(self.size, 1.0))) if self.shown > 0.0 else 1.0


def overlap(weights: Weights, shares: FloatArray, discount: float) -> Overlap:
    """Sample sizes are harmonic means over steps, each counting with its share, (horizon,): with the shares of
    `reward_shares` a late step without reward does no harm.
    """
    totals, squares, counts = (weights.powers(exponent) for exponent in (1, 2, 0))
    shown = np.divide(totals**2, squares, out=np.zeros_like(totals), where=squares > 0)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        foreseen = counts * np.exp(-np.cumsum(np.log(_mean_square_factors(weights, counts))))
    discounts = weights.discounts(discount)
    # Weighing the steps by their reward would hide paths that the logs lack; only the discount counts.
    mean_weight = float(discounts @ totals / (discounts @ counts))
    return Overlap(_harmonic_mean(shown, shares), _harmonic_mean(foreseen, shares), mean_weight)


def _mean_square_factors(weights: Weights, counts: FloatArray) -> FloatArray:
    """Mean of (π / b)² by step; an ended episode goes on with factors of one."""
    alive, squares = weights.by_step(np.ones_like(weights.factors)), weights.by_step(weights.factors**2)
    mean: FloatArray = (squares + counts - alive) / counts
    return mean


def _harmonic_mean(sizes: FloatArray, shares: FloatArray) -> float:
    counted = shares > 0
    if np.any(sizes[counted] == 0.0):
        return 0.0
    return float(shares.sum() / (shares[counted] / sizes[counted]).sum())
