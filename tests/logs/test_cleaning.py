"""Messy logs: everything wrong is told at once, and what can be mended without guessing is."""

import csv
import json
import math
import warnings

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app

pytestmark = pytest.mark.filterwarnings("ignore:.*cleaned, with:UserWarning")

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
    with pytest.raises(uqf.FileFormatError):
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
    with pytest.raises(uqf.FileFormatError):
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


def test_a_word_among_hundreds_of_numbers_is_an_error_and_no_name(tmp_path):
    """One such cell turned a column of 12,240 measurements into one of names."""
    path, rows = tmp_path / "log.csv", rows_of([[("cool", 100 * place, 1)] * 3 for place in range(100)])
    rows[7]["temp"], rows[8]["temp"] = "abc", "yes"
    write(path, rows)
    (problem,) = uqf.log_problems(path, columns=LOG)
    assert (problem.column, problem.what, problem.count, problem.rows) == (
        "temp",
        "words among numbers",
        2,
        (7, 8),
    )
    assert problem.severe and problem.example == "'abc'" and "missing" in problem.remedy
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(path, columns=LOG)
    with pytest.warns(UserWarning, match="taken for missing"):
        data = uqf.read_log(path, columns=LOG, clean=True)
    assert data.codebook.observation_names is None, "cells of numbers, no names"
    assert data.lengths.tolist() == [3] * 100


@pytest.mark.parametrize("action", ["0", "1"])
def test_a_rare_name_of_an_action_stays_one(tmp_path, action):
    path = tmp_path / "log.csv"
    lines = [
        "episode,action,observation,reward",
        *(f"{k},{action},{k}.5,1" for k in range(300)),
        "300,stop,1.5,1",
    ]
    path.write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="taken for names"):
        assert uqf.read_log(path, clean=True).codebook.action_names == (action, "stop")


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


def numbers_log(folder, cells, others=()):
    """A log with these rewards, and a column of measurements beside them."""
    lines = ["episode;action;observation;reward"]
    lines += [f"0;go;{other};{cell}" for cell, other in zip(cells, others or ["a"] * len(cells), strict=True)]
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    return folder / "log.csv"


WRITTEN = {
    "minus sign": (["−10", "5", "−0.5"], [-10, 5, -0.5]),
    "percent": (["50%", "0", "12.5 %"], [0.5, 0, 0.125]),
    "points in thousands": (["2.345.678", "1.000", "3"], [2345678, 1000, 3]),
    "plus": (["+1", "-1", "+0.5"], [1, -1, 0.5]),
    "commas in thousands": (["1,234,567", "1,000", "3"], [1234567, 1000, 3]),
    "decimal commas": (["12.345,5", "0,5", "1.000", "3"], [12345.5, 0.5, 1000, 3]),
    "currency": (["€ 1.234,50", "(€2,00)", "−3 €"], [1234.5, -2, -3]),
    "exponents": (["1e3", "−2.5E-1"], [1000, -0.25]),
    "narrow spaces": (["2\u202f€", "3\u00a0€"], [2, 3]),
}


@pytest.mark.parametrize("style", WRITTEN)
def test_what_is_a_number_in_plain_sight_is_read(tmp_path, style):
    cells, numbers = WRITTEN[style]
    assert uqf.read_log(numbers_log(tmp_path, cells), clean=True).rewards.tolist() == numbers


def test_what_a_column_leaves_open_the_others_decide(tmp_path):
    path = numbers_log(tmp_path, ["1,234", "5"], ["0.5", "0.25"])
    assert uqf.read_log(path, clean=True).rewards.tolist() == [1234, 5]
    path = numbers_log(tmp_path, ["1,234", "5"], ["0,5", "0,25"])
    assert uqf.read_log(path, clean=True).rewards.tolist() == [1.234, 5]


def value(cell, mark):
    """A number by its decimal mark, or None; the other mark parts thousands."""
    group = "," if mark == "." else "."
    whole, _, fraction = cell.lstrip("-").partition(mark)
    groups = whole.split(group)
    sound = len(groups) == 1 or (
        1 <= len(groups[0]) <= 3 and groups[0][0] != "0" and {len(one) for one in groups[1:]} == {3}
    )
    if not sound or not "".join([*groups, fraction]).isdigit():
        return None
    return float(f"{'-' * cell.startswith('-')}{''.join(groups)}.{fraction}")


cells = st.from_regex(r"-?([1-9][0-9]{0,2}|0)([.,][0-9]{3}){0,2}([.,][0-9]{1,4})?", fullmatch=True)


@given(st.lists(cells, min_size=1, max_size=6))
def test_a_column_is_read_in_one_notation_or_refused(tmp_path_factory, cells):
    readings = {mark: [value(cell, mark) for cell in cells] for mark in ".,"}
    sound = [reading for reading in readings.values() if None not in reading]
    path = numbers_log(tmp_path_factory.mktemp("logs"), cells)
    try:
        assert uqf.read_log(path, clean=True).rewards.tolist() in sound
    except uqf.FileFormatError:
        assert len(sound) == 0 or (len(sound) == 2 and sound[0] != sound[1])


def test_what_is_cut_left_out_or_merged_is_counted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "episode,action,observation,reward,t\n"
        "0,go,a,1,0\n0,go,b,NA,1\n0,go,a,1,2\n"
        "1,go,3,1,0\n1,go,a,1,0\n1,go,a,1,1\n"
        "2,go,a,,0\n2,go,a,1,1\n,go,a,1,0\n"
    )
    with pytest.warns(UserWarning, match="cleaned") as caught:
        data = uqf.read_log(path, columns=uqf.LogColumns(time="t"), clean=True)
    (warning,) = caught
    assert str(warning.message) == (
        f"{path}: cleaned, with 1 row without episode or time left out; 1 duplicate step left out; 2 episodes of 3 cut "
        "before a step without action, reward or probability, 1 of them wholly: 4 steps lost; 1 number in column "
        "'observation' taken for names"
    )
    assert data.lengths.tolist() == [1, 2] and warning.filename == __file__
    shown = CliRunner().invoke(app, ["inspect", str(path), "--columns", "time=t", "--clean", "--json"])
    assert "4 steps lost" in json.loads(shown.stdout)["cleaned"][2]
    write(path, rows_of([[("go", 1, 2)] * 3] * 2), number=comma)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uqf.read_log(path, columns=LOG, clean=True)


def test_a_comma_after_a_zero_parts_no_thousands(tmp_path):
    (tmp_path / "log.csv").write_text("episode;action;observation;reward\n0;go;1;0,500\n0;go;1;2,500\n")
    assert uqf.read_log(tmp_path / "log.csv", clean=True).rewards.tolist() == [0.5, 2.5]
