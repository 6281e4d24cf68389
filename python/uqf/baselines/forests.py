"""Extremely randomised trees for fitted-Q, as the flat arrays that the core evaluates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from uqf.types import AnyArray, Record, Tree

Floats = NDArray[np.float64]

#: (base, roots, feature, threshold, left, right, value): base + the leaves of x
Forest: TypeAlias = tuple[AnyArray | float, ...]


@dataclass(frozen=True)
class ExtraTrees:
    """Means of extremely randomised trees (Geurts, Ernst & Wehenkel 2006), one forest for each of some data sets.

    The trees of all data sets are grown in one pool. scikit-learn's `ExtraTreesRegressor` grows the same trees, but
    spends as long on copying and checking parameters as on growing them where data sets are small.

    inputs : features (n, d) of every data set
    trees, random_splits, leaf : trees of a forest, features tried at a split, fewest samples of a leaf
    """

    inputs: Sequence[NDArray[np.float32]]
    trees: int
    random_splits: int
    leaf: int
    seed: int
    threads: int | None

    def grown(self, targets: Sequence[Floats], round_number: int) -> list[Forest]:
        """A forest for every data set; the number of the round seeds the randomness."""
        # Imported here: scikit-learn's ensembles take 0.4 s.
        from sklearn.tree import ExtraTreeRegressor

        n_features = self.inputs[0].shape[1]
        shape = {
            "max_features": min(self.random_splits, n_features),
            "min_samples_leaf": min(self.leaf, 2**31),
        }
        columns = [np.ascontiguousarray(y, np.float64)[:, np.newaxis] for y in targets]
        jobs = []
        for place in range(len(self.inputs)):
            seed = (self.seed + round_number * len(self.inputs) + place) % 2**32
            numbers = np.random.default_rng(seed).integers(2**31, size=self.trees)
            jobs += [(place, int(number)) for number in numbers]

        def grow(job: tuple[int, int]) -> Tree:
            place, number = job
            tree = ExtraTreeRegressor(random_state=number, **shape)
            return tree.fit(self.inputs[place], columns[place], check_input=False).tree_

        with ThreadPoolExecutor(self.threads or os.cpu_count()) as pool:
            grown = list(pool.map(grow, jobs))
        return [
            flattened(grown[first : first + self.trees], 1.0 / self.trees)
            for first in range(0, len(grown), self.trees)
        ]


def flattened(trees: Sequence[Tree], scale: float) -> Forest:
    """The sum of scikit-learn's trees, each leaf times `scale`."""
    sizes = [tree.node_count for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift = np.repeat(roots, sizes)
    return (
        0.0,
        roots,
        np.concatenate([tree.feature for tree in trees]).astype(np.int64),
        np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
        np.concatenate([tree.children_left for tree in trees]).astype(np.int64) + shift,
        np.concatenate([tree.children_right for tree in trees]).astype(np.int64) + shift,
        np.concatenate([tree.value[:, 0, 0] for tree in trees]) * scale,
    )


def constant(value: float) -> Forest:
    """The same value everywhere."""
    none, nodes = np.zeros(0), np.zeros(0, np.int64)
    return (value, nodes, nodes, none, nodes, nodes, none)


def joined(forests: Sequence[Forest]) -> Record:
    """Several forests as the arguments of a `ForestPolicy`."""
    base, *nodes = zip(*forests, strict=True)
    names = ("roots", "feature", "threshold", "left", "right", "value")
    arrays = {name: np.concatenate(part) for name, part in zip(names, nodes, strict=True)}
    counts = {"trees": [len(one) for one in nodes[0]], "nodes": [len(one) for one in nodes[1]]}
    return {
        "base": np.array(base, np.float64),
        **{name: np.array(sizes, np.int64) for name, sizes in counts.items()},
        **arrays,
    }
