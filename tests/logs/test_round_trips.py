"""Logs of every format give the episodes that were written, whole and in batches."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from log_tables import STEPS, as_steps, sizes
from strategies import trajectories
from uqf.logs.text import LIMITS


@given(trajectories(extras=True))
def test_parquet_comes_back_bit_for_bit(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("logs") / "data.parquet"
    data.to_parquet(path)
    assert uqf.read_log(path) == data


@given(trajectories())
def test_one_row_per_step_gives_the_same_episodes(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("logs")
    table = as_steps(data)
    assert uqf.read_log(table, **sizes(data)) == data
    pq.write_table(table, folder / "steps.parquet", row_group_size=3)
    assert uqf.read_log(folder / "steps.parquet", **sizes(data)) == data
    # An episode that is cut by the end of a file goes on in the next one.
    (folder / "many").mkdir()
    for part in range(0, table.num_rows, 4):
        pq.write_table(table.slice(part, 4), folder / "many" / f"{part:05}.parquet")
    assert uqf.read_log(folder / "many", **sizes(data)) == data


@given(trajectories())
def test_text_gives_the_same_episodes(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("logs")
    rows = as_steps(data).to_pylist()
    (folder / "steps.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    lines = [",".join(rows[0])] + [",".join(str(value).lower() for value in row.values()) for row in rows]
    (folder / "steps.csv").write_text("\n".join(lines))
    episodes = [
        {
            "actions": e.actions.tolist(),
            "observations": e.observations.tolist(),
            "rewards": e.rewards.tolist(),
        }
        | ({} if e.behavior_probs is None else {"behavior_probs": e.behavior_probs.tolist()})
        | {"terminated": e.terminated}
        | ({} if e.first_observation is None else {"first_observation": e.first_observation})
        for e in data
    ]
    (folder / "episodes.jsonl").write_text("\n".join(map(json.dumps, episodes)))
    for name in ("steps.jsonl", "steps.csv", "episodes.jsonl"):
        assert uqf.read_log(folder / name, **sizes(data)) == data


@given(trajectories())
def test_every_format_gives_the_same_episodes(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("logs")
    table = as_steps(data)
    pq.write_table(table, folder / "log.parquet")
    pa.feather.write_feather(table, folder / "log.arrow", chunksize=4)
    pa.csv.write_csv(table, folder / "log.csv")
    (folder / "log.jsonl").write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    for path in folder.iterdir():
        assert uqf.read_log(path, **sizes(data)) == data


#: Reads a short log and then a long one; prints the steps it held and by how many bytes the process grew.
READ = """
import re, sys, uqf
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
uqf.read_log(sys.argv[1])
before = peak()
print(uqf.read_log(sys.argv[2]).n_steps, peak() - before)
"""


def long_log(path, episodes):
    """Episodes of 100 steps."""
    steps = np.arange(100) % 3, np.arange(100) % 7, np.arange(100) % 2
    if path.suffix == ".csv":
        rows = "".join("@,{},{},{}\n".format(*step) for step in zip(*steps, strict=True))
        with path.open("w") as file:
            file.write("episode,action,observation,reward\n")
            file.writelines(rows.replace("@", f"{7 * episode}") for episode in range(episodes))
    elif path.suffix == ".jsonl":
        names = ("actions", "observations", "rewards")
        lists = {name: values.tolist() for name, values in zip(names, steps, strict=True)}
        path.write_text((json.dumps(lists) + "\n") * episodes)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_memory_is_bounded_by_the_size_of_text(tmp_path, suffix):
    paths = [tmp_path / f"{size}{suffix}" for size in ("short", "long")]
    for path, episodes in zip(paths, (1000, 20_000), strict=True):
        long_log(path, episodes)
    run = subprocess.run(
        [sys.executable, "-c", READ, *map(str, paths)], capture_output=True, text=True, check=True
    )
    steps, growth = map(int, run.stdout.split())
    assert steps == 2_000_000
    assert growth < LIMITS.memory * paths[1].stat().st_size


@given(trajectories(), st.integers(1, 5))
def test_a_converted_log_is_the_log(tmp_path_factory, data, size):
    folder = tmp_path_factory.mktemp("logs")
    pa.csv.write_csv(as_steps(data), folder / "log.csv")
    read = uqf.read_log(folder / "log.csv")
    files = uqf.convert(folder / "log.csv", folder / "shards", episodes_per_file=size)
    assert len(files) == -(-len(data) // size) and files == sorted((folder / "shards").iterdir())
    assert uqf.read_log(folder / "shards") == read
    assert (
        uqf.concatenate([part for shard in uqf.Shards(folder / "shards") for part in shard.batches()]) == read
    )


def test_a_log_is_converted_whole_or_not_at_all(tmp_path):
    lines = ["episode,action,observation,reward", "0,go,a,1", "1,go,b,2"]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    (tmp_path / "bad.csv").write_text("\n".join([*lines, "0,go,a,1"]))
    with pytest.raises(uqf.FileFormatError):
        uqf.convert(tmp_path / "bad.csv", tmp_path / "shards", episodes_per_file=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "log.csv"]
    (tmp_path / "shards").mkdir()
    names = uqf.Codebook.named(("stay", "go"), ("a",))
    uqf.convert(tmp_path / "log.csv", tmp_path / "shards", codebook=names)
    assert uqf.read_log(tmp_path / "shards").observations.tolist() == [0, 1]
    with pytest.raises(FileExistsError):
        uqf.convert(tmp_path / "log.csv", tmp_path / "shards")
    # What is ours already is cut anew, a batch at a time.
    uqf.convert(tmp_path / "shards", tmp_path / "cut", episodes_per_file=1)
    assert len(uqf.Shards(tmp_path / "cut")) == 2 and uqf.read_log(tmp_path / "cut").codebook == names


def test_the_format_may_be_said(tmp_path):
    pa.csv.write_csv(pa.table(STEPS), tmp_path / "log.txt")
    assert uqf.read_log(tmp_path / "log.txt", format="csv") == uqf.read_log(pa.table(STEPS))


class Frame:
    """Anything that speaks Arrow, such as a polars or pandas frame."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_frames_are_read_through_the_arrow_interface():
    assert uqf.read_log(Frame(pa.table(STEPS))) == uqf.read_log(pa.table(STEPS))
    coded = pa.table(STEPS | {"action": pa.array(STEPS["action"]).dictionary_encode()})
    assert uqf.read_log(coded) == uqf.read_log(pa.table(STEPS))


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_frames_of_the_usual_libraries(library):
    frame = pytest.importorskip(library).DataFrame(STEPS)
    assert uqf.read_log(frame) == uqf.read_log(pa.table(STEPS))


def test_columns_may_have_other_names():
    table = pa.table(STEPS).rename_columns(["user", "item", "click", "gain", "p", "done"])
    columns = uqf.LogColumns("user", "item", "click", "gain", "p", "done")
    assert uqf.read_log(table, columns=columns) == uqf.read_log(pa.table(STEPS))
