"""Episodes with raw columns of all kinds, and policies that read every summary of them."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

import uqf
from uqf import _core
from uqf.learn.memory.summaries import Seen


@st.composite
def column_logs(draw):
    """Episodes with columns of all kinds, some values missing."""
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 3, 40]), min_size=1, max_size=4))
    n_actions = draw(st.sampled_from([1, 2, 5, 90]))
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    opens = draw(st.booleans())

    def table(rows):
        columns = [rng.normal(size=rows) if size == 0 else rng.integers(size, size=rows) for size in sizes]
        return np.where(rng.random((rows, len(sizes))) < 0.1, np.nan, np.stack(columns, axis=1))

    steps = sum(lengths)
    return uqf.Trajectories(
        rng.integers(n_actions, size=steps),
        np.zeros(steps, int),
        rng.normal(size=steps),
        np.concatenate([[0], np.cumsum(lengths)]),
        n_actions=n_actions,
        n_observations=1,
        first_observations=np.zeros(len(lengths), int) if opens else None,
        columns=table(steps),
        first_columns=table(len(lengths)) if opens else None,
        column_sizes=sizes,
    )


def touched_by(data):
    """(a column for every action, what is expected of it), any."""
    rng = np.random.default_rng(data.n_actions)
    expected = rng.normal(size=(data.n_actions, 1 + 2 * data.n_actions))
    return rng.integers(len(data.column_sizes), size=data.n_actions), expected.astype(np.float32)


def summaries_of(data, view, threads=1):
    """(shared (cuts, n), own (cuts, n_actions, m)), by the core."""
    touched, expected = touched_by(data)
    seen = replace(Seen.of(data), touched=touched, expected=expected)
    return _core.summaries_along(seen, view, threads=threads)


def forest_on(data, view, seed=0, *, pooled=False):
    """For every action, or for all, and every summary a tree of one split, so that values depend on all of them."""
    seen, rng = Seen.of(data), np.random.default_rng(seed)
    shared, own = summaries_of(data, view)
    width, n = shared.shape[1] + own.shape[2], 1 if pooled else data.n_actions
    trees = n * width
    nodes = np.arange(3 * trees) % (3 * width)
    feature = np.full((n, width, 3), -1)
    feature[:, :, 0] = np.arange(width)
    touched, expected = touched_by(data)
    return uqf.SummaryPolicy(
        sizes=seen.sizes.astype(np.int64),
        touched=touched,
        expected=expected,
        steps=view.steps,
        long=view.long,
        codes=seen.of_codes(),
        base=rng.normal(size=n),
        trees=np.full(n, width),
        nodes=np.full(n, 3 * width),
        roots=np.tile(np.arange(width) * 3, n),
        feature=feature.ravel(),
        threshold=rng.normal(size=3 * trees),
        left=np.where(feature.ravel() < 0, 0, nodes + 1),
        right=np.where(feature.ravel() < 0, 0, nodes + 2),
        value=rng.normal(size=3 * trees),
        temperature=1.0,
    )
