"""Where alternation begins: the last words, and the next words, times and returns that they predict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import cut_before, returns_to_go, time_within
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.filters.canonical import Canonical
from uqf.learn.memory.filters.steps import IntArray, Rows, Steps


@dataclass(frozen=True)
class Words:
    """Settings of the first states.

    max_length, min_count, max_words : words are so long at most, must have occurred so often, and are so many at most,
        the commonest, on either side
    time_scales, max_time : the past knows the time t, `max_time` at most, as exp(−t / scale)
    discounts : the future has returns at these
    ridge : penalty of the canonical coordinates, in cuts
    """

    max_length: int = 2
    min_count: int = 10
    max_words: int = 600
    time_scales: tuple[float, ...] = (2.0, 5.0, 10.0, 20.0, 40.0)
    max_time: int = 60
    discounts: tuple[float, ...] = (0.8, 0.95)
    ridge: float = 300.0


@dataclass(frozen=True)
class Features:
    """[1, times or returns, which words there are] at every cut."""

    numbers: Rows
    words: scipy.sparse.csr_array

    def products(self, other: Features) -> FloatArray:
        """Σ x yᵀ over all cuts, in double precision: a million terms leave too few digits of single ones."""
        (mine, words), (theirs, others) = self._double(), other._double()
        blocks = [
            [mine.T @ theirs, (others.T @ mine).T],
            [words.T @ theirs, (words.T @ others).toarray()],
        ]
        return np.block(blocks)

    def _double(self) -> tuple[FloatArray, scipy.sparse.csr_array]:
        return self.numbers.astype(np.float64), self.words.astype(np.float64)

    def mapped(self, table: FloatArray) -> Rows:
        """[1, x · table] at every cut."""
        single = table.astype(np.float32)
        count = self.numbers.shape[1]
        return with_constant(self.numbers @ single[:count] + self.words @ single[count:])


def first_states(steps: Steps, rank: int, settings: Words) -> tuple[Rows, Rows]:
    """(past, future) at every cut, (n_cuts, 1 + rank): the canonical coordinates of words on either side."""
    past, future = _past(steps, settings), _future(steps, settings)
    products = (past.products(past), past.products(future), future.products(future))
    canonical = Canonical.of(*products, rank, settings.ridge)
    return past.mapped(canonical.past), future.mapped(canonical.future)


def with_constant(rows: NDArray[np.floating]) -> Rows:
    """The rows with 1 before each."""
    wider = np.ones((len(rows), 1 + rows.shape[1]), np.float32)
    wider[:, 1:] = rows
    return wider


def _past(steps: Steps, settings: Words) -> Features:
    data = steps.data
    n_cuts = data.n_steps + len(data)
    times = np.zeros(n_cuts)
    times[cut_before(data) + 1] = np.minimum(time_within(data) + 1, settings.max_time)
    numbers = np.exp(-times[:, np.newaxis] / np.array(settings.time_scales))
    # The symbol before every cut; there is none before the first.
    symbols = np.full(n_cuts, -1, np.int64)
    symbols[cut_before(data) + 1] = steps.places
    words = _words(symbols, _episodes(data), len(steps.alphabet), settings, backward=True)
    return Features(with_constant(numbers), words)


def _future(steps: Steps, settings: Words) -> Features:
    data = steps.data
    n_cuts, end = data.n_steps + len(data), len(steps.alphabet)
    numbers = np.zeros((n_cuts, len(settings.discounts)))
    for column, discount in enumerate(settings.discounts):
        numbers[cut_before(data), column] = returns_to_go(data, discount)
    # The symbol after every cut; the end of the world is one, the end of the recording is not.
    symbols = np.full(n_cuts, -1, np.int64)
    symbols[cut_before(data)] = steps.places
    symbols[steps.last_cuts[data.terminated]] = end
    words = _words(symbols, _episodes(data), end + 1, settings, backward=False)
    return Features(with_constant(numbers), words)


def _episodes(data: Trajectories) -> IntArray:
    """The episode of every cut."""
    return np.repeat(np.arange(len(data)), data.lengths + 1)


def _words(
    symbols: IntArray, episodes: IntArray, n_symbols: int, settings: Words, *, backward: bool
) -> scipy.sparse.csr_array:
    """Which words go from every cut, 1 where there is one: (n_cuts, n_words).

    `symbols` are those next to the cuts in the direction of the words, −1 where there is none; `episodes` are those of
    the cuts.
    """
    n_cuts = len(symbols)
    cuts, words = np.arange(n_cuts), np.zeros(n_cuts, np.int64)
    places: list[tuple[IntArray, IntArray]] = []
    counts: list[IntArray] = []
    for length in range(settings.max_length):
        # A word of one more symbol is the word before it and the symbol beyond its end.
        beyond = np.clip(cuts - length if backward else cuts + length, 0, n_cuts - 1)
        longer = (episodes[beyond] == episodes[cuts]) & (symbols[beyond] >= 0)
        cuts, codes = cuts[longer], words[longer] * n_symbols + symbols[beyond[longer]]
        # By sorting: a counter for every pair of a frequent and a seen symbol may not fit into memory.
        _, codes, count = np.unique(codes, return_inverse=True, return_counts=True)
        frequent = count >= settings.min_count
        kept = frequent[codes]
        cuts, words = cuts[kept], (np.cumsum(frequent) - 1)[codes[kept]]
        places.append((cuts, words + sum(map(len, counts))))
        counts.append(count[frequent])
    rows, columns = (np.concatenate(parts) for parts in zip(*places, strict=True))
    total = np.concatenate(counts)
    commonest = np.sort(np.argsort(-total, kind="stable")[: settings.max_words])
    place = np.full(len(total), -1)
    place[commonest] = np.arange(len(commonest))
    chosen = place[columns] >= 0
    cells = (np.ones(chosen.sum(), np.float32), (rows[chosen], place[columns[chosen]]))
    return scipy.sparse.csr_array(cells, shape=(n_cuts, len(commonest)))
