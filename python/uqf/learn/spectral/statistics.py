"""Sums that suffice to learn a spectral state of any rank: what incremental learning keeps instead of data."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.trajectories import Trajectories
from uqf.learn.spectral.basis import Basis, Counting, Target
from uqf.learn.spectral.decomposition import decompose
from uqf.learn.spectral.passes import HankelSums, Word, count_words, ranked, reduced_blocks
from uqf.learn.spectral.state import SpectralState
from uqf.learn.spectral.tally import Tally, added, scaled
from uqf.reading.reader import Reader

#: The words of the rows, or of the columns, in their order, with their counts.
WordRows = dict[Word, float]

#: Places of cells and their sums, two parts each.
Cells = tuple[NDArray[np.uint64], NDArray[np.float64]]


@dataclass(frozen=True)
class Statistics:
    """The Hankel block and the block of every seen symbol, summed over episodes.

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
    prefixes, suffixes : {word: count} or None
        The words, unless they are projected.

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
    sums: _core.HankelStatistics
    prefixes: WordRows | None = None
    suffixes: WordRows | None = None

    @classmethod
    def of(cls, reader: Reader, basis: Basis, target: Target) -> Statistics:
        """One pass over a data set."""
        work = partial(summarise, basis, target, reader.source.reward_size, reader.threads)
        return reader.sum("statistics", work)

    def plus(self, other: Statistics) -> Statistics:
        """The statistics of both data sets; neither changes."""
        self._check(other)
        tally = self.tally.plus(other.tally)
        if self.prefixes is None or self.suffixes is None:
            return replace(self, tally=tally, sums=self.sums.plus(other.sums))
        prefixes = added(self.prefixes, other.prefixes or {})
        suffixes = added(self.suffixes, other.suffixes or {})
        mine, theirs = (one._onto(prefixes, suffixes, tally) for one in (self, other))
        mine.merge(theirs)
        return Statistics(self.basis, self.target, tally, mine, prefixes, suffixes)

    def minus(self, other: Statistics) -> Statistics:
        """The statistics without those of a data set that was added before."""
        self._check(other)
        tally = self.tally.plus(other.tally, -1.0)
        if not tally.lengths:
            raise ValueError("nothing would be left: forget less, or begin with a fresh learner")
        if self.prefixes is None or self.suffixes is None:
            rows, columns = map(np.arange, self.sums.shape)
            copy = relabelled(self.sums, rows, columns, self.sums.shape, symbols=self.tally.symbols)
            copy.subtract(other.sums)
            sums = relabelled(copy, rows, columns, copy.shape, symbols=tally.symbols)
            return replace(self, tally=tally, sums=sums)
        prefixes = added(self.prefixes, other.prefixes or {}, -1.0)
        suffixes = added(self.suffixes, other.suffixes or {}, -1.0)
        copy = self._onto(self.prefixes, self.suffixes, self.tally)
        copy.subtract(other._onto(self.prefixes, self.suffixes, self.tally))
        left = replace(self, sums=copy)
        return Statistics(
            self.basis, self.target, tally, left._onto(prefixes, suffixes, tally), prefixes, suffixes
        )

    def faded(self, factor: float) -> Statistics:
        """All sums and counts times a factor: older data count less."""
        rows, columns = map(np.arange, self.sums.shape)
        sums = relabelled(
            self.sums, rows, columns, self.sums.shape, symbols=self.tally.symbols, factor=factor
        )
        prefixes = None if self.prefixes is None else scaled(self.prefixes, factor)
        suffixes = None if self.suffixes is None else scaled(self.suffixes, factor)
        return replace(self, tally=self.tally.faded(factor), sums=sums, prefixes=prefixes, suffixes=suffixes)

    def state(self, rank: int | None) -> SpectralState:
        """The state that a fit to all the data would learn; costs no reading. A rank of None is chosen."""
        sums, coverage = self.sums, (1.0, 1.0)
        if self.prefixes is not None and self.suffixes is not None:
            rows = ranked(self.prefixes, self.basis.n_prefixes)
            columns = ranked(self.suffixes, self.basis.n_suffixes)
            sums = self._onto(rows, columns, self.tally)
            coverage = _share(self.prefixes, rows), _share(self.suffixes, columns)
        first = HankelSums(sums, self.tally)
        parts = decompose(first.block, rank, choose=True, seed=self.basis.seed)
        return SpectralState.of(
            first, parts, reduced_blocks(sums, parts.prefix_map, parts.suffix_map), coverage
        )

    def _check(self, other: Statistics) -> None:
        for name in ("basis", "target"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"statistics of another {name}, {theirs}: these are of {mine}")

    def _onto(
        self, prefixes: Iterable[Word], suffixes: Iterable[Word], tally: Tally
    ) -> _core.HankelStatistics:
        """The sums on other lists of words."""
        rows, columns = _places(self.prefixes or {}, prefixes), _places(self.suffixes or {}, suffixes)
        return relabelled(self.sums, rows[0], columns[0], (rows[1], columns[1]), symbols=tally.symbols)


def _places(words: Iterable[Word], target: Iterable[Word]) -> tuple[Places, int]:
    """Where each word stands in another list (−1: nowhere), and the length of that list."""
    position = {word: place for place, word in enumerate(target)}
    return np.array([position.get(word, -1) for word in words], np.int64), len(position)


def _share(counts: WordRows, kept: Iterable[Word]) -> float:
    return sum(counts[word] for word in kept) / sum(counts.values())


def summarise(
    basis: Basis, target: Target, reward_size: float, threads: int | None, data: Trajectories
) -> Statistics:
    """The statistics of some episodes."""
    prefixes = suffixes = words = None
    if basis.projection is None:
        found = count_words(basis, data)
        prefixes, suffixes = found.prefixes, found.suffixes
        words = list(prefixes), list(suffixes)
    settings = Counting(basis, target, reward_size, words).settings()
    sums = _core.HankelStatistics.accumulate(data, settings, by_symbol=True, threads=threads)
    return Statistics(basis, target, Tally.of(data), sums, prefixes, suffixes)


Places = NDArray[np.int64]


def relabelled(
    sums: _core.HankelStatistics,
    rows: Places,
    columns: Places,
    shape: tuple[int, int],
    *,
    symbols: Collection[int],
    factor: float = 1.0,
) -> _core.HankelStatistics:
    """A copy in which row i is row ``rows[i]`` and column j is column ``columns[j]``; −1 leaves it out.

    Only the blocks of `symbols` are kept, and all sums are multiplied by `factor`. Cells that are zero, such
    as those of forgotten data, are dropped.
    """
    state = sums.__getstate__()
    width = state["shape"][1]

    def moved_cells(
        stored: tuple[NDArray[np.uint64], NDArray[np.float64]],
    ) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        keys, parts = stored[0].astype(np.int64), stored[1].reshape(-1, 2)
        row, column = rows[keys // width], columns[keys % width]
        kept = (row >= 0) & (column >= 0) & (parts != 0.0).any(axis=1)
        return (row * shape[1] + column)[kept].astype(np.uint64), factor * parts[kept].ravel()

    def moved(parts: NDArray[np.float64], places: Places, length: int) -> NDArray[np.float64]:
        out, kept = np.zeros((length, 2)), places >= 0
        out[places[kept]] = factor * parts.reshape(-1, 2)[kept]
        return out.ravel()

    state["block"] = moved_cells(state["block"])
    blocks = state["symbol_blocks"]
    state["symbol_blocks"] = {symbol: moved_cells(blocks[symbol]) for symbol in blocks if symbol in symbols}
    state["column"] = moved(state["column"], rows, shape[0])
    state["start"] = moved(state["start"], columns, shape[1])
    state["average"] = moved(state["average"], columns, shape[1])
    state["shape"] = shape
    return _core.HankelStatistics.from_state(state)
