"""Importance weights along episodes, and sums of them by step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from uqf.ope.ratios import MOST_GROUPS
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]


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

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums of a number per step, by group and step: shape (groups, horizon)."""
        cells = self.groups * self.horizon + self.steps
        sums = np.bincount(cells, values, minlength=self.n_groups * self.horizon).astype(
            np.float64, copy=False
        )
        return sums.reshape(self.n_groups, self.horizon)

    def totals(self, weights: FloatArray) -> FloatArray:
        """Like `sums` of weights, where ended episodes keep their last weight for ever."""
        groups, lengths, last = self.ends
        width = self.horizon + 1
        kept = np.bincount(groups * width + lengths, last, minlength=self.n_groups * width)
        after: FloatArray = kept.reshape(self.n_groups, width).cumsum(1)[:, :-1]
        return self.sums(weights) + after

    def powers(self, exponent: int) -> FloatArray:
        """Σ ρ_t^exponent over all episodes by step, ended ones as in `totals`: shape (horizon,)."""
        groups, lengths, last = self.ends
        raised = replace(self, upto=self.upto**exponent, ends=(groups, lengths, last**exponent))
        total: FloatArray = raised.totals(raised.upto).sum(0)
        return total


def importance_weights(data: Trajectories, target: FloatArray, behavior: FloatArray) -> Weights:
    """The weights of logged actions with probabilities `target` and `behavior`, both (n_steps,)."""
    ratios = target / behavior
    episodes = np.repeat(np.arange(len(data)), data.lengths)
    steps = np.arange(data.n_steps) - np.repeat(data.offsets[:-1], data.lengths)
    upto = ratios.copy()
    for step in range(1, int(data.lengths.max())):
        now = data.offsets[:-1][data.lengths > step] + step
        upto[now] *= upto[now - 1]
    before = np.empty_like(upto)
    before[1:] = upto[:-1]
    before[data.offsets[:-1]] = 1.0
    n_groups = min(len(data), MOST_GROUPS)
    ended = np.flatnonzero(data.terminated)
    ends = (ended % n_groups, data.lengths[ended], upto[data.offsets[1:][ended] - 1])
    return Weights(upto, before, steps, episodes % n_groups, n_groups, ends)


def effective_sample_size(weights: Weights, rewards: FloatArray, discount: float) -> float:
    """How many episodes of the policy itself these weighted ones are worth.

    The harmonic mean over steps of (Σ ρ_t)² / Σ ρ_t², each step counting with the discounted reward that
    arrives there: a late step without reward does no harm.
    """
    totals, squares = weights.powers(1), weights.powers(2)
    sizes = np.divide(totals**2, squares, out=np.zeros_like(totals), where=squares > 0)
    sums = weights.sums(weights.upto * np.abs(rewards)).sum(0)
    means = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    shares = weights.discounts(discount) * means
    if shares.sum() == 0.0:
        # No reward came to the policy at all: every step counts with its discount.
        shares = weights.discounts(discount)
    shares = shares / shares.sum()
    counted = shares > 0
    if np.any(sizes[counted] == 0.0):
        return 0.0
    return float(1.0 / (shares[counted] / sizes[counted]).sum())
