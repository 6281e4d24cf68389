"""Trees whose leaves predict, beside scikit-learn's own."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from uqf.coding.tree import BLOCK, grown


def drawn(seed, missing):
    """(features of whole numbers, targets, most leaves, fewest rows of a leaf)"""
    rng = np.random.default_rng(seed)
    rows, targets = int(rng.integers(5, 400)), int(rng.integers(1, 4))
    sizes = rng.integers(2, 30, size=int(rng.integers(1, 5)))
    seen = np.stack([rng.integers(size, size=rows) for size in sizes], axis=1).astype(np.float32)
    if missing:
        seen[rng.random(seen.shape) < 0.1] = np.nan
    return seen, rng.normal(size=(rows, targets)), int(rng.integers(2, 20)), int(rng.integers(1, 6))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_tree_of_scikit_learn(seed, missing):
    seen, targets, leaves, smallest = drawn(seed, missing)
    ours = grown(seen, targets, leaves, smallest)
    theirs = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=smallest, random_state=0)
    theirs.fit(seen, targets)
    assert len(ours.feature) == theirs.tree_.node_count
    predicted = theirs.predict(seen).reshape(targets.shape)
    np.testing.assert_allclose(ours.value[ours.apply(seen)], predicted, atol=1e-12)
    asked = ours.feature >= 0
    if np.array_equal(ours.feature[asked], theirs.tree_.feature[asked]):  # not where equally good splits tie
        np.testing.assert_array_equal(ours.threshold[asked], theirs.tree_.threshold[asked])
        np.testing.assert_array_equal(ours.missing_left[asked], theirs.tree_.missing_go_to_left[asked])


def test_of_indicators_it_is_the_classifier_of_scikit_learn():
    rng = np.random.default_rng(5)
    seen = (rng.random((500, BLOCK + 40)) < 0.4).astype(np.float32)
    kinds = (seen[:, 0] + 2 * seen[:, BLOCK + 7] * seen[:, 3]).astype(np.int64)
    ours = grown(seen, np.eye(4)[kinds], 6, 5)
    theirs = DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=5, random_state=0).fit(seen, kinds)
    np.testing.assert_array_equal(ours.value[ours.apply(seen)].argmax(axis=1), theirs.predict(seen))
    assert theirs.score(seen, kinds) == 1.0


def test_rows_with_the_same_targets_are_one_leaf():
    tree = grown(np.arange(8, dtype=np.float32)[:, None], np.ones((8, 1)))
    assert tree.feature.tolist() == [-1] and tree.apply(np.zeros((3, 1), np.float32)).tolist() == [0, 0, 0]
