"""Products of what a memory keeps, summed by action; only those that may differ from zero are taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import propensities
from uqf.episodes.sums import cut_before
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.features import Memory, Rows


@dataclass(frozen=True)
class Grams:
    """Σ w x xᵀ by action: blocks by group, over its columns, and Σ w over first steps without one."""

    blocks: dict[int, dict[int, FloatArray]]
    starts: FloatArray

    @classmethod
    def of(cls, memory: Memory, rows: Rows, data: Trajectories) -> Grams:
        """Of episodes with these rows."""
        weights = 1.0 / (data.n_actions * propensities(data))
        groups = memory.group_before(data)
        # Where something was shown before the first step, that step has a group as well.
        first = data.offsets[:-1][groups[data.offsets[:-1]] < 0]
        later = np.flatnonzero(groups >= 0)
        cells = groups[later] * data.n_actions + data.actions[later]
        order = later[np.argsort(cells, kind="stable")]
        chosen = rows[cut_before(data)[order]]
        chosen *= np.sqrt(weights[order])[:, np.newaxis].astype(np.float32)
        counts = np.unique(cells, return_counts=True)[1]
        begins = np.cumsum(counts) - counts
        blocks: dict[int, dict[int, FloatArray]] = {int(action): {} for action in np.unique(data.actions)}
        widths = np.array([len(columns) for columns in memory.groups])
        width_of = widths[groups[order[begins]]] if len(order) else begins
        for width in np.unique(width_of):
            same = np.flatnonzero(width_of == width)
            for cell, gram in zip(
                same, _products(memory, chosen, groups[order], begins, counts, same, width), strict=True
            ):
                step = order[begins[cell]]
                blocks[int(data.actions[step])][int(groups[step])] = gram
        starts = np.bincount(data.actions[first], weights[first], data.n_actions)
        return cls(blocks, np.asarray(starts, np.float64))

    def plus(self, other: Grams) -> Grams:
        """The sums of both."""
        merged = {action: dict(blocks) for action, blocks in self.blocks.items()}
        for action, blocks in other.blocks.items():
            mine = merged.setdefault(action, {})
            for group, block in blocks.items():
                mine[group] = mine[group] + block if group in mine else block
        return Grams(merged, self.starts + other.starts)

    def together(self) -> Grams:
        """All actions as one, number 0."""
        sums: dict[int, FloatArray] = {}
        for blocks in self.blocks.values():
            for group, block in blocks.items():
                sums[group] = sums[group] + block if group in sums else block
        return Grams({0: sums}, self.starts.sum(keepdims=True))

    def weight(self, action: int) -> float:
        """Σ w over the steps with an action."""
        return float(self.starts[action] + sum(block[0, 0] for block in self.blocks[action].values()))

    def touched(self, action: int, memory: Memory) -> tuple[NDArray[np.int64], FloatArray]:
        """(columns of the groups that steps with an action have, Σ w x xᵀ over them); first steps are left out."""
        blocks = self.blocks[action]
        columns = np.unique(np.concatenate([[0], *(memory.groups[group] for group in blocks)]))
        total = np.zeros((len(columns), len(columns)))
        for group, block in blocks.items():
            places = np.searchsorted(columns, memory.groups[group])
            total[places[:, np.newaxis], places] += block
        return columns, total

    def whole(self, action: int, memory: Memory) -> FloatArray:
        """Σ w x xᵀ over the steps with an action, (width, width)."""
        total = self.starts[action] * np.outer(memory.start, memory.start)
        columns, touched = self.touched(action, memory)
        total[columns[:, np.newaxis], columns] += touched
        return np.asarray(total)


def _products(
    memory: Memory,
    rows: Rows,
    groups: NDArray[np.int64],
    begins: NDArray[np.int64],
    counts: NDArray[np.int64],
    cells: NDArray[np.int64],
    width: int,
    small: int = 6,
) -> Iterator[FloatArray]:
    """xᵀx of every cell, a run of rows with the same action and group, over its `width` columns.

    Cells of up to `small` columns are multiplied together.
    """
    if width > small:
        for begin, count in zip(begins[cells], counts[cells], strict=True):
            part = np.take(rows[begin : begin + count], memory.groups[groups[begin]], axis=1)
            yield (part.T @ part).astype(np.float64)
        return
    # Many small ones: all outer products first, then their sums.
    runs = np.repeat(begins[cells] - np.cumsum(counts[cells]) + counts[cells], counts[cells])
    places = runs + np.arange(len(runs))
    columns = np.stack([memory.groups[group] for group in groups[places[np.cumsum(counts[cells]) - 1]]])
    part = np.take_along_axis(rows[places], np.repeat(columns, counts[cells], axis=0), axis=1)
    outer = np.einsum("ni,nj->nij", part, part, dtype=np.float64)
    yield from np.add.reduceat(outer, np.cumsum(counts[cells]) - counts[cells], axis=0)
