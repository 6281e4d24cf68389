"""Canonical coordinates: what has no variance of its own is left out, whatever rounding makes of it."""

import numpy as np
import pytest

from uqf.learn.memory.filters.canonical import Canonical


def sums(rank, width=12, count=4_000, digits=np.float32, seed=0):
    """Σ x xᵀ, Σ x zᵀ and Σ z zᵀ of two sides that see the same `rank` numbers, each in `width` ways."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(count, rank))
    sides = [
        np.hstack([np.ones((count, 1)), 3.0 + shared @ rng.normal(size=(rank, width))]).astype(digits)
        for _ in range(2)
    ]
    return [
        np.asarray(one.T @ other, np.float64)
        for one, other in ((sides[0], sides[0]), sides, (sides[1], sides[1]))
    ]


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("digits", [np.float32, np.float64])
def test_coordinates_are_as_many_as_the_numbers_that_both_sides_see(rank, digits):
    found = Canonical.of(*sums(rank, digits=digits), 10, 30.0)
    assert found.past.shape == found.future.shape == (13, rank)
    np.testing.assert_allclose(found.correlations, 1.0, atol=0.01)
    assert (found.values <= 1.0).all()


def test_what_is_made_of_rounding_alone_is_never_correlated_beyond_one():
    for seed in range(20):
        found = Canonical.of(*sums(3, width=30, seed=seed), 31, 30.0)
        assert np.abs(found.correlations).max() < 1.01


def test_a_table_that_rounding_has_spoilt_is_penalised_more():
    past, both, future = sums(2)
    spoilt = past.copy()
    spoilt[1:, 1:] -= 0.02 * np.diag(np.diag(past)[1:])
    assert np.linalg.eigvalsh(spoilt).min() < 0.0
    found = Canonical.of(spoilt, both, future, 5, 30.0)
    assert np.isfinite(found.past).all() and np.isfinite(found.correlations).all()
