"""Estimates that are sums of ratios of means over episodes, and their bootstrap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Episodes are gathered into at most this many groups: the sums of a group are as independent as episodes
#: are, and memory stays bounded for any number of episodes.
MAX_GROUPS = 1000

#: Differences this small against the terms that made them are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Ratios:
    """Σ_k coefficients[k] · Σ_g numerators[g, k] / Σ_g denominators[g, k], over independent groups g."""

    numerators: FloatArray
    denominators: FloatArray
    coefficients: FloatArray

    def __sub__(self, other: Ratios) -> Ratios:
        """The difference of two estimates from the same groups of episodes."""
        return Ratios(
            np.hstack([self.numerators, other.numerators]),
            np.hstack([self.denominators, other.denominators]),
            np.concatenate([self.coefficients, -other.coefficients]),
        )

    def value(self) -> float:
        """The estimate itself; exactly zero if all that is left of a difference is rounding."""
        value = float(self.resampled(np.ones((1, len(self.numerators))))[0][0])
        return value if abs(value) > ROUNDING * self.scale() else 0.0

    def scale(self) -> float:
        """Size of the terms that are added up."""
        totals = self.denominators.sum(0)
        sums = np.abs(self.numerators).sum(0)
        means = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        return float(np.abs(self.coefficients) @ means)

    def resampled(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value and standard error when group g is taken counts[b, g] times: two arrays of shape (b,).

        The standard error is that of the linearised estimate, the delta method.
        """
        values, influence = self._linearised(counts)
        return values, np.sqrt((counts * influence**2).sum(1))

    def _linearised(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values (b,), and the influence of one more of each group (b, groups)."""
        totals = counts @ self.denominators
        slopes = np.divide(self.coefficients, totals, out=np.zeros_like(totals), where=totals > 0)
        means = np.divide(counts @ self.numerators, totals, out=np.zeros_like(totals), where=totals > 0)
        influence = slopes @ self.numerators.T - (slopes * means) @ self.denominators.T
        return means @ self.coefficients, influence


def bootstrap(
    ratios: Ratios, *, level: float, replicates: int, seed: int
) -> tuple[float, tuple[float, float]]:
    """Standard error, and the interval of the studentised bootstrap over groups of episodes.

    Studentised rather than percentile: importance weights are skewed, and the plain percentile interval sits
    too low by an amount that shrinks no faster than its width.
    """
    groups = len(ratios.numerators)
    if groups < 2:
        return float("inf"), (-float("inf"), float("inf"))
    value, error = ratios.value(), float(ratios.resampled(np.ones((1, groups)))[1][0])
    if error <= ROUNDING * ratios.scale():
        # No noise but that of rounding, as between a policy and itself.
        return 0.0, (value, value)
    counts = np.random.default_rng(seed).multinomial(groups, np.full(groups, 1.0 / groups), replicates)
    values, errors = ratios.resampled(counts.astype(np.float64))
    scores = np.divide(values - value, errors, out=np.zeros_like(values), where=errors > 0)
    low, high = np.quantile(scores, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return error, (value - float(high) * error, value - float(low) * error)
