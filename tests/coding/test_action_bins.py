"""Numeric actions as cells: every number has one, and what is done for a cell lies in it."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import uqf
from uqf.coding.action_bins import ActionBins, Bins

numbers = st.lists(st.floats(-1e300, 1e300) | st.integers(-5, 5).map(float), min_size=1, max_size=60)


@given(numbers, st.integers(2, 9))
def test_cells_cover_all_numbers_and_what_is_done_was_logged(given_numbers, count):
    logged = np.array(given_numbers)
    bins = ActionBins((Bins.learned("valve", logged, count),))
    codes = bins.encode(logged)
    assert bins.n == min(count, len(np.unique(logged))) == len(np.unique(codes)), "no cell is empty"
    done = [bins.decode(code) for code in range(bins.n)]
    assert np.isin(done, logged).all() and bins.encode(done).tolist() == list(range(bins.n))
    order = np.argsort(logged, kind="stable")
    assert (np.diff(codes[order]) >= 0).all(), "cells ascend with the numbers"
    for code in range(bins.n):
        inside = np.sort(logged[codes == code])
        assert bins.decode(code) == inside[(len(inside) - 1) // 2], "the median, a logged one"
    again = ActionBins.from_dict(json.loads(json.dumps(bins.to_dict())))
    assert again == bins


def test_cells_have_about_equally_many_numbers_and_a_frequent_number_has_its_own():
    even = ActionBins((Bins.learned("valve", np.random.default_rng(0).random(1000), 5),))
    assert np.bincount(even.encode(np.random.default_rng(0).random(1000))).tolist() == [200] * 5
    rare = ActionBins((Bins.learned("valve", np.array([1.0, 2.0, *[3.0] * 100]), 3),))
    assert rare.n == 3, "as many cells as were asked for, if there are so many numbers"
    mostly_shut = np.concatenate([np.zeros(900), np.linspace(0.1, 1.0, 100)])
    bins = ActionBins((Bins.learned("valve", mostly_shut, 5),))
    assert bins.decode(0) == 0.0 and np.bincount(bins.encode(mostly_shut)).tolist() == [900, 25, 25, 25, 25]


def test_whole_numbers_stay_whole_and_numbers_beyond_the_log_lie_in_the_outer_cells():
    bins = ActionBins((Bins.learned("dose", np.array([5, 10, 20, 20, 40]), 3),))
    assert [type(bins.decode(code)) for code in range(3)] == [int] * 3
    assert bins.encode([-1e9, 1e9]).tolist() == [0, 2]
    assert bins.describe(0) == "dose < 15: 5" and bins.name(2) == "dose 40"
    book = uqf.Codebook.named(None, ["cold", "hot"]).with_actions(bins)
    assert book.n_actions == 3 and book.action_names is None and book.encode_action(39.5) == 2
    assert book.describe_action(1) == "15 ≤ dose < 30: 20" and book != book.with_actions(None)
    assert uqf.Codebook.from_dict(json.loads(json.dumps(book.to_dict()))) == book
