"""Messy logs: everything wrong is told at once, and what can be mended without guessing is."""

import csv
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf

COLUMNS = ["episode", "action", "temp", "reward", "terminated", "ts"]
LOG = uqf.LogColumns(observation="temp", time="ts")

steps = st.tuples(st.sampled_from(["cool", "wait"]), st.integers(-4000, 4000), st.integers(-(10**6), 10**6))
logs = st.lists(st.lists(steps, min_size=1, max_size=4), min_size=1, max_size=5)


def rows_of(log):
    return [
        {
            "episode": str(episode),
            "action": action,
            "temp": temp / 100,
            "reward": reward / 100,
            "terminated": place == len(taken) - 1,
            "ts": str(place),
        }
        for episode, taken in enumerate(log)
        for place, (action, temp, reward) in enumerate(taken)
    ]


def write(path, rows, separator=",", number=str, truth=lambda one: str(one).lower()):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(COLUMNS)
        for row in rows:
            cells = (row["episode"], row["action"], number(row["temp"]), number(row["reward"]))
            writer.writerow([*cells, truth(row["terminated"]), row["ts"]])


def comma(number):
    return f"{number:.2f}".replace(".", ",")


STYLES = {
    "comma": comma,
    "euros": lambda number: f"{comma(number)} €",
    "dollars": lambda number: f"${number:,.2f}" if number >= 0 else f"(${-number:,.2f})",
    "thousands": lambda number: f"{number:,.2f}",
}


@given(logs, st.sampled_from(sorted(STYLES)), st.sampled_from(",;\t|"), st.randoms())
def test_numbers_in_any_dress_and_rows_in_any_order_are_read(tmp_path_factory, log, style, separator, random):
    folder = tmp_path_factory.mktemp("logs")
    rows = rows_of(log)
    write(folder / "plain.csv", rows)
    plain = uqf.read_log(folder / "plain.csv", columns=LOG)
    mixed = rows + random.sample(rows, len(rows) // 2)
    first = list(dict.fromkeys(row["episode"] for row in rows))
    mixed = sorted(mixed, key=lambda row: (first.index(row["episode"]), random.random()))
    write(folder / "messy.csv", mixed, separator, STYLES[style], lambda one: "Yes" if one else "no")
    with pytest.raises(uqf.FileFormatError, match="All problems of the log"):
        uqf.read_log(folder / "messy.csv", columns=LOG)
    mended = uqf.read_log(folder / "messy.csv", columns=LOG, clean=True)
    assert mended.rewards.tolist() == plain.rewards.tolist()
    assert (mended.actions.tolist(), mended.offsets.tolist()) == (
        plain.actions.tolist(),
        plain.offsets.tolist(),
    )
    assert mended.terminated.tolist() == plain.terminated.tolist()
    found = {problem.what: problem for problem in uqf.log_problems(folder / "messy.csv", columns=LOG)}
    assert found["answers of yes or no"].count == len(mixed)
    if len(mixed) > len(rows):
        assert found["duplicate steps"].count == len(mixed) - len(rows)


@given(logs, st.data())
def test_episodes_end_before_their_first_gap(tmp_path_factory, log, data):
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    rows = rows_of(log)
    gaps = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    write(path, [row | ({"reward": math.nan} if gap else {}) for row, gap in zip(rows, gaps, strict=True)])
    gone, kept = set(), []
    for row, gap in zip(rows, gaps, strict=True):
        gone |= {row["episode"]} if gap else set()
        kept += [] if row["episode"] in gone else [row]
    assume(kept)
    mended = uqf.read_log(path, columns=uqf.LogColumns(observation="temp"), clean=True)
    assert mended.rewards.tolist() == [row["reward"] for row in kept]
    whole = [row["terminated"] for row in rows]
    assert mended.terminated.sum() == sum(end and row in kept for row, end in zip(rows, whole, strict=True))


@given(logs)
def test_a_log_of_which_nothing_is_left_is_refused(tmp_path_factory, log):
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    write(path, [row | {"reward": math.nan} for row in rows_of(log)])
    with pytest.raises(uqf.FileFormatError, match="no episode"):
        uqf.read_log(path, columns=uqf.LogColumns(observation="temp"), clean=True)


def test_all_problems_are_told_with_counts_rows_and_the_way_out(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "episode;action;observation;reward;done\n"
        "0;go;3,5;$1;yes\n"
        "0;go;;;no\n"
        ";4;2,5;2,5;no\n"
        "1;go;1,5;lots;no\n"
        "0;go;1,0;1,000;no\n"
    )
    found = {(one.column, one.what): one for one in uqf.log_problems(path)}
    assert {key: (one.count, one.rows) for key, one in found.items()} == {
        ("action", "numbers among names"): (1, (2,)),
        ("episode", "missing values"): (1, (2,)),
        ("episode", "episodes that come back"): (1, (4,)),
        ("observation", "decimal commas"): (4, (0, 2, 3)),
        ("observation", "missing values"): (1, (1,)),
        ("reward", "missing values"): (1, (1,)),
        ("reward", "currency signs"): (1, (0,)),
        ("reward", "decimal commas"): (2, (2, 4)),
        ("reward", "values that are no numbers"): (1, (3,)),
        ("done", "looks like `terminated`, but is not used"): (0, ()),
    }
    assert not found["observation", "missing values"].severe
    assert "terminated=done" in found["done", "looks like `terminated`, but is not used"].remedy
    with pytest.raises(uqf.FileFormatError) as told:
        uqf.read_log(path)
    assert all(str(problem) in str(told.value) for problem in found.values() if problem.severe)


def test_a_good_log_has_no_problems(tmp_path):
    write(tmp_path / "log.csv", rows_of([[("go", 1, 2)] * 3] * 2))
    assert uqf.log_problems(tmp_path / "log.csv", columns=LOG) == []


@pytest.mark.parametrize(
    ("levels", "read"),
    [
        (["2,817", "3,105"], [2.817, 3.105]),  # the other column has decimal commas: so has this one
        (["0,817", "3,105"], [0.817, 3.105]),
        (["2,817.5", "3,105.0"], [2817.5, 3105.0]),  # a point after the comma says that it parts thousands
    ],
)
def test_what_a_comma_means_is_the_same_in_all_columns_of_a_log(tmp_path, levels, read):
    pairs = zip(levels * 40, ("1,5", "2,25") * 40, strict=True)
    lines = [f"0;go;{level};{reward}" for level, reward in pairs]
    (tmp_path / "log.csv").write_text("\n".join(["episode;action;observation;reward", *lines]) + "\n")
    problems = {one.column: one.what for one in uqf.log_problems(tmp_path / "log.csv")}
    assert problems["observation"] == ("decimal commas" if read[0] < 10 else "commas in thousands")
    data = uqf.read_log(tmp_path / "log.csv", clean=True)
    assert [data.codebook.encode_one(value) for value in read] == data.observations[:2].tolist() == [0, 1]


def test_a_comma_after_a_zero_parts_no_thousands(tmp_path):
    (tmp_path / "log.csv").write_text("episode;action;observation;reward\n0;go;1;0,500\n0;go;1;2,500\n")
    assert uqf.read_log(tmp_path / "log.csv", clean=True).rewards.tolist() == [0.5, 2.5]


def test_an_error_of_a_cleaned_log_does_not_list_what_is_cleaned(tmp_path):
    text = "episode,action,observation,reward,terminated\n0,go,1,$1,yes\n0,go,1,$2,no\n"
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(uqf.FileFormatError, match="currency signs"):
        uqf.read_log(tmp_path / "log.csv")
    with pytest.raises(uqf.FileFormatError, match="row 0: true before the last step") as refused:
        uqf.read_log(tmp_path / "log.csv", clean=True)
    assert "leave out terminated" in str(refused.value) and "currency" not in str(refused.value)
