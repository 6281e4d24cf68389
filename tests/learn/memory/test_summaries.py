"""Summaries of histories: the core's state says what the whole history says."""

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from uqf import _core
from uqf._reference_summaries import summaries
from uqf.learn.memory.summaries import VIEWS, Seen, View


@st.composite
def logs(draw):
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


def along(data, view, threads=1):
    sizes = data.column_sizes.astype(np.int64)
    return _core.summaries_along(
        data, data.columns, data.first_columns, sizes, steps=view.steps, long=view.long, threads=threads
    )


views = st.sampled_from([*VIEWS.values(), View(3, True)])


@given(logs(), views)
def test_the_state_says_what_the_history_says(data, view):
    shared, own = along(data, view)
    cut = 0
    for episode in data:
        for time in range(len(episode.actions) + 1):
            steps = list(zip(episode.actions[:time].tolist(), episode.columns[:time], strict=True))
            expected, each = summaries(
                episode.first_columns,
                steps,
                data.column_sizes.tolist(),
                data.n_actions,
                recent=view.steps,
                long=view.long,
            )
            np.testing.assert_allclose(shared[cut], expected, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(own[cut], each, rtol=1e-5, atol=1e-5)
            cut += 1
    assert cut == len(shared)


@given(logs(), views, st.data())
def test_episodes_do_not_know_of_each_other(data, view, draw):
    order = draw.draw(st.permutations(range(len(data))))
    shared, own = along(data, view, threads=3)
    starts = data.offsets[:-1] + np.arange(len(data))
    cuts = np.concatenate([np.arange(starts[e], starts[e] + data.lengths[e] + 1) for e in order])
    again, each = along(data[np.array(order)], view, threads=1)
    assert np.array_equal(shared[cuts], again) and np.array_equal(own[cuts], each)


@pytest.mark.parametrize("view", VIEWS)
@given(data=logs())
def test_stepping_is_replaying(view, data):
    """A policy that is stepped with columns acts as it does along the data, in batches too."""
    policy = policy_on(data, VIEWS[view])
    values = policy.q_values_along(data)
    for number, episode in enumerate(data):
        state, batch = policy.initial_state(episode.first_columns), policy.batch(1)
        if episode.first_columns is not None:
            batch.reset(np.array([True]), episode.first_columns[None])
        for step, (action, row) in enumerate(zip(episode.actions.tolist(), episode.columns, strict=True)):
            place = data.offsets[number] + step
            assert np.array_equal(policy.q_values(state), values[place])
            np.testing.assert_array_equal(batch.action_probs()[0], policy.action_probs(state))
            state = policy.update(state, action, row)
            batch.update(np.array([action]), row[None])


def policy_on(data, view):
    """One tree of one split for every action, over all summaries by turns."""
    seen = Seen.of(data)
    shared, own = along(data, view)
    width, n = shared.shape[1] + own.shape[2], data.n_actions
    return uqf.SummaryPolicy(
        sizes=seen.sizes.astype(np.int64),
        n_actions=n,
        steps=view.steps,
        long=view.long,
        codes=seen.of_codes(),
        base=np.zeros(n),
        trees=np.ones(n, np.int64),
        nodes=np.full(n, 3),
        roots=np.zeros(n, np.int64),
        feature=np.stack([np.arange(n) * 7 % width, np.full(n, -1), np.full(n, -1)], axis=1).ravel(),
        threshold=np.tile([0.3, 0.0, 0.0], n),
        left=np.tile([1, 0, 0], n),
        right=np.tile([2, 0, 0], n),
        value=np.tile([0.0, 1.0, 2.0], n) * np.repeat(np.arange(1, n + 1), 3),
        temperature=1.0,
    )


@given(arrays.arrays(np.int64, 30, elements=st.integers(0, 4)))
def test_codes_stand_for_what_came_with_them(codes):
    columns = np.stack([codes % 2, codes / 2], axis=1)
    data = uqf.Trajectories(
        np.zeros(30, int),
        codes,
        np.zeros(30),
        [0, 30],
        n_actions=1,
        n_observations=6,
        columns=columns,
        column_sizes=[2, 0],
    )
    table = Seen.of(data).of_codes()
    assert np.allclose(table[codes], columns)
    assert table[5, 0] == -1.0 and np.isclose(table[5, 1], columns[:, 1].mean())
