"""Plans drawn from the posterior of counts: what is hoped for, and of what nothing is."""

import numpy as np

import uqf
from uqf.learn.memory.counts import Counts
from uqf.learn.plan.drawn import Hopes, drawn_values


def walk(allowed=None):
    """Two places; at place 1 only action 0 was ever taken."""
    rng = np.random.default_rng(0)
    seen = rng.integers(2, size=200).astype(np.int32)
    before = np.concatenate([[0], seen[:-1]])
    actions = np.where(before == 0, rng.integers(2, size=200), 0).astype(np.int32)
    masks = None if allowed is None else np.asarray(allowed)[before]
    return uqf.Trajectories(
        actions, seen, np.ones(200), [0, 100, 200], n_actions=2, n_observations=2,
        first_observations=[0, int(seen[99])], allowed=masks,
    )  # fmt: skip


def test_what_was_never_tried_is_hoped_for_unless_it_was_never_allowed():
    draws = np.random.default_rng(1)
    for allowed, hopeful in (
        (None, True),
        ([[True, True], [True, True]], True),
        ([[True, True], [True, False]], False),
    ):
        data = walk(allowed)
        counts = Counts.of(data[:1]).plus(Counts.of(data[1:]))
        assert (3 in counts.possible) == hopeful
        hope = Hopes.of(data, 0.9).hope
        values = drawn_values(counts, hope, 0.9, draws)
        assert (values[1].argmax() == 1) == hopeful
        if hopeful:
            assert values[1, 1] == hope
        else:
            assert values[1, 1] < values[:2].ravel()[:3].min()


def test_counts_of_parts_add_up():
    data = walk([[True, True], [True, False]])
    whole, parts = Counts.of(data), Counts.of(data[:1]).plus(Counts.of(data[1:]))
    for name in ("cells", "tried", "rewards", "squares", "offered"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
    np.testing.assert_array_equal(whole.arrivals.toarray(), parts.arrivals.toarray())
    assert whole.offered.sum() == data.allowed.sum()
