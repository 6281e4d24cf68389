"""Summaries of the history of raw columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.columns import Columns, Sizes, columns_of
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.expected import Expectations


@dataclass(frozen=True)
class View:
    """How much of a history is summarised: the last `steps`, and with `long` counts, times and firsts of all of it."""

    steps: int
    long: bool


ViewName = Literal["now", "recent", "history"]

#: From the simplest to the richest; the first is taken on demand only.
VIEWS: dict[ViewName, View] = {"now": View(1, False), "recent": View(2, False), "history": View(4, True)}

#: Standard errors by which a column must change more often after an action than on average to be touched by it.
TOUCH_EVIDENCE = 4.0


@dataclass(frozen=True)
class Seen:
    """Episodes and their raw columns.

    columns (n_steps, d), first (n_episodes, d) or None, sizes (d,), see `uqf.episodes.columns.columns_of`
    touched (n_actions,), see `touched_columns`
    expected (2 · n_actions, 1 + n_actions · values) or (0, 0), by fold, see `Expectations`: a constant, and a weight
        for every value that an action brought last; the episodes take the folds in turn
    """

    data: Trajectories
    columns: Columns
    first: Columns | None
    sizes: Sizes
    touched: NDArray[np.int64]
    expected: NDArray[np.float32]

    @classmethod
    def of(cls, data: Trajectories) -> Seen:
        """Of a data set."""
        columns = columns_of(data)
        touched = touched_columns(data, *columns)
        return cls(data, *columns, touched, Expectations().fitted(data, columns[0], touched, columns[2]))

    def part(self, episodes: slice) -> Seen:
        """Some of the episodes; actions touch what they touch in all of them."""
        data = self.data[episodes]
        return Seen(data, *columns_of(data), self.touched, self.expected)

    def bins(self, view: View, threads: int | None) -> _core.SummaryBins:
        """Summaries at every cut of the episodes, as trees read them."""
        return _core.SummaryBins(self, view, threads=threads)

    def of_codes(self) -> NDArray[np.float32]:
        """Columns that codes stand for, (n_observations, d): means of numbers, and the commonest of a category.

        A code that the episodes never show stands for the mean of all, and for no known category (−1).
        """
        data, shown = self.data, self.data.first_observations
        codes, rows = data.observations, self.columns
        if shown is not None and self.first is not None:
            codes, rows = np.concatenate([codes, shown]), np.concatenate([rows, self.first])
        table = np.full((data.n_observations, len(self.sizes)), -1.0, np.float32)
        for column, size in enumerate(self.sizes.tolist()):
            values = rows[:, column]
            known = np.isfinite(values)
            here, values = codes[known], values[known]
            if size == 0:
                count = np.bincount(here, minlength=len(table))
                sums = np.bincount(here, values, len(table))
                mean = values.mean(dtype=np.float64) if len(values) else 0.0
                table[:, column] = np.where(count > 0, sums / np.maximum(count, 1), mean)
                continue
            pairs, count = np.unique(
                here.astype(np.int64) * size + values.astype(np.int64), return_counts=True
            )
            # The last to be written is the commonest, of several the one of the lowest number.
            order = np.lexsort([-pairs, count])
            table[pairs[order] // size, column] = pairs[order] % size
        return table


def folds(data: Trajectories) -> NDArray[np.uint8]:
    """Every other episode, as 0 and 1 for each of its steps."""
    return np.repeat((np.arange(len(data)) % 2).astype(np.uint8), data.lengths)


def touched_columns(
    data: Trajectories, columns: Columns, first: Columns | None, sizes: Sizes
) -> NDArray[np.int64]:
    """Of every action the column in which its effect is looked for, (n_actions,).

    It is the column that most clearly changes more often after the action than after others; where none does, the one
    whose changes go most with the reward.
    """
    width = len(sizes)
    if width == 1 or data.n_steps == 0:
        return np.zeros(data.n_actions, np.int64)
    before = np.concatenate([columns[:1], columns[:-1]])
    starts = data.offsets[:-1]
    before[starts] = columns[starts] if first is None else first
    changes = (columns != before).astype(np.float32)
    counts = np.bincount(data.actions, minlength=data.n_actions)[:, None]
    after = np.stack(
        [np.bincount(data.actions, changes[:, column], data.n_actions) for column in range(width)], axis=1
    )
    mean = changes.mean(axis=0, dtype=np.float64)
    # Standard errors by which a column changes more often after an action than on average.
    evidence = (after - counts * mean) / np.sqrt(np.maximum(mean * (1.0 - mean) * counts, 1e-9))
    rewards = data.rewards - data.rewards.mean()
    spread = np.sqrt(mean * (1.0 - mean)) + 1e-9
    telling = int(np.abs(rewards @ (changes - mean) / spread).argmax())
    return np.where(evidence.max(axis=1) > TOUCH_EVIDENCE, evidence.argmax(axis=1), telling)
