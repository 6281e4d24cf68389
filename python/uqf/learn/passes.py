"""What is summed over the shards of a data set: words, Hankel blocks, operators. Every function can be pickled.

A shard is read a batch at a time; nothing but the sums outlives a batch.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from uqf import _core
from uqf.errors import FileFormatError
from uqf.learn.basis import Basis, Counting, Words
from uqf.learn.map_reduce import Tick
from uqf.learn.shards import Shard, Source
from uqf.learn.tally import Tally, added
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]
Word = tuple[int, ...]

#: A checksum of every shard, in their order: a shard that changes between two readings is found out.
Marks = tuple[int, ...]


class Reading:
    """One reading of a shard, with the checksum of what was read."""

    def __init__(self, shard: Shard, tick: Tick | None) -> None:
        self.shard, self.tick, self.mark = shard, tick, 0

    def __iter__(self) -> Iterator[Trajectories]:
        for batch in self.shard.batches():
            if self.shard.changeable:
                for array in (batch.offsets, batch.actions, batch.observations, batch.rewards):
                    self.mark = zlib.crc32(np.ascontiguousarray(array).data, self.mark)
            yield batch
            if self.tick is not None:
                self.tick(batch.n_steps)


def check_marks(source: Source, before: Marks, after: Marks) -> None:
    """Refuses shards that were not the same at two readings."""
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            raise FileFormatError(
                f"{source[index].name}: the file changed while it was being read; fit again when it is at rest"
            )


@dataclass(frozen=True)
class WordCounts:
    """How often every prefix and every suffix occurs."""

    prefixes: dict[Word, float]
    suffixes: dict[Word, float]
    marks: Marks

    def plus(self, other: WordCounts) -> WordCounts:
        """The counts of both."""
        prefixes, suffixes = added(self.prefixes, other.prefixes), added(self.suffixes, other.suffixes)
        return WordCounts(prefixes, suffixes, self.marks + other.marks)

    def listed(self, basis: Basis) -> Words:
        """The words that the basis keeps."""
        return ranked(self.prefixes, basis.n_prefixes), ranked(self.suffixes, basis.n_suffixes)


def ranked(counts: dict[Word, float], limit: int | None) -> list[Word]:
    """The most frequent words first; ties go to the shorter, then to the smaller word, as in the core."""
    return sorted(counts, key=lambda word: (-counts[word], len(word), word))[:limit]


def words_of(data: Trajectories, occurrences: str, longest: int) -> dict[Word, float]:
    """All words of up to so many symbols with their counts."""
    words, counts = _core.most_frequent(data, occurrences=occurrences, max_length=longest)
    return dict(zip(map(tuple, words), map(float, counts), strict=True))


def count_words(basis: Basis, shard: Shard, tick: Tick | None = None) -> WordCounts:
    """The words of a shard."""
    total, reading = WordCounts({}, {}, ()), Reading(shard, tick)
    for batch in reading:
        prefixes = words_of(batch, basis.occurrences, basis.max_prefix)
        suffixes = words_of(batch, "anywhere", basis.max_suffix)
        total = total.plus(WordCounts(prefixes, suffixes, ()))
    return WordCounts(total.prefixes, total.suffixes, (reading.mark,))


@dataclass(frozen=True)
class Counted:
    """Hankel sums, and whatever else is counted along the way."""

    sums: _core.HankelStatistics
    tally: Tally
    marks: Marks

    def plus(self, other: Counted) -> Counted:
        """The sums of both."""
        return Counted(self.sums.plus(other.sums), self.tally.plus(other.tally), self.marks + other.marks)


def first_pass(
    counting: Counting, by_symbol: bool, threads: int | None, shard: Shard, tick: Tick | None = None
) -> Counted:
    """The Hankel sums of a shard."""
    settings, reading, tally = counting.settings(), Reading(shard, tick), None
    sums = _core.HankelStatistics.empty(settings, by_symbol=by_symbol)
    for batch in reading:
        sums.merge(_core.HankelStatistics.accumulate(batch, settings, by_symbol=by_symbol, threads=threads))
        tally = Tally.of(batch) if tally is None else tally.plus(Tally.of(batch))
    if tally is None:
        raise FileFormatError(f"{shard.name}: the shard holds no episode")
    return Counted(sums, tally, (reading.mark,))


@dataclass(frozen=True)
class OperatorSums:
    """Operators summed over episodes: symbols (seen,) in increasing order, operators (seen, rank, rank)."""

    symbols: NDArray[np.int64]
    operators: FloatArray
    marks: Marks

    def plus(self, other: OperatorSums) -> OperatorSums:
        """The sums of both."""
        symbols = np.union1d(self.symbols, other.symbols)
        operators = np.zeros((len(symbols), *self.operators.shape[1:]))
        for one in (self, other):
            operators[np.searchsorted(symbols, one.symbols)] += one.operators
        return OperatorSums(symbols, operators, self.marks + other.marks)


def second_pass(
    counting: Counting,
    prefix_map: FloatArray,
    suffix_map: FloatArray,
    threads: int | None,
    shard: Shard,
    tick: Tick | None = None,
) -> OperatorSums:
    """The operators of a shard, from the reduced maps of the decomposition."""
    settings, reading, rank = counting.settings(), Reading(shard, tick), prefix_map.shape[1]
    # Arrays that came over a network may begin anywhere in memory.
    prefix_map, suffix_map = (np.require(one, np.float64, ["C", "A"]) for one in (prefix_map, suffix_map))
    total = OperatorSums(np.zeros(0, np.int64), np.zeros((0, rank, rank)), ())
    for batch in reading:
        sums = _core.sum_operators(batch, settings, prefix_map, suffix_map, threads=threads)
        total = total.plus(OperatorSums(*sums, ()))
    return OperatorSums(total.symbols, total.operators, (reading.mark,))


def reduced_blocks(
    sums: _core.HankelStatistics, prefix_map: FloatArray, suffix_map: FloatArray
) -> OperatorSums:
    """The same operators from the blocks that were kept by symbol, without another reading."""
    symbols, shape = np.array(sums.symbols, np.int64), sums.shape[:2]
    operators = np.zeros((len(symbols), prefix_map.shape[1], suffix_map.shape[1]))
    for place, symbol in enumerate(symbols):
        rows, columns, values = sums.symbol_block(int(symbol))
        block = scipy.sparse.csr_array((values, (rows, columns)), shape=shape)
        operators[place] = prefix_map.T @ (block @ suffix_map)
    return OperatorSums(symbols, operators, ())


def plus(one: Any, other: Any) -> Any:
    """The sum of two results of the same pass."""
    return one.plus(other)
