"""Canonical coordinates of two sides, the largest correlation first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from uqf.episodes.checks import FloatArray

#: A variance below this is none; and sums of single precision have so many digits.
TINY = 1e-12
PRECISION = 1e-5
#: Of the variance of a coordinate, 1 with the penalty in it, this share at least is real.
LEAST = 0.02


@dataclass(frozen=True)
class Canonical:
    """Coordinates of two sides in which both have mean 0 and variance 1, and are correlated one by one.

    past, future : (1 + width, rank), to be multiplied from the right with rows that begin with 1
    correlations : (rank,), of one coordinate of the past with the same one of the future
    values : (rank,), the same with the penalty in it: what of them is not chance, in decreasing order
    """

    past: FloatArray
    future: FloatArray
    correlations: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, past: FloatArray, both: FloatArray, future: FloatArray, rank: int, ridge: float) -> Canonical:
        """From Σ x xᵀ, Σ x zᵀ and Σ z zᵀ over all cuts, where x and z begin with 1; `ridge` counts as so many cuts."""
        count = past[0, 0]
        means = past[0] / count, future[0] / count
        covariances = [
            table / count - np.outer(*pair)
            for table, pair in (
                (past, (means[0], means[0])),
                (both, (means[0], means[1])),
                (future, (means[1], means[1])),
            )
        ]
        own, cross, other = (table[1:, 1:] for table in covariances)
        scales = [_scales(np.diag(table), mean[1:]) for table, mean in ((own, means[0]), (other, means[1]))]
        ridge = max(ridge / count, PRECISION)
        halves = [
            _half(scale[:, None] * table * scale, ridge)
            for scale, table in zip(scales, (own, other), strict=True)
        ]
        whitened = _solve(halves[0], scales[0][:, None] * cross * scales[1])
        left, values, right = leading(_solve(halves[1], whitened.T).T, rank)
        turned = [
            scale[:, None] * scipy.linalg.solve_triangular(half, axes, lower=True, trans=1)
            for half, scale, axes in zip(halves, scales, (left, right), strict=True)
        ]
        variances = [
            np.einsum("ij,ij->j", axes, table @ axes)
            for axes, table in zip(turned, (own, other), strict=True)
        ]
        # What varies less than the penalty is made of it: brought to variance 1 it would be noise, however large.
        real = np.minimum(*variances) > LEAST
        real[0] = True
        maps = []
        for axes, variance, mean in zip(turned, variances, means, strict=True):
            unit = axes[:, real] / np.sqrt(np.maximum(variance[real], TINY))
            maps.append(np.vstack([-mean[1:] @ unit, unit]))
        correlations = np.einsum("ij,ij->j", maps[0][1:], cross @ maps[1][1:])
        return cls(maps[0], maps[1], correlations, values[real])


def standard(sums: FloatArray) -> FloatArray:
    """(1 + width, width): what gives rows that begin with 1 mean 0 and variance 1, from Σ x xᵀ."""
    mean = sums[0] / sums[0, 0]
    scales = _scales((np.diag(sums) / sums[0, 0] - mean**2)[1:], mean[1:])
    return np.vstack([-mean[1:] * scales, np.diag(scales)])


def leading(
    matrix: FloatArray, rank: int, powers: int = 6, extra: int = 10
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(left, values, right) of the largest singular values: (rows, rank), (rank,), (columns, rank).

    Of large matrices by `powers` rounds of subspace iteration from a fixed start with `extra` more columns, which takes
    a tenth of the time.
    """
    rank = min(rank, *matrix.shape)
    if min(matrix.shape) > 3 * (rank + extra):
        start = np.random.default_rng(0).normal(size=(matrix.shape[1], rank + extra))
        basis = np.linalg.qr(matrix @ start)[0]
        for _ in range(powers):
            basis = np.linalg.qr(matrix @ np.linalg.qr(matrix.T @ basis)[0])[0]
        inner, values, right = np.linalg.svd(basis.T @ matrix, full_matrices=False)
        left = basis @ inner
    else:
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return left[:, :rank], values[:rank], right[:rank].T


def _scales(variances: FloatArray, means: FloatArray) -> FloatArray:
    """One over the standard deviations; 0 where there is no variance but by rounding: such a column says nothing."""
    real = variances > TINY + PRECISION * means**2
    return np.where(real, 1.0 / np.sqrt(np.where(real, variances, 1.0)), 0.0)


def _half(table: FloatArray, ridge: float) -> FloatArray:
    """The Cholesky factor with a penalty: ten times as large as long as sums of single precision need more."""
    while True:
        try:
            return np.asarray(np.linalg.cholesky(table + ridge * np.eye(len(table))), np.float64)
        except np.linalg.LinAlgError:
            ridge *= 10.0


def _solve(half: FloatArray, table: FloatArray) -> FloatArray:
    return np.asarray(scipy.linalg.solve_triangular(half, table, lower=True))
