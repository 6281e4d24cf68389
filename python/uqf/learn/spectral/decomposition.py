"""The spectral step: truncated singular value decomposition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from uqf.episodes.checks import FloatArray
from uqf.errors import NumericalError
from uqf.types import Matrix

#: Smaller blocks are decomposed in full; beyond, only the leading singular vectors are computed.
FULL_SVD_SIZE = 512

#: A rank that is chosen keeps this part of the block's energy (the sum of its squares), and is at most so large.
ENERGY = 0.99
MAX_RANK = 50


@dataclass(frozen=True)
class Decomposition:
    """H ≈ U D Vᵀ with k columns, and what is left of it for the second pass."""

    left: FloatArray
    singular_values: FloatArray
    right: FloatArray
    spectrum: FloatArray

    @property
    def rank(self) -> int:
        return len(self.singular_values)

    @property
    def prefix_map(self) -> FloatArray:
        """U D⁻¹: (UD)⁺ is its transpose."""
        return np.ascontiguousarray(self.left / self.singular_values)

    @property
    def suffix_map(self) -> FloatArray:
        return np.ascontiguousarray(self.right)


def numerical_rank(spectrum: FloatArray, shape: tuple[int, ...]) -> int:
    """How many singular values rise above rounding."""
    if len(spectrum) == 0 or spectrum[0] == 0.0:
        return 0
    return int((spectrum > spectrum[0] * max(shape) * np.finfo(float).eps).sum())


def enough_rank(spectrum: FloatArray, energy: float) -> int:
    """The smallest rank that keeps `ENERGY` of a block's energy, at most `MAX_RANK`."""
    kept = np.cumsum((spectrum / np.sqrt(energy)) ** 2)
    return min(int(np.searchsorted(kept, ENERGY)) + 1, MAX_RANK, len(spectrum))


def decompose(
    block: Matrix, rank: int | None, *, choose: bool = False, at_most: int | None = None, seed: int = 0
) -> Decomposition:
    """H ≈ U D Vᵀ, dense or sparse.

    Without a `rank` every direction above rounding is kept, if given `at_most` so many, or, with `choose`, as many as
    `enough_rank` says: noise has full rank, and a state of thousands of numbers is neither quick nor good. Signs are
    fixed (the largest entry of a left vector is positive), so that equal blocks give equal bits.
    """
    if rank is not None and not isinstance(rank, (int, np.integer)):
        raise TypeError(f"rank = {rank!r}: give an integer, or None to have it chosen")
    if rank is not None and rank < 1:
        raise ValueError(f"rank = {rank}: give at least 1")
    cells = block.data if scipy.sparse.issparse(block) else np.asarray(block)
    if not np.isfinite(cells).all():
        raise NumericalError(
            "the Hankel block overflows: rescale the rewards, their sums exceed the largest number"
        )
    largest = float(np.abs(cells).max(initial=0.0))
    wanted = MAX_RANK if choose and rank is None else rank or at_most
    left, spectrum, right = _leading(block, wanted, seed)
    available = numerical_rank(spectrum, block.shape)
    if available == 0:
        raise NumericalError(
            "the Hankel block is zero: no reward reached the chosen words; collect more episodes, use "
            'occurrences="anywhere" or target="return", or longer words'
        )
    if rank is not None and rank > available:
        raise NumericalError(
            f"rank {rank} exceeds the numerical rank {available} of the Hankel block; "
            "lower `rank` or collect more episodes"
        )
    kept = min(available, at_most or available) if rank is None else rank
    if choose and rank is None:
        # In units of the largest cell, whose square may overflow.
        kept = min(available, enough_rank(spectrum / largest, float(((cells / largest) ** 2).sum())))
    signs = np.sign(left[np.abs(left[:, :kept]).argmax(axis=0), np.arange(kept)])
    return Decomposition(left[:, :kept] * signs, spectrum[:kept], right[:kept].T * signs, spectrum)


def _leading(block: Matrix, wanted: int | None, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """All singular vectors of a small block; of a large one somewhat more than wanted."""
    smaller = min(block.shape)
    if smaller > FULL_SVD_SIZE and wanted is not None and wanted < smaller // 4:
        start = np.random.default_rng(seed).standard_normal(smaller)
        left, spectrum, right = scipy.sparse.linalg.svds(block, k=min(wanted + 20, smaller - 1), v0=start)
        order = np.argsort(-spectrum, kind="stable")
        return left[:, order], spectrum[order], right[order]
    dense = block.toarray() if scipy.sparse.issparse(block) else np.asarray(block)
    left, spectrum, right = np.linalg.svd(dense, full_matrices=False)
    return left, spectrum, right
