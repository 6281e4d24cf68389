"""Sums that suffice to learn a spectral state of any rank: what incremental learning keeps instead of data."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from uqf.episodes.checks import above_zero, instance
from uqf.episodes.trajectories import Trajectories
from uqf.learn.spectral.basis import Basis, Counting, Target
from uqf.learn.spectral.decomposition import Decomposition, decompose, numerical_rank
from uqf.learn.spectral.passes import (
    OperatorSums,
    Word,
    WordCounts,
    block_matrix,
    count_words,
    reduced_blocks,
)
from uqf.learn.spectral.state import SpectralState
from uqf.learn.spectral.sums import HankelSums, Places
from uqf.learn.spectral.tally import Tally
from uqf.reading.reader import Reader
from uqf.types import Matrix


@dataclass(frozen=True)
class Statistics:
    """C = Σ y φ(u) ⊗ φ(v), c_U = Σ y φ(u) and c_V = Σ y φ(v) over episodes, and the block of every seen symbol.

    They are additive: days can be added and taken away, on any machine, in any order. Memory: with a projection
    at most (seen symbols + 1) · prefix_dim · suffix_dim cells of 24 bytes, whatever the length of the history; with
    listed words one cell for every (prefix, symbol, suffix) that occurred together. All words are kept, since
    a word that is rare today may be frequent tomorrow; `n_prefixes` and `n_suffixes` choose when learning.

    Attributes
    ----------
    basis, target
        Which words are counted, and what a history is worth.
    tally
        Episodes, lengths and seen symbols.
    sums
        The blocks.
    words : WordCounts or None
        The words and their counts, if they are listed and may become more.

    Examples
    --------
    >>> import uqf
    >>> monday, tuesday = (uqf.rollout(uqf.make("tiger"), episodes=100, seed=day) for day in (0, 1))
    >>> first, second = (uqf.UQF(2, 0.95).partial_fit(day).statistics_ for day in (monday, tuesday))
    >>> first.plus(second).minus(second).tally.lengths == first.tally.lengths
    True
    """

    basis: Basis
    target: Target
    tally: Tally
    sums: HankelSums
    words: WordCounts | None = None

    @classmethod
    def of(cls, reader: Reader, basis: Basis, target: Target) -> Statistics:
        work = partial(summarise, basis, target, reader.source.reward_size, reader.threads)
        return reader.sum("statistics", work)

    @property
    def block(self) -> Matrix:
        """C, averaged over episodes; sparse where it is large."""
        return block_matrix(self.sums) / self.tally.episodes

    def plus(self, other: Statistics) -> Statistics:
        """The statistics of both data sets; neither changes."""
        self._check(other)
        tally = self.tally.plus(other.tally)
        if self.words is None or other.words is None:
            return replace(self, tally=tally, sums=self.sums.plus(other.sums))
        words = self.words.plus(other.words)
        mine, theirs = (one._onto(words, tally.symbols) for one in (self, other))
        return replace(self, tally=tally, sums=mine.plus(theirs), words=words)

    def minus(self, other: Statistics) -> Statistics:
        """The statistics without those of a data set that was added before."""
        self._check(other)
        tally = self.tally.plus(other.tally, -1.0)
        if not tally.lengths:
            raise ValueError("nothing would be left: forget less, or begin with a fresh learner")
        words = self.words and other.words and self.words.plus(other.words, -1.0)
        mine, theirs = (one._onto(self.words, self.tally.symbols) for one in (self, other))
        left = replace(self, sums=mine.plus(theirs, -1.0))
        return replace(self, tally=tally, sums=left._onto(words, tally.symbols), words=words)

    def faded(self, factor: float) -> Statistics:
        """All sums and counts times a factor: older data count less."""
        sums = self._onto(self.words, self.tally.symbols, above_zero("factor", factor))
        return replace(
            self, tally=self.tally.faded(factor), sums=sums, words=self.words and self.words.faded(factor)
        )

    def state(self, rank: int | None) -> SpectralState:
        """The state that a fit to all the data would learn; costs no reading. A rank of None is chosen."""
        first, coverage = self, (1.0, 1.0)
        if self.words is not None:
            kept = self.words.kept(self.basis)
            first, coverage = replace(self, sums=self._onto(kept, self.tally.symbols)), self.words.share(kept)
        parts = decompose(first.block, rank, choose=True, seed=self.basis.seed)
        second = reduced_blocks(first.sums, parts.prefix_map, parts.suffix_map)
        return replace(first.spectral_state(parts, second), coverage=coverage)

    def spectral_state(self, parts: Decomposition, second: OperatorSums) -> SpectralState:
        """α = c_V V, ω = D⁻¹Uᵀ c_U, and the operators, from the sums of both passes, averaged over episodes.

        α is estimated directly from row λ at the start of the episodes. The paper's e with eᵀΦᵀ = (1, 0, …) does not
        exist when the projection is narrower than the basis.
        """
        episodes, places = self.tally.episodes, self.tally.steps + self.tally.episodes
        (known, seen), (others_known, others_seen) = self.sums.coverage
        return SpectralState(
            alpha=self.sums.start.sum(axis=1) / episodes @ parts.suffix_map,
            anchor=self.sums.average.sum(axis=1) / places @ parts.suffix_map,
            symbols=second.symbols,
            operators=second.operators / episodes,
            omega=parts.prefix_map.T @ (self.sums.column.sum(axis=1) / episodes),
            n_symbols=self.tally.n_symbols,
            decomposition=parts,
            numerical_rank=numerical_rank(parts.spectrum, self.sums.shape),
            coverage=(known / max(seen, 1), others_known / max(others_seen, 1)),
        )

    def _check(self, other: Statistics) -> None:
        instance("other", other, Statistics, "uqf.Statistics, such as UQF.statistics_")
        for name in ("basis", "target"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"statistics of another {name}, {theirs}: these are of {mine}")

    def _onto(self, words: WordCounts | None, symbols: Collection[int], factor: float = 1.0) -> HankelSums:
        """The sums on other lists of words, with the blocks of these symbols, times a factor."""
        if self.words is None or words is None:
            rows, columns = ((np.arange(size), size) for size in self.sums.shape)
        else:
            rows = _places(self.words.prefixes, words.prefixes)
            columns = _places(self.words.suffixes, words.suffixes)
        return self.sums.moved(rows, columns, symbols, factor)


def _places(words: Iterable[Word], target: Iterable[Word]) -> tuple[Places, int]:
    """Where each word stands in another list (−1: nowhere), and the length of that list."""
    position = {word: place for place, word in enumerate(target)}
    return np.array([position.get(word, -1) for word in words], np.int64), len(position)


def first_pass(counting: Counting, threads: int | None, data: Trajectories) -> Statistics:
    """The sums of some episodes without blocks by symbol, over the words that `counting` lists or projects."""
    sums = HankelSums.of(data, counting, threads=threads)
    return Statistics(counting.basis, counting.target, Tally.of(data), sums)


def summarise(
    basis: Basis, target: Target, reward_size: float, threads: int | None, data: Trajectories
) -> Statistics:
    """The statistics of some episodes, with all words that occur in them."""
    words = count_words(basis, data) if basis.projection is None else None
    listed = None if words is None else (list(words.prefixes), list(words.suffixes))
    counting = Counting(basis, target, reward_size, listed)
    sums = HankelSums.of(data, counting, by_symbol=True, threads=threads)
    return Statistics(basis, target, Tally.of(data), sums, words)
