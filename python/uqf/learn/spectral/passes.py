"""What is summed over episodes: words, Hankel blocks, operators. Every function can be pickled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.learn.spectral.basis import Basis, Counting, Words
from uqf.learn.spectral.decomposition import FULL_SVD_SIZE
from uqf.learn.spectral.sums import HankelSums
from uqf.learn.spectral.tally import added, scaled
from uqf.reading.reader import Reader
from uqf.reading.shards import Blocks
from uqf.types import Matrix

Word = tuple[int, ...]


@dataclass(frozen=True)
class WordCounts:
    """How often every prefix and every suffix occurs."""

    prefixes: dict[Word, float]
    suffixes: dict[Word, float]

    def plus(self, other: WordCounts, sign: float = 1.0) -> WordCounts:
        """The counts of both, or of what is left without the other (`sign` −1)."""
        return WordCounts(
            added(self.prefixes, other.prefixes, sign), added(self.suffixes, other.suffixes, sign)
        )

    def faded(self, factor: float) -> WordCounts:
        return WordCounts(scaled(self.prefixes, factor), scaled(self.suffixes, factor))

    def kept(self, basis: Basis) -> WordCounts:
        """The most frequent ones, in the order of their counts, as many as the basis has."""
        limits = ((self.prefixes, basis.n_prefixes), (self.suffixes, basis.n_suffixes))
        return WordCounts(
            *({word: counts[word] for word in ranked(counts, limit)} for counts, limit in limits)
        )

    def share(self, kept: WordCounts) -> tuple[float, float]:
        """Shares of the prefixes and of the suffixes, as often as they occur, that are kept."""
        return (
            sum(kept.prefixes.values()) / sum(self.prefixes.values()),
            sum(kept.suffixes.values()) / sum(self.suffixes.values()),
        )


def count_words(basis: Basis, data: Trajectories) -> WordCounts:
    """All words of up to so many symbols with their counts."""

    def counted(occurrences: str, longest: int) -> dict[Word, float]:
        words, counts = _core.most_frequent(data, occurrences=occurrences, max_length=longest)
        return dict(zip(map(tuple, words), map(float, counts), strict=True))

    return WordCounts(counted(basis.occurrences, basis.max_prefix), counted("anywhere", basis.max_suffix))


def ranked(counts: dict[Word, float], limit: int | None) -> list[Word]:
    """The most frequent words first; ties go to the shorter, then to the smaller word, as in the core."""
    return sorted(counts, key=lambda word: (-counts[word], len(word), word))[:limit]


def listed_words(reader: Reader, basis: Basis) -> Words | None:
    """The words of the basis, the most frequent first; None if words are projected instead of listed."""
    if basis.projection is not None:
        return None
    if isinstance(reader.source, Blocks):
        # In memory the core lists them by itself, without passing every word to Python.
        reader.reporter.enter("counting words", reader.n_steps)
        data, limits = reader.source.data, (basis.n_prefixes, basis.n_suffixes)
        kinds = ((basis.occurrences, basis.max_prefix), ("anywhere", basis.max_suffix))
        prefixes, suffixes = (
            _core.most_frequent(data, occurrences=where, max_length=longest, limit=limit)[0]
            for (where, longest), limit in zip(kinds, limits, strict=True)
        )
        return prefixes, suffixes
    counts = reader.sum("counting words", partial(count_words, basis)).kept(basis)
    return list(counts.prefixes), list(counts.suffixes)


def block_matrix(sums: HankelSums) -> Matrix:
    """The summed block, dense unless that would be large."""
    made = sums.block()
    return made if min(sums.shape) > FULL_SVD_SIZE else made.toarray()


@dataclass(frozen=True)
class OperatorSums:
    """Operators summed over episodes: symbols (seen,) in increasing order, operators (seen, rank, rank)."""

    symbols: NDArray[np.int64]
    operators: FloatArray

    def plus(self, other: OperatorSums) -> OperatorSums:
        symbols = np.union1d(self.symbols, other.symbols)
        operators = np.zeros((len(symbols), *self.operators.shape[1:]))
        for one in (self, other):
            operators[np.searchsorted(symbols, one.symbols)] += one.operators
        return OperatorSums(symbols, operators)


def operator_sums(
    counting: Counting,
    prefix_map: FloatArray,
    suffix_map: FloatArray,
    threads: int | None,
    data: Trajectories,
) -> OperatorSums:
    """The second pass over some episodes: A_σ = Σ y (D⁻¹Uᵀφ(u)) ⊗ (Vᵀφ(v))."""
    # Arrays that came over a network may begin anywhere in memory.
    maps = (np.require(one, np.float64, ["C", "A"]) for one in (prefix_map, suffix_map))
    return OperatorSums(*_core.sum_operators(data, counting, *maps, threads=threads))


def reduced_blocks(sums: HankelSums, prefix_map: FloatArray, suffix_map: FloatArray) -> OperatorSums:
    """The same operators from blocks that were kept by symbol, without another reading."""
    symbols = np.array(sums.symbols, np.int64)
    operators = np.zeros((len(symbols), prefix_map.shape[1], suffix_map.shape[1]))
    for place, symbol in enumerate(sums.symbols):
        operators[place] = prefix_map.T @ (sums.block(symbol) @ suffix_map)
    return OperatorSums(symbols, operators)
