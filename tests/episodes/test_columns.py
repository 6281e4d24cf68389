"""Raw columns and allowed actions beside the codes: checked at the door, and what learners read."""

import numpy as np

import uqf
from uqf.episodes.columns import columns_of

STEPS = {"actions": [0, 1, 1], "observations": [1, 0, 2], "rewards": [0.5, -1.0, 2.0], "offsets": [0, 2, 3]}
SIZES = {"n_actions": 2, "n_observations": 3}


def make(**extras):
    return uqf.Trajectories(**STEPS, **SIZES, **extras)


def test_columns_are_single_precision_and_cannot_be_written_to():
    data = make(columns=np.array([[1e300], [-np.inf], [np.nan]]))
    largest = np.finfo(np.float32).max
    np.testing.assert_array_equal(data.columns, np.array([[largest], [-largest], [np.nan]], np.float32))
    assert data.column_sizes.tolist() == [0]
    assert not data.columns.flags.writeable


def test_learners_read_what_is_stored_or_the_code_as_one_category():
    stored = make(columns=[[0.5, 1], [0.1, 0], [np.nan, 1]], column_sizes=[0, 2])
    columns, first, sizes = columns_of(stored)
    assert columns is stored.columns
    assert first is None
    assert sizes.tolist() == [0, 2]
    columns, first, sizes = columns_of(make(first_observations=[2, 1]))
    assert columns.tolist() == [[1], [0], [2]]
    assert first.tolist() == [[2], [1]]
    assert sizes.tolist() == [3]
    assert columns.dtype == first.dtype == np.float32


def test_an_episode_shows_its_columns():
    allowed = np.array([[True, False], [True, True], [False, True]])
    data = make(columns=[[1], [2], [3]], first_columns=[[4], [5]], first_observations=[0, 1], allowed=allowed)
    assert data[1].columns.tolist() == [[3]]
    assert data[1].first_columns.tolist() == [5]
    assert data[0].allowed.tolist() == allowed[:2].tolist()


def test_parts_without_a_mask_allowed_everything_and_other_columns_are_refused():
    masked = make(allowed=[[1, 0], [1, 1], [0, 1]])
    both = uqf.concatenate([masked, make()])
    assert both.allowed[:3].tolist() == masked.allowed.tolist()
    assert both.allowed[3:].all()
    numbers = make(columns=[[0], [1], [1]])
    assert numbers == make(columns=[[0], [1], [1]]) != make()
    assert make() != numbers
