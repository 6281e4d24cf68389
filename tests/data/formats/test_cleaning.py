"""Messy logs: everything wrong is told at once, and what can be mended without guessing is."""

import csv
import math

import pytest
from hypothesis import given
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
    columns = uqf.LogColumns(observation="temp")
    if not kept:
        with pytest.raises(uqf.FileFormatError, match="no episode"):
            uqf.read_log(path, columns=columns, clean=True)
        return
    mended = uqf.read_log(path, columns=columns, clean=True)
    assert mended.rewards.tolist() == [row["reward"] for row in kept]
    whole = [row["terminated"] for row in rows]
    assert mended.terminated.sum() == sum(end and row in kept for row, end in zip(rows, whole, strict=True))


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
