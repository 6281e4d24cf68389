"""A number that stands for a data set."""

from functools import reduce

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf
from strategies import trajectories
from uqf.episodes.fingerprint import Fingerprint, fingerprint


@given(trajectories(extras=True), st.randoms(use_true_random=False), st.data())
def test_the_order_of_episodes_and_how_they_are_spread_over_files_do_not_matter(data, random, draw):
    order = list(range(len(data)))
    random.shuffle(order)
    mixed = data[np.array(order)]
    cuts = sorted(draw.draw(st.sets(st.integers(1, len(data) - 1)))) if len(data) > 1 else []
    parts = [mixed[first:last] for first, last in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert reduce(Fingerprint.plus, map(Fingerprint.of, parts)).digest == fingerprint(data)


@given(trajectories(extras=True), st.data())
def test_whatever_is_changed_is_another_data_set(data, draw):
    names = ["actions", "observations", "rewards", "terminated", "columns", "first_columns", "allowed"]
    name = draw.draw(st.sampled_from([name for name in names if getattr(data, name) is not None]))
    column = getattr(data, name).copy()
    place = draw.draw(st.integers(0, len(column) - 1))
    match name:
        case "rewards":
            column[place] += 1.0
            assume(column[place] != data.rewards[place])
        case "terminated":
            column[place] ^= True
        case "columns" | "first_columns":
            which = draw.draw(st.integers(0, column.shape[1] - 1))
            column[place, which] = 0.0 if np.isnan(column[place, which]) else np.nan
        case "allowed":
            column[place] = ~column[place]
            column[place, data.actions[place]] = True
            assume(not np.array_equal(column, data.allowed))
        case _:
            size = getattr(data, f"n_{name}")
            assume(size > 1)
            column[place] = (column[place] + 1) % size
            assume(name != "actions" or data.allowed is None)
    changed = uqf.Trajectories(**data.__getstate__() | {name: column})
    assert fingerprint(changed) != fingerprint(data)


@given(trajectories(extras=True))
def test_one_episode_more_or_cut_elsewhere_is_another_data_set(data):
    twice = uqf.concatenate([data, data[:1]])
    assert fingerprint(twice) != fingerprint(data)
    assume(len(data) > 1 and data.first_observations is None)
    joined = {"offsets": np.delete(data.offsets, 1), "terminated": data.terminated[1:]}
    assert fingerprint(uqf.Trajectories(**data.__getstate__() | joined)) != fingerprint(data)


def test_swapped_steps_are_another_data_set():
    one = uqf.Trajectories([0, 1], [0, 0], [1.0, 2.0], [0, 2], n_actions=2, n_observations=1)
    other = uqf.Trajectories([1, 0], [0, 0], [2.0, 1.0], [0, 2], n_actions=2, n_observations=1)
    assert fingerprint(one) != fingerprint(other)
