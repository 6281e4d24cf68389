"""What a learner keeps of a history, in numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.reading.parallel import in_order
from uqf.reading.reader import Sum

Rows = NDArray[np.float32]


class Memory(Protocol):
    """What is remembered of a history, in numbers. It can be pickled."""

    @property
    def width(self) -> int:
        """Numbers of a row."""

    @property
    def groups(self) -> list[NDArray[np.int64]]:
        """Columns that may differ from zero together, the constant first; other products are never taken."""

    @property
    def start(self) -> FloatArray:
        """The row before the first step of every episode, (width,); it belongs to no group."""

    def rows(self, data: Trajectories, threads: int | None) -> Rows:
        """(n_steps + n_episodes, width), at every cut; the first column is 1."""

    def group_before(self, data: Trajectories) -> NDArray[np.int64]:
        """The group of the row before every step, (n_steps,); −1 before the first."""


class Parts:
    """Episodes with the rows that a memory has of them, a part at a time.

    A part has about `part_cells` numbers. Rows are kept for the next time if there are `max_kept` numbers at most, and
    computed again otherwise: memory is bounded whatever the data.
    """

    def __init__(
        self,
        memory: Memory,
        data: Trajectories,
        threads: int | None,
        part_cells: int = 1_500_000,
        max_kept: int = 25_000_000,
    ) -> None:
        self.memory, self.data, self.threads, self.part_cells = memory, data, threads, part_cells
        self._keeps = (data.n_steps + len(data)) * memory.width <= max_kept
        self._kept: dict[int, Rows] = {}

    def sum(self, work: Callable[[Rows, Trajectories], Sum]) -> Sum:
        """The sum of `work` over all parts, added in their order on any number of threads."""
        total: Sum | None = None
        for term in in_order(partial(self._done, work), self._cut(), self.threads):
            total = term if total is None else total.plus(term)
        assert total is not None, "a data set has at least one episode"
        return total

    def _done(self, work: Callable[[Rows, Trajectories], Sum], bounds: tuple[int, int]) -> Sum:
        part = self.data[bounds[0] : bounds[1]]
        rows = self._kept.get(bounds[0])
        if rows is None:
            rows = self.memory.rows(part, 1)
            if self._keeps:
                self._kept[bounds[0]] = rows
        return work(rows, part)

    def _cut(self) -> Iterator[tuple[int, int]]:
        """(first episode, last + 1) of every part."""
        steps, data = max(1, self.part_cells // self.memory.width), self.data
        cuts = np.unique(np.searchsorted(data.offsets[:-1], np.arange(0, data.n_steps, steps)))
        return pairwise([*cuts[cuts < len(data)].tolist(), len(data)])
