"""The spectral step: truncated singular value decomposition, and the automaton of a Hankel block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from uqf.errors import NumericalError
from uqf.learn.automata import WFA
from uqf.learn.hankel import Hankel

FloatArray = NDArray[np.float64]

#: Smaller blocks are decomposed in full; beyond, only the leading singular vectors are computed.
FULL_SVD_SIZE = 512


@dataclass(frozen=True)
class Decomposition:
    """H ≈ U D Vᵀ with k columns, and what is left of it for the second pass."""

    left: FloatArray
    singular_values: FloatArray
    right: FloatArray
    spectrum: FloatArray

    @property
    def rank(self) -> int:
        """Number of singular values kept."""
        return len(self.singular_values)

    @property
    def prefix_map(self) -> FloatArray:
        """U D⁻¹: (UD)⁺ is its transpose."""
        return np.ascontiguousarray(self.left / self.singular_values)

    @property
    def suffix_map(self) -> FloatArray:
        """V."""
        return np.ascontiguousarray(self.right)


def numerical_rank(spectrum: FloatArray, shape: tuple[int, ...]) -> int:
    """How many singular values rise above rounding."""
    if len(spectrum) == 0 or spectrum[0] == 0.0:
        return 0
    return int((spectrum > spectrum[0] * max(shape) * np.finfo(float).eps).sum())


def decompose(block: Any, rank: int | None, *, seed: int = 0) -> Decomposition:
    """Truncated SVD; `rank` None keeps every direction above rounding.

    Signs are fixed (the largest entry of a left vector is positive), so that equal blocks give equal bits.
    """
    if rank is not None and not isinstance(rank, (int, np.integer)):
        raise TypeError(f"rank = {rank!r}: give an integer, or None for every direction above rounding")
    if rank is not None and rank < 1:
        raise ValueError(f"rank = {rank}: give at least 1")
    large = min(block.shape) > FULL_SVD_SIZE
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(block.data if scipy.sparse.issparse(block) else block).all()
    if not finite:
        raise NumericalError(
            "the Hankel block overflows: rescale the rewards, their sums exceed the largest number"
        )
    if large and rank is not None and rank < min(block.shape) // 4:
        wanted = min(rank + 20, min(block.shape) - 1)
        start = np.random.default_rng(seed).standard_normal(min(block.shape))
        left, spectrum, right = scipy.sparse.linalg.svds(block, k=wanted, v0=start)
        order = np.argsort(-spectrum, kind="stable")
        left, spectrum, right = left[:, order], spectrum[order], right[order]
    else:
        dense = block.toarray() if scipy.sparse.issparse(block) else np.asarray(block)
        left, spectrum, right = np.linalg.svd(dense, full_matrices=False)
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
    kept = available if rank is None else rank
    signs = np.sign(left[np.abs(left[:, :kept]).argmax(axis=0), np.arange(kept)])
    return Decomposition(left[:, :kept] * signs, spectrum[:kept], right[:kept].T * signs, spectrum)


def spectral_wfa(hankel: Hankel, rank: int | None = None) -> WFA:
    """The automaton of rank `rank` that best explains a Hankel block (exactly, if the block is exact).

    Both bases must contain the empty word: its row and column are the automaton's ends.
    """
    for name, words in (("prefixes", hankel.prefixes), ("suffixes", hankel.suffixes)):
        if () not in words:
            raise ValueError(f"{name} lacks the empty word (): its row and column are the automaton's ends")
    parts = decompose(hankel.block, rank)
    symbols = sorted(hankel.symbol_blocks)
    operators = [parts.prefix_map.T @ (hankel.symbol_blocks[symbol] @ parts.suffix_map) for symbol in symbols]
    return WFA(
        hankel.start @ parts.suffix_map,
        np.stack(operators) if operators else np.zeros((0, parts.rank, parts.rank)),
        parts.prefix_map.T @ hankel.column,
        symbols=symbols,
        n_symbols=hankel.n_symbols,
    )
