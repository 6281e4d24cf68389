"""Cells learned from a log: a tree of scikit-learn whose leaves predict what comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from uqf.coding.cell_settings import SETTINGS
from uqf.coding.cells import Cells, Question
from uqf.coding.raw_columns import OTHER, Column
from uqf.types import AnyArray, Floats, Tree


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
        """The question that a node of scikit-learn's tree asks: at most `threshold` goes left."""
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
    seed: int,
) -> Cells:
    """At most `size` cells, such that the means of the targets in the cells explain them best."""
    return _as_cells(columns, features, grown_tree(seen, targets, size, seed).tree_)


def grown_tree(seen: NDArray[np.float32], targets: Floats, size: int, seed: int) -> Tree:
    """A fitted tree of at most `size` leaves."""
    tree = DecisionTreeRegressor(
        max_leaf_nodes=max(size, 2), min_samples_leaf=SETTINGS.steps_in_cell, random_state=seed
    )
    return tree.fit(seen, targets)


def predictions_by_size(tree: Tree, seen: NDArray[np.float32], sizes: Sequence[int]) -> Iterator[Floats]:
    """What trees of at most so many leaves predict, (rows, targets) each, given the largest of them.

    scikit-learn splits the node first whose split explains most, and numbers nodes as they are made: a tree of k
    leaves is the first 2k - 1 nodes of every larger one.
    """
    grown, place = tree.tree_, tree.apply(seen)
    parent = np.zeros(grown.node_count, np.int64)
    for children in (grown.children_left, grown.children_right):
        parent[children[children >= 0]] = np.flatnonzero(children >= 0)
    for size in sizes:
        at = np.arange(grown.node_count)
        while (beyond := at >= 2 * max(size, 2) - 1).any():
            at = np.where(beyond, parent[at], at)
        yield grown.value[at[place], :, 0]


def separated(
    columns: tuple[Column, ...], features: Sequence[Feature], seen: NDArray[np.float32], seed: int
) -> Cells:
    """A cell for every row, all of which differ."""
    tree = DecisionTreeRegressor(random_state=seed)
    return _as_cells(columns, features, tree.fit(seen, np.arange(len(seen))).tree_)


def _as_cells(columns: tuple[Column, ...], features: Sequence[Feature], tree: Tree) -> Cells:
    """The tree in our own terms: parents before their children, leaves from left to right."""
    order: list[int] = []
    leaves: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if tree.children_left[node] < 0:
            leaves.append(node)
        else:
            order.append(node)
            waiting += [tree.children_right[node], tree.children_left[node]]
    place = {node: index for index, node in enumerate(order + leaves)}
    questions = [
        features[tree.feature[node]].question(
            tree.threshold[node],
            place[tree.children_left[node]],
            place[tree.children_right[node]],
            bool(tree.missing_go_to_left[node]),
        )
        for node in order
    ]
    return Cells(columns, tuple(questions))
