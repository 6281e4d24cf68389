"""Summaries of histories: the core's state says what the whole history says."""

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from column_logs import column_logs, forest_on, summaries_of, touched_by
from uqf._reference_summaries import summaries
from uqf.learn.memory.summaries import VIEWS, Seen, View

views = st.sampled_from([*VIEWS.values(), View(3, True)])


@given(column_logs(), views)
def test_the_state_says_what_the_history_says(data, view):
    shared, own = summaries_of(data, view)
    cut = 0
    for episode in data:
        for time in range(len(episode.actions) + 1):
            steps = list(zip(episode.actions[:time].tolist(), episode.columns[:time], strict=True))
            expected, each = summaries(
                episode.first_columns,
                steps,
                data.column_sizes.tolist(),
                *touched_by(data),
                recent=view.steps,
                long=view.long,
            )
            np.testing.assert_allclose(shared[cut], expected, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(own[cut], each, rtol=1e-5, atol=1e-5)
            cut += 1
    assert cut == len(shared)


@given(column_logs(), views, st.data())
def test_episodes_do_not_know_of_each_other(data, view, draw):
    order = draw.draw(st.permutations(range(len(data))))
    shared, own = summaries_of(data, view, threads=3)
    starts = data.offsets[:-1] + np.arange(len(data))
    cuts = np.concatenate([np.arange(starts[e], starts[e] + data.lengths[e] + 1) for e in order])
    again, each = summaries_of(data[np.array(order)], view, threads=1)
    assert np.array_equal(shared[cuts], again) and np.array_equal(own[cuts], each)


@pytest.mark.parametrize("view", VIEWS)
@given(data=column_logs(), pooled=st.booleans())
def test_stepping_is_replaying(view, data, pooled):
    """A policy that is stepped with columns acts as it does along the data, in batches too."""
    policy = forest_on(data, VIEWS[view], pooled=pooled)
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
