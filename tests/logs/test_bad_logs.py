"""Everything that can be wrong with a log is refused by name."""

import contextlib
import dataclasses
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from log_tables import STEPS
from uqf import _core
from uqf.logs import text


def damaged(column, values):
    return pa.table(STEPS | {column: values})


LISTS = {"actions": [[0, 1], [1]], "observations": [[0, 0], [1]], "rewards": [[0.0, 1.0], [2.0]]}


BAD_TABLES = {
    "no rows": pa.table(STEPS).slice(0, 0),
    "no reward": pa.table(STEPS).drop_columns("reward"),
    "no episode": pa.table(STEPS).drop_columns("episode"),
    "rewards of strings": damaged("reward", ["a"] * 5),
    "NaN": damaged("reward", [0.0, np.nan, 0, 0, 0]),
    "infinity": damaged("reward", [0, 0, 0, 0, np.inf]),
    "missing": damaged("reward", [0.0, None, 0, 0, 0]),
    "propensity 0": damaged("behavior_prob", [0.5, 0, 1, 1, 1]),
    "propensity 1.5": damaged("behavior_prob", [0.5, 0.5, 1.5, 1, 1]),
    "id comes back": damaged("episode", [7, 7, 3, 7, 7]),
    "end in the middle": damaged("terminated", [True] + [False] * 4),
    "actions of floats": damaged("action", [0.5] * 5),
    "negative action": damaged("action", [0, -1, 0, 0, 0]),
    "lists and numbers": pa.table(LISTS | {"rewards": [0.0, 1.0]}),
    "unequal lists": pa.table(LISTS | {"rewards": [[0.0, 1.0], [2.0, 3.0]]}),
    "empty episode": pa.table({name: [*lists, []] for name, lists in LISTS.items()}),
    "infinite in a list": pa.table(LISTS | {"rewards": [[0.0, np.inf], [2.0]]}),
    "a million numbers": damaged("action", [0, 1, 2, 3, 999_999]),
    "NaN as id": damaged("episode", [0.5, np.nan, np.nan, 1, 1]),
    "large fractions as ids": damaged("episode", [0.5, 2.0**53, 2.0**53, 1, 1]),
    "lists as ids": damaged("episode", [[1], [1], [2], [2], [2]]),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables_are_refused_in_one_sentence_by_every_reader(tmp_path, name):
    with pytest.raises(uqf.FileFormatError) as as_table:
        uqf.read_log(BAD_TABLES[name])
    path = tmp_path / "log.parquet"
    pq.write_table(BAD_TABLES[name], path)
    with pytest.raises(uqf.FileFormatError) as as_file:
        uqf.read_log(path)
    # Parquet calls the entries of lists otherwise.
    said = str(as_file.value).replace("list<element:", "list<item:")
    assert said == str(as_table.value).replace("this Table", str(path))


@pytest.mark.parametrize(
    "name",
    [name for name, table in BAD_TABLES.items() if "action" in table.column_names and name != "lists as ids"],
)
def test_bad_tables_are_refused_as_text_and_as_arrow_files(tmp_path, name):
    table = BAD_TABLES[name]
    pa.csv.write_csv(table, tmp_path / "log.csv")
    (tmp_path / "log.jsonl").write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    pa.feather.write_feather(table, tmp_path / "log.arrow")
    for path in tmp_path.iterdir():
        with pytest.raises(uqf.FileFormatError):
            uqf.read_log(path)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow"])
def test_rows_are_counted_from_the_beginning_of_the_log(tmp_path, suffix):
    """Far beyond the first block that a reader of blocks would take."""
    rows, path = 60_000, tmp_path / f"log.{suffix}"
    steps = {
        "episode": [row // 2 + 0.5 for row in range(rows)],
        "action": [0] * rows,
        "observation": [0] * rows,
    }
    for role in ("episode", "action", "reward"):
        values = steps | {"reward": [0.0] * rows}
        values[role] = [*values[role][:-50], None, *values[role][-49:]]
        table = pa.table(values)
        match suffix:
            case "csv":
                pa.csv.write_csv(table, path)
            case "jsonl":
                path.write_text("\n".join(map(json.dumps, table.to_pylist())))
            case "parquet":
                pq.write_table(table, path)
            case "arrow":
                pa.feather.write_feather(table, path)
        with pytest.raises(uqf.FileFormatError, match=f"'{role}', row {rows - 50}: the value is missing"):
            uqf.read_log(path)


def test_rows_of_lists_are_counted_from_the_beginning(tmp_path):
    lists = {"actions": [[0]] * 300, "observations": [[0]] * 300}
    table = pa.table(lists | {"rewards": [[0.0]] * 250 + [[np.inf]] + [[0.0]] * 49})
    pq.write_table(table, tmp_path / "log.parquet")
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(tmp_path / "log.parquet", n_actions=1, n_observations=1)


def test_rows_of_a_cleaned_and_sorted_log_are_those_of_the_file(tmp_path):
    csv = tmp_path / "log.csv"
    csv.write_text(
        "episode,action,observation,reward,behavior_prob,t\n"
        ",0,0,1,1,0\n1,0,0,1,1,2\n0,0,0,1,1,0\n1,0,0,1,7,1\n0,0,0,1,1,0\n"
    )
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(csv, columns=uqf.LogColumns(time="t"), clean=True)


def test_an_episode_that_comes_back_is_refused_across_batches_and_files(tmp_path):
    def steps(ids):
        rows = len(ids)
        return pa.table(
            {"episode": ids, "action": [0] * rows, "observation": [0] * rows, "reward": [0.0] * rows}
        )

    for ids in ([*range(50), 3], [7, 5, 9, 5], ["a", "b", "a"], ["0", "1", "0"]):
        pa.csv.write_csv(steps(ids), tmp_path / "log.csv")
        with pytest.raises(uqf.FileFormatError, match=f"row {len(ids) - 1}: episode '{ids[-1]}' comes back"):
            uqf.read_log(tmp_path / "log.csv")
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(steps([0, 1, 2]), folder / "0.parquet")
    pq.write_table(steps([2, 3, 1]), folder / "1.parquet")
    with pytest.raises(uqf.FileFormatError, match="row 5: episode 1 comes back"):
        uqf.read_log(folder)


def test_text_has_the_types_that_all_its_rows_need(tmp_path):
    head = "episode,action,observation,reward\n"
    rows = [f"{row // 3},{row % 2},name{row % 3},{0.5 if row == 59 else row % 2}" for row in range(60)]
    csv = tmp_path / "log.csv"
    csv.write_text(head + "\n".join(rows))
    assert uqf.read_log(csv).rewards.tolist() == [0.0, 1.0] * 29 + [0.0, 0.5]
    csv.write_text(head + "\n".join(rows) + "\n20,up,name0,0")
    lines = tmp_path / "log.jsonl"
    steps = [{"episode": row // 3, "action": row % 2, "observation": 0, "reward": row} for row in range(30)]
    steps[-1]["terminated"] = True
    lines.write_text("\n".join(map(json.dumps, steps)))
    assert uqf.read_log(lines).rewards.tolist() == list(range(30))
    assert uqf.read_log(lines).terminated.tolist() == [False] * 9 + [True], "said only where it is true"
    steps[-4:] = [step | {"reward": "much"} for step in steps[-4:]]
    lines.write_text("\n".join(map(json.dumps, steps)))
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(lines)
    lines.write_text(json.dumps(steps[0]) + " " * 10_000 + "\n\n" + json.dumps(steps[1]))
    assert len(uqf.read_log(lines)) == 1, "blank lines and spaces are no rows"


def test_dates_and_hexadecimal_numbers_of_a_csv_file_are_names(tmp_path):
    csv = tmp_path / "log.csv"
    csv.write_text("episode,action,observation,reward\n0,0x1F,2024-05-17,1\n0,0x20,2024-05-18,2\n")
    data = uqf.read_log(csv)
    assert data.codebook.action_names == ("0x1F", "0x20")
    assert data.codebook.observation_names == ("2024-05-17", "2024-05-18")
    csv.write_text("episode,action,observation,reward\n0,3,0xy,1\n007,2,x0x,2\n7,1,0xy,2\n")
    data = uqf.read_log(csv)
    assert data.codebook.action_names is None and data.actions.tolist() == [3, 2, 1]
    assert len(data) == 3, "ids are told apart as they stand"


def test_quotations_may_go_on_over_lines(tmp_path):
    csv = tmp_path / "log.csv"
    rows = [f'{row // 3},{row % 2},"left\n""and"",\nright{row % 2}",{row}' for row in range(60)]
    csv.write_text('episode,action,observation,reward,"a\nnote"\n' + ",\n".join(rows) + ",\n\n\n")
    data = uqf.read_log(csv)
    assert data.codebook.encode_one('left\n"and",\nright1') == data.observations[1] == 1
    assert data.rewards.tolist() == list(range(60)) and len(data) == 20


def test_text_beyond_what_is_parsed_in_one_piece_is_parsed_in_several(tmp_path, monkeypatch):
    monkeypatch.setattr("uqf.logs.text.LIMITS", dataclasses.replace(text.LIMITS, block=200))
    test_quotations_may_go_on_over_lines(tmp_path)
    test_a_quote_within_a_value_is_a_mark_like_others(tmp_path)


def test_values_without_end_are_told_in_short(tmp_path):
    csv = tmp_path / "log.csv"
    csv.write_text("episode,action,observation,reward\n0,0,0,much" + "x" * 100_000 + "more\n")
    with pytest.raises(uqf.FileFormatError, match=r"'muchx+…x+more'.*: give numbers") as told:
        uqf.read_log(csv)
    assert len(str(told.value)) < 2_500
    (problem,) = uqf.log_problems(csv)
    assert problem.example.startswith("'much") and problem.example.endswith("more'")
    assert len(problem.example) == 60


def test_a_quote_within_a_value_is_a_mark_like_others(tmp_path):
    csv = tmp_path / "log.csv"
    rows = [f'{row // 3},{row % 2},{5 + row % 2}" pipe,{row}' for row in range(61)]
    csv.write_text("episode,action,observation,reward\n" + "\n".join(rows))
    data = uqf.read_log(csv)
    assert data.codebook.encode_one('6" pipe') == data.observations[1] == 1
    assert data.rewards.tolist() == list(range(61))


def test_mixed_types_in_text_are_refused(tmp_path):
    csv = tmp_path / "log.csv"
    csv.write_text("episode,action,observation,reward\n0,1,0,0.5\n0,up,0,1\n")
    lines = tmp_path / "log.jsonl"
    rows = [{"episode": 0, "action": action, "observation": 0, "reward": 0} for action in (1, "up")]
    lines.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(lines)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "jsonl"])
def test_an_empty_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    path.touch()
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(path)


def test_a_parquet_file_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "log.parquet"
    uqf.rollout(uqf.make("tiger"), episodes=50).to_parquet(path)
    whole = path.read_bytes()
    for size in (len(whole) // 2, 5, len(whole) - 1):
        path.write_bytes(whole[:size])
        for read in (uqf.read_log, uqf.Shards):
            with pytest.raises(uqf.FileFormatError):
                read(path)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.parquet"
    uqf.rollout(uqf.make("tiger"), episodes=30, horizon=5).to_parquet(path)
    return path, path.read_bytes()


@given(data=st.data())
def test_a_flipped_bit_is_found_or_leaves_valid_episodes(parquet, data):
    path, content = parquet
    damaged = bytearray(content)
    damaged[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    broken = path.with_name("broken.parquet")
    broken.write_bytes(damaged)
    with contextlib.suppress(uqf.FileFormatError):
        _core.validate(uqf.read_log(broken))


@given(st.binary(max_size=200), st.sampled_from([".parquet", ".arrow", ".csv", ".jsonl"]))
def test_any_bytes_are_refused_or_read(tmp_path_factory, content, suffix):
    path = (tmp_path_factory.getbasetemp() / "noise").with_suffix(suffix)
    path.write_bytes(content)
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        uqf.read_log(tmp_path / "log.parquet")


def test_a_record_batch_that_claims_more_memory_than_there_is_is_refused_by_name(tmp_path, monkeypatch):
    """Older pyarrow raises a `MemoryError` for such a file."""
    path = tmp_path / "log.arrow"
    table = pa.table({"episode": [0, 0], "action": [0, 1], "observation": [1, 0], "reward": [0.0, 1.0]})
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    assert len(uqf.read_log(path)) == 1

    class Greedy:
        num_record_batches, schema = 1, table.schema

        def get_batch(self, index):
            raise MemoryError

    monkeypatch.setattr("uqf.logs.tables.pa.ipc.open_file", lambda file: Greedy())
    with pytest.raises(uqf.FileFormatError, match="record batch 0 claims to need more memory"):
        uqf.read_log(path)
