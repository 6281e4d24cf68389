"""Regressors for fitted-Q, each given as the flat arrays that the core evaluates."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from uqf.types import AnyArray, Record, Tree

# scikit-learn's ensembles are imported where they are used: they add 0.4 s to the 2.1 s of `import uqf`.

Floats = NDArray[np.float64]

#: Features as trees are grown on them.
Features = NDArray[np.float32]

#: (base, weights, roots, feature, threshold, left, right, value): base + weights · x + the leaves of x
Forest: TypeAlias = tuple[AnyArray | float, ...]

#: Makes one forest per data set from its targets; the number of the round seeds the randomness.
Regression: TypeAlias = Callable[[Sequence[Floats], int], list[Forest]]


def flattened(trees: Sequence[Tree], n_features: int, scale: float, base: float = 0.0) -> Forest:
    """The sum of scikit-learn's trees, each leaf times `scale`, plus `base`."""
    sizes = [tree.node_count for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift = np.repeat(roots, sizes)
    return (
        base,
        np.zeros(n_features),
        roots,
        np.concatenate([tree.feature for tree in trees]).astype(np.int64),
        np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
        np.concatenate([tree.children_left for tree in trees]).astype(np.int64) + shift,
        np.concatenate([tree.children_right for tree in trees]).astype(np.int64) + shift,
        np.concatenate([tree.value[:, 0, 0] for tree in trees]) * scale,
    )


def linear(base: float, weights: Floats) -> Forest:
    """Base + weights · x."""
    none, nodes = np.zeros(0), np.zeros(0, np.int64)
    return (base, np.ascontiguousarray(weights), nodes, nodes, none, nodes, nodes, none)


def joined(forests: Sequence[Forest]) -> Record:
    """Several forests as the arguments of a `ForestPolicy`."""
    base, weights, *nodes = zip(*forests, strict=True)
    names = ("roots", "feature", "threshold", "left", "right", "value")
    arrays = {name: np.concatenate(part) for name, part in zip(names, nodes, strict=True)}
    counts = {"trees": [len(one) for one in nodes[0]], "nodes": [len(one) for one in nodes[1]]}
    return {
        "base": np.array(base, np.float64),
        "weights": np.stack(weights),
        **{name: np.array(sizes, np.int64) for name, sizes in counts.items()},
        **arrays,
    }


@dataclass(frozen=True)
class TreeSettings:
    """Size of an ensemble: trees, features tried at a split, fewest samples of a leaf."""

    trees: int
    random_splits: int
    leaf: int
    seed: int
    threads: int | None

    def random_state(self, round_number: int, action: int, n_actions: int) -> int:
        """A number of its own for every ensemble."""
        return (self.seed + round_number * n_actions + action) % 2**32


def extra_trees(inputs: Sequence[Features], settings: TreeSettings) -> Regression:
    """Means of extremely randomised trees (Geurts, Ernst & Wehenkel 2006), grown on all cores.

    The trees of all data sets share one pool. scikit-learn's `ExtraTreesRegressor` grows the same trees, but
    spends as long on copying and checking parameters as on growing them where data sets are small.
    """
    from sklearn.tree import ExtraTreeRegressor

    n_features = inputs[0].shape[1]
    shape = {"max_features": min(settings.random_splits, n_features), "min_samples_leaf": settings.leaf}
    contiguous = [np.ascontiguousarray(x, np.float32) for x in inputs]

    def fit(targets: Sequence[Floats], round_number: int) -> list[Forest]:
        columns = [np.ascontiguousarray(y, np.float64)[:, np.newaxis] for y in targets]
        jobs = []
        for action in range(len(inputs)):
            seed = settings.random_state(round_number, action, len(inputs))
            numbers = np.random.default_rng(seed).integers(2**31, size=settings.trees)
            jobs += [(action, int(number)) for number in numbers]

        def grow(job: tuple[int, int]) -> Tree:
            action, number = job
            tree = ExtraTreeRegressor(random_state=number, **shape)
            return tree.fit(contiguous[action], columns[action], check_input=False).tree_

        with ThreadPoolExecutor(settings.threads or os.cpu_count()) as pool:
            grown = list(pool.map(grow, jobs))
        blocks = [grown[first : first + settings.trees] for first in range(0, len(grown), settings.trees)]
        return [flattened(trees, n_features, 1.0 / settings.trees) for trees in blocks]

    return fit


def gradient_boosting(inputs: Sequence[Features], settings: TreeSettings) -> Regression:
    """Boosted trees of depth 3, learning rate 0.1; the ensembles of different actions grow side by side."""
    from sklearn.ensemble import GradientBoostingRegressor

    n_features = inputs[0].shape[1]

    def fit(targets: Sequence[Floats], round_number: int) -> list[Forest]:
        def boost(action: int) -> Forest:
            model = GradientBoostingRegressor(
                n_estimators=settings.trees,
                max_features=min(settings.random_splits, n_features),
                min_samples_leaf=settings.leaf,
                random_state=settings.random_state(round_number, action, len(inputs)),
            ).fit(inputs[action], targets[action])
            trees = [tree.tree_ for tree in model.estimators_[:, 0]]
            base = float(np.ravel(model.init_.constant_)[0])
            return flattened(trees, n_features, model.learning_rate, base)

        with ThreadPoolExecutor(settings.threads) as pool:
            return list(pool.map(boost, range(len(inputs))))

    return fit


def ridge_regression(inputs: Sequence[Features], ridge: float) -> Regression:
    """Linear functions with an intercept; the inverses are computed once for all rounds."""
    centres = [x.mean(axis=0, dtype=np.float64) for x in inputs]
    inverses = []
    for x, centre in zip(inputs, centres, strict=True):
        centred = x - centre
        moment = centred.T @ centred / len(x)
        penalty = ridge * max(float(np.trace(moment)) / x.shape[1], np.finfo(float).tiny)
        inverses.append(np.linalg.pinv(moment + penalty * np.eye(x.shape[1]), hermitian=True))

    def fit(targets: Sequence[Floats], round_number: int) -> list[Forest]:
        forests = []
        for x, centre, inverse, y in zip(inputs, centres, inverses, targets, strict=True):
            mean = float(y.mean())
            weights = inverse @ ((y - mean) @ x / len(x))
            forests.append(linear(mean - float(centre @ weights), weights))
        return forests

    return fit
