import json
import math
from datetime import datetime
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import uqf
from uqf.coding.cell_growth import predictions_by_size, tree_of
from uqf.coding.cell_settings import SETTINGS
from uqf.coding.cell_targets import returns_by_action, standardised

values = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-(10**20), 10**20),
    st.text(max_size=3),
    st.booleans(),
    st.datetimes(),
)
tables = st.integers(1, 30).flatmap(
    lambda rows: st.dictionaries(
        st.text("ab.", min_size=1, max_size=3),
        st.one_of(
            st.lists(st.floats(-5, 5) | st.none(), min_size=rows, max_size=rows),
            st.lists(st.sampled_from(["a", "b", "c", None]), min_size=rows, max_size=rows),
            st.lists(values, min_size=rows, max_size=rows),
        ),
        min_size=1,
        max_size=3,
    )
)


def played(rng, episodes=200, length=10):
    offsets = np.arange(0, episodes * length + 1, length)
    return offsets, rng.integers(2, size=episodes * length)


@given(tables, st.data())
def test_every_observation_has_a_code_alone_as_in_a_table_and_from_a_file(table, data):
    rows = len(next(iter(table.values())))
    rewards = data.draw(st.none() | st.lists(st.floats(-9, 9), min_size=rows, max_size=rows))
    book = uqf.Codebook().fit(table, rewards)
    codes = book.encode(table)
    assert codes.shape == (rows,) and codes.dtype == np.int64
    assert codes.min() >= 0 and codes.max() < book.n_codes
    again = uqf.Codebook.from_dict(json.loads(json.dumps(book.to_dict(), allow_nan=False)))
    assert again == book
    for row in range(rows):
        one = {name: column[row] for name, column in table.items()}
        assert again.encode_one(one) == codes[row]
        if len(table) > 1:
            assert book.encode_one(tuple(one.values())) == codes[row]
    unseen = {name: data.draw(values) for name in table}
    assert 0 <= book.encode_one(unseen) < book.n_codes
    assert [book.encode_one(unseen)] == book.encode(
        {name: [value] for name, value in unseen.items()}
    ).tolist()
    described = [book.describe(code) for code in range(book.n_codes)]
    assert len(set(described)) == book.n_codes


@given(tables, st.data())
def test_columns_are_the_same_alone_as_in_a_table_and_codes_give_points_of_their_cells_back(table, data):
    rows = len(next(iter(table.values())))
    book = uqf.Codebook().fit(table)
    columns, sizes = book.raw_columns(table), book.column_sizes
    assert columns.dtype == np.float32 and columns.shape == (rows, len(sizes)) and not np.isinf(columns).any()
    for row in range(rows):
        one = {name: column[row] for name, column in table.items()}
        np.testing.assert_array_equal(book.raw_columns_one(one), columns[row])
    for place in np.flatnonzero(sizes):
        codes = columns[:, place][~np.isnan(columns[:, place])]
        assert ((codes >= 0) & (codes < sizes[place]) & (codes == codes.astype(int))).all()
    points, same = book.columns_of(np.arange(book.n_codes))
    assert same.tolist() == sizes.tolist() and points.shape == (book.n_codes, len(sizes))


def test_a_point_of_a_cell_has_its_code():
    rng = np.random.default_rng(0)
    table = {
        "temp": np.where(rng.random(2000) < 0.1, np.nan, rng.normal(80, 5, 2000)),
        "state": rng.choice(["idle", "busy", "down", None], 2000),
        "level": rng.integers(4, size=2000),
    }
    book = uqf.Codebook(max_codes=200).fit(table)
    points, sizes = book.columns_of(np.arange(book.n_codes))
    assert sizes.tolist() == [0, 4, 0] and book.n_codes >= 10
    names = [*book.coding_.columns[1].names, "unheard of"]
    raw = [(t, None if s != s else names[int(s)], v) for t, s, v in points.tolist()]
    assert [book.encode_one(one) for one in raw] == list(range(book.n_codes))


@pytest.mark.parametrize("table_of", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_all_makers_have_the_same_codes(table_of):
    rng = np.random.default_rng(0)
    columns = {
        "temp": rng.normal(80, 5, 400),
        "state": rng.choice(["idle", "busy"], 400),
        "count": rng.integers(5, size=400),
    }
    book = uqf.Codebook(max_codes=16).fit(columns)
    assert book.columns_ == ("temp", "state", "count")
    assert (book.encode(table_of(columns)) == book.encode(columns)).all()
    assert uqf.Codebook(max_codes=16).fit(table_of(columns)) == book


def test_one_column_of_names_keeps_them_and_has_a_code_for_unknown_ones():
    book = uqf.Codebook().fit(["wall", "door", "wall", None])
    assert book.observation_names == ("(missing)", "door", "wall") and book.n_codes == 4
    assert book.encode(["wall", "door", None, "window"]).tolist() == [2, 1, 0, 3]
    assert book.encode_one("window") == 3 and book.encode_one(math.nan) == 0
    assert [book.describe(code) for code in range(4)] == ["(missing)", "door", "wall", "(unknown)"]


def test_words_of_a_cell_say_what_lies_in_it():
    temp = np.repeat([70.0, 80.0, 90.0, math.nan], 100)
    state = np.tile(["idle", "busy"], 200)
    book = uqf.Codebook().fit({"temp": temp, "state": state})
    assert book.n_codes == 8
    words = book.describe(book.encode_one({"temp": 95, "state": "idle"}))
    assert words == "temp ≥ 85, state = idle"
    assert book.describe(book.encode_one({"state": "busy"})) == "temp missing, state = busy"
    assert book.encode_one({"temp": 95, "state": "idle"}) == book.encode_one([90.0, "idle"])


def test_dates_are_cut_and_shown_as_dates():
    days = [datetime(2024, 1, 1), datetime(2024, 1, 9)] * 40
    book = uqf.Codebook().fit({"day": days})
    assert book.describe(book.encode_one(datetime(2025, 1, 1))).startswith("day ≥ 2024-01-0")
    assert book.encode_one(np.datetime64("2024-01-01")) != book.encode_one(np.datetime64("2024-01-09"))


def test_a_column_that_only_tells_which_action_is_good_is_kept_and_noise_is_not():
    rng = np.random.default_rng(1)
    offsets, actions = played(rng)
    hint, noise = rng.random((2, len(actions)))
    good = np.append(hint[:-1] > 0.5, False) == np.append(actions[1:], 0)
    rewards = np.concatenate([[0.0], good[:-1].astype(float)])
    book = uqf.Codebook().fit({"hint": hint, "noise": noise}, rewards, offsets, actions=actions)
    assert book.diagnostics_["ignored columns"] == ["noise"] and book.n_codes < 10
    assert book.encode_one((0.4, 0.3)) != book.encode_one((0.6, 0.3))


def test_what_is_seen_first_counts_as_well():
    rng = np.random.default_rng(4)
    first, actions = rng.random(900), rng.choice(["left", "right"], 900)
    rewards = ((first > 0.3) == (actions == "left")).astype(float)
    book = uqf.Codebook().fit(
        {"x": np.zeros(900)}, rewards, np.arange(901), actions=actions, first={"x": first}
    )
    assert book.encode_one(0.2) != book.encode_one(0.4) and book.n_codes <= 4


def test_more_cells_as_the_log_grows_and_never_more_than_allowed():
    sizes = []
    for episodes in (30, 300, 3000):
        rng = np.random.default_rng(2)
        offsets, _ = played(rng, episodes)
        seen = rng.random(offsets[-1])
        rewards = np.concatenate([[0.0], np.sin(9 * seen[:-1])]) + rng.normal(size=len(seen))
        sizes.append(uqf.Codebook().fit(seen[:, None], rewards, offsets).n_codes)
        assert uqf.Codebook(max_codes=3).fit(seen[:, None], rewards, offsets).n_codes <= 3
    assert sizes[0] < sizes[1] < sizes[2] <= 1024


def test_it_is_a_transformer_of_scikit_learn():
    rng = np.random.default_rng(3)
    seen = rng.normal(size=(500, 2))
    book = clone(uqf.Codebook(max_codes=7, seed=2))
    assert book.get_params() == {"max_codes": 7, "seed": 2} and "coding" not in repr(book)
    line = make_pipeline(book, OneHotEncoder())
    assert line.fit_transform(seen).shape[0] == 500
    assert (book.transform(seen)[:, 0] == book.encode(seen)).all()
    assert uqf.Codebook(max_codes=7, seed=2).fit(seen) == book


def test_a_second_fit_forgets_the_names_of_the_first():
    book = uqf.Codebook().fit([1.5, 2.5], actions=["stay", "go"])
    assert book.fit([1.5, 2.5], actions=[0, 1]).action_names is None
    assert book == uqf.Codebook().fit([1.5, 2.5], actions=[0, 1])
    assert book.fit([1.5, 2.5]).n_actions is None


def test_returns_by_action_are_those_of_the_definition():
    rng = np.random.default_rng(5)
    offsets = np.array([0, 1, 4, 9])
    rewards, actions = rng.normal(size=9), rng.integers(2, size=9)
    returns = []
    for first, last in pairwise(offsets):
        for step in range(first, last - 1):
            returns.append(
                sum(SETTINGS.discount**k * reward for k, reward in enumerate(rewards[step + 1 : last]))
            )
    returns = np.array(returns) - np.mean(returns)
    chosen = actions[[2, 3, 5, 6, 7, 8]][:, None] == np.argsort(-np.bincount(actions), kind="stable")
    expected = standardised(returns[:, None] * chosen)
    np.testing.assert_allclose(returns_by_action(rewards, offsets, actions), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_smaller_trees_are_the_beginnings_of_larger_ones(seed):
    rng = np.random.default_rng(seed)
    seen = rng.integers(0, 9, size=(600, 4)).astype(np.float32)
    targets = rng.normal(size=(600, 2)) + (seen[:, :2] > 4) * seen[:, 2:]
    sizes = [2, 3, 4, 6, 8, 11, 16, 23, 64, 90]
    predicted = predictions_by_size(tree_of(seen, targets, sizes[-1]), seen, sizes)
    for size, found in zip(sizes, predicted, strict=True):
        tree = tree_of(seen, targets, size)
        np.testing.assert_array_equal(found, tree.value[tree.apply(seen)])


def test_names_of_actions_come_along():
    book = uqf.Codebook().fit([1.5, 2.5], actions=["stay", "go"])
    assert book.action_names == ("go", "stay") and book.encode_action("stay") == 1
    assert book.decode_action(0) == "go" and book.encode_action(1) == 1
    assert uqf.Codebook.named(("go", "stay")).with_actions(None).decode_action(1) == 1


@pytest.mark.parametrize(
    "damage",
    [
        {"columns": [["a", "number", False, []]], "questions": [[0, 1.0, 1, 1, False]]},
        {"columns": [["a", "number", False, []]], "questions": [[0, 1.0, 0, 2, False]]},
        {"columns": [["a", "number", False, []]], "questions": [[1, 1.0, 1, 2, False]]},
        {"columns": [["a", "number", False, []]], "questions": [[0, "x", 1, 2, False]]},
        {"columns": [["a", "number", False, []]], "questions": [[0, math.inf, 1, 2, False]]},
        {"columns": [["a", "number", False, []]], "questions": [[0, 1.0, 1.0, 2, False]]},
        {"columns": [["a", "number", False, []]], "questions": [[0, 1.0, 1, 2, 0]]},
        {"columns": [["a", "colour", False, []]], "questions": []},
        {"columns": [["a", "category", False, "xy"]], "questions": []},
        {"columns": [["a", "category", False, [1]]], "questions": []},
        {"columns": [["a", "number", False, []]] * 2, "questions": []},
        {"columns": [], "questions": []},
        {"columns": [["a" * 2000, "number", False, []]], "questions": []},
        {"column": "a", "names": ["b", "b"]},
        {"column": "a", "names": "bc"},
        {"column": 3, "names": ["b"]},
        {},
        [],
        3,
    ],
)
def test_damaged_codebooks_are_refused(damage):
    with pytest.raises(ValueError):
        uqf.Codebook.from_dict({"actions": None, "observations": damage})
