"""Cells learned from a log: a tree whose leaves predict what comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.coding.cell_settings import SETTINGS
from uqf.coding.cells import Cells, Question
from uqf.coding.raw_columns import OTHER, Column
from uqf.coding.tree import Tree
from uqf.coding.tree import grown as grown_tree
from uqf.types import AnyArray, Floats


@dataclass(frozen=True)
class Feature:
    """A column as the tree sees it: the number of cuts that a value reaches, or whether it has a name."""

    column: int
    cuts: tuple[float, ...] = ()
    name: str | None = None
    is_name: bool = False

    def of(self, values: Sequence[AnyArray]) -> NDArray[np.float32]:
        """One number a row; NaN where a number is missing."""
        column = values[self.column]
        if self.is_name:
            return np.asarray(column == self.name, np.float32)
        places = np.searchsorted(np.array(self.cuts), column, side="right").astype(np.float32)
        return np.where(np.isnan(column), np.float32(np.nan), places)

    def question(self, threshold: float, left: int, right: int, missing_left: bool) -> Question:
        """The question that a node of the tree asks: at most `threshold` goes left."""
        if self.is_name:
            return Question(self.column, self.name, right, left)
        if threshold >= len(self.cuts):  # everything but the missing ones
            return (
                Question(self.column, None, left, right)
                if missing_left
                else Question(self.column, None, right, left)
            )
        return Question(self.column, self.cuts[int(threshold)], left, right, missing_left)


def features_of(columns: Sequence[Column], values: Sequence[AnyArray]) -> list[Feature]:
    """What the tree may ask about."""
    features = []
    for index, (column, given) in enumerate(zip(columns, values, strict=True)):
        if column.kind != "category":
            features.append(Feature(index, cuts_of(given)))
            continue
        names = [name for name in column.names if name != OTHER]
        categories = [*names, None] if column.has_missing else names
        features += [Feature(index, name=name, is_name=True) for name in categories]
    return features


def cuts_of(values: Floats) -> tuple[float, ...]:
    """Cuts between neighbouring values, all of them or at quantiles; short decimals where they fit."""
    present = np.sort(values[np.isfinite(values)])
    distinct = np.unique(present)
    if len(distinct) > SETTINGS.cuts + 1:
        places = np.linspace(0, len(present) - 1, SETTINGS.cuts + 2)[1:-1].astype(np.int64)
        upper = np.unique(np.searchsorted(distinct, present[places]))
        upper = upper[upper > 0]
    else:
        upper = np.arange(1, len(distinct))
    return tuple(_between(float(distinct[one - 1]), float(distinct[one])) for one in upper)


def _between(low: float, high: float) -> float:
    """A number in (low, high] with few digits, near the middle."""
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        cut = float(f"{middle:.{digits}g}")
        if low < cut <= high:
            return cut
    return high


def grown(
    columns: tuple[Column, ...],
    features: Sequence[Feature],
    seen: NDArray[np.float32],
    targets: Floats,
    size: int,
) -> Cells:
    """At most `size` cells, such that the means of the targets in the cells explain them best."""
    return _as_cells(columns, features, tree_of(seen, targets, size))


def tree_of(seen: NDArray[np.float32], targets: Floats, size: int) -> Tree:
    """A fitted tree of at most `size` leaves."""
    return grown_tree(seen, targets, max(size, 2), SETTINGS.steps_in_cell)


def predictions_by_size(tree: Tree, seen: NDArray[np.float32], sizes: Sequence[int]) -> Iterator[Floats]:
    """What trees of at most so many leaves predict, (rows, targets) each, given the largest of them."""
    place = tree.apply(seen)
    inner = np.flatnonzero(tree.feature >= 0)
    parent = np.zeros(len(tree.feature), np.int64)
    parent[tree.left[inner]] = parent[tree.right[inner]] = inner
    for size in sizes:
        at = np.arange(len(parent))
        while (beyond := at >= 2 * max(size, 2) - 1).any():
            at = np.where(beyond, parent[at], at)
        yield tree.value[at[place]]


def separated(columns: tuple[Column, ...], features: Sequence[Feature], seen: NDArray[np.float32]) -> Cells:
    """A cell for every row, all of which differ."""
    return _as_cells(columns, features, grown_tree(seen, np.arange(len(seen), dtype=np.float64)[:, None]))


def _as_cells(columns: tuple[Column, ...], features: Sequence[Feature], tree: Tree) -> Cells:
    """The tree in our own terms: parents before their children, leaves from left to right."""
    order: list[int] = []
    leaves: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if tree.feature[node] < 0:
            leaves.append(node)
        else:
            order.append(node)
            waiting += [tree.right[node], tree.left[node]]
    place = {node: index for index, node in enumerate(order + leaves)}
    questions = [
        features[tree.feature[node]].question(
            tree.threshold[node],
            place[tree.left[node]],
            place[tree.right[node]],
            bool(tree.missing_left[node]),
        )
        for node in order
    ]
    return Cells(columns, tuple(questions))
