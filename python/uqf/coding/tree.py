"""Trees of questions whose leaves predict, as scikit-learn grows them, whose import takes a second and 120 MB."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from uqf.types import Floats

#: Features of yes and no that are summed at a time: as numbers they take eight times the memory.
BLOCK = 64


@dataclass(frozen=True)
class Tree:
    """Arrays with an entry for every node; children come in pairs, in the order in which nodes were split.

    So a tree of k leaves is the first 2k - 1 nodes of every larger one.
    """

    feature: NDArray[np.int64]
    """What is asked about; −1 at a leaf."""
    threshold: Floats
    """At most this goes left; infinity where only missing values go right."""
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats
    """Mean of the targets, (nodes, targets)."""

    def apply(self, seen: NDArray[np.float32]) -> NDArray[np.int64]:
        """The leaf of every row."""
        at, inner = np.zeros(len(seen), np.int64), np.arange(len(seen) if self.feature[0] >= 0 else 0)
        while len(inner):
            node = at[inner]
            asked = seen[inner, self.feature[node]]
            goes_left = np.where(np.isnan(asked), self.missing_left[node], asked <= self.threshold[node])
            at[inner] = np.where(goes_left, self.left[node], self.right[node])
            inner = inner[self.feature[at[inner]] >= 0]
        return at


@dataclass(frozen=True)
class Split:
    """The best question about some rows, and by how much it lowers their squared error."""

    gain: float
    feature: int
    threshold: float
    missing_left: bool


def grown(seen: NDArray[np.float32], targets: Floats, leaves: int | None = None, smallest: int = 1) -> Tree:
    """A tree of at most so many leaves; the leaf whose split lowers the squared error most is split next.

    seen : (rows, features) whole numbers from 0 on, few different ones; NaN where one is missing
    targets : (rows, targets)
    smallest : fewest rows of a leaf

    Of equally good splits the first feature's is taken.
    """
    finder = _Finder(seen, targets, smallest)
    nodes, members = [_leaf(targets)], [np.arange(len(seen))]
    waiting: list[tuple[float, int, Split]] = []

    def consider(node: int) -> None:
        if (split := finder.best(members[node])) is not None:
            heappush(waiting, (-split.gain, node, split))

    consider(0)
    while waiting and (leaves is None or len(nodes) < 2 * leaves - 1):
        _, node, split = heappop(waiting)
        rows = members[node]
        asked = seen[rows, split.feature]
        goes_left = np.where(np.isnan(asked), split.missing_left, asked <= split.threshold)
        nodes[node] = (
            split.feature, split.threshold, split.missing_left, len(nodes), len(nodes) + 1, nodes[node][5]
        )  # fmt: skip
        members += [rows[goes_left], rows[~goes_left]]
        nodes += [_leaf(targets[one]) for one in members[-2:]]
        consider(len(nodes) - 2)
        consider(len(nodes) - 1)
    columns = zip(*nodes, strict=True)
    kinds = (np.int64, np.float64, np.bool_, np.int64, np.int64, np.float64)
    return Tree(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))


def _leaf(targets: Floats) -> tuple[int, float, bool, int, int, Floats]:
    return -1, 0.0, False, -1, -1, targets.mean(axis=0)


class _Finder:
    """The best split of any rows. Features of yes and no are counted together, by one product of matrices."""

    def __init__(self, seen: NDArray[np.float32], targets: Floats, smallest: int) -> None:
        self.targets, self.smallest = targets, smallest
        is_flag = ((seen == 0) | (seen == 1)).all(axis=0)
        self.flags, self.held = np.flatnonzero(is_flag), seen[:, is_flag].astype(np.bool_)
        self.bins = {
            int(one): int(np.nanmax(seen[:, one], initial=-1)) + 1 for one in np.flatnonzero(~is_flag)
        }
        # A missing number is in a bin of its own, the last.
        self.codes = {
            one: np.where(np.isnan(seen[:, one]), bins, seen[:, one]).astype(np.intp)
            for one, bins in self.bins.items()
        }

    def best(self, rows: NDArray[np.int64]) -> Split | None:
        """None if these rows cannot be split, or have the same targets."""
        targets, count = self.targets[rows], len(rows)
        total = targets.sum(axis=0)
        unexplained = float(np.vdot(targets, targets)) - float((total**2).sum()) / count
        if count < 2 * self.smallest or unexplained <= np.finfo(float).eps * targets.size:
            return None
        splits = [*self._by_flags(rows, targets, total)]
        for feature, codes in self.codes.items():
            splits += self._by_number(feature, codes[rows], targets, total)
        return max(splits, key=lambda one: (one.gain, -one.feature), default=None)

    def _by_flags(self, rows: NDArray[np.int64], targets: Floats, total: Floats) -> Iterator[Split]:
        held = self.held[rows]
        counts = held.sum(axis=0)
        parts = [
            held[:, first : first + BLOCK].T.astype(np.float64) @ targets
            for first in range(0, len(counts), BLOCK)
        ]
        sums = np.concatenate([np.empty((0, len(total))), *parts])
        gains = self._gains(len(rows) - counts, total - sums, len(rows), total)
        if len(gains) and gains.max() > -np.inf:
            best = int(gains.argmax())
            yield Split(float(gains[best]), int(self.flags[best]), 0.5, 2 * counts[best] < len(rows))

    def _by_number(
        self, feature: int, codes: NDArray[np.intp], targets: Floats, total: Floats
    ) -> Iterator[Split]:
        bins = self.bins[feature]
        counts = np.bincount(codes, minlength=bins + 1)
        sums = np.stack([np.bincount(codes, one, bins + 1) for one in targets.T], axis=1)
        held, missing = np.flatnonzero(counts[:bins]), int(counts[bins])
        left, left_sums = counts[held].cumsum(), sums[held].cumsum(axis=0)
        # Between two numbers in the middle; the last question is whether there is a number.
        thresholds = np.append((held[1:] + held[:-1]) / 2, np.inf)
        for missing_left in (False, True)[: 1 + (missing > 0)]:
            more = (missing, sums[bins]) if missing_left else (0, 0.0)
            gains = self._gains(left + more[0], left_sums + more[1], len(codes), total)
            if len(gains) and gains.max() > -np.inf:
                best = int(gains.argmax())
                goes_left = missing_left if missing else bool(2 * left[best] > len(codes))
                yield Split(float(gains[best]), feature, float(thresholds[best]), goes_left)

    def _gains(self, left: NDArray[np.int64], sums: Floats, count: int, total: Floats) -> Floats:
        """Of splits with so many rows and such sums on the left; −infinity where a side has too few rows."""
        right = count - left
        fair = np.minimum(left, right) >= self.smallest
        explained = (sums**2).sum(axis=1) / np.maximum(left, 1)
        explained += ((total - sums) ** 2).sum(axis=1) / np.maximum(right, 1)
        return np.where(fair, explained - (total**2).sum() / count, -np.inf)
