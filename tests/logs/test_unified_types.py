"""A log has one type for a column, however its parts are written."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from log_tables import STEPS, as_steps, sizes
from strategies import trajectories

numbers = st.integers(-9, 9) | st.floats(-9, 9)


def rows_of(rewards, length=3):
    return [
        {"episode": place // length, "action": 0, "observation": place % 2, "reward": reward}
        for place, reward in enumerate(rewards)
    ]


@given(st.lists(numbers, min_size=1, max_size=40), st.integers(1, 40))
def test_whole_numbers_and_fractions_are_numbers_in_lines_and_in_folders(tmp_path_factory, rewards, cut):
    folder = tmp_path_factory.mktemp("logs")
    rows = rows_of(rewards)
    lines = folder / "log.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows)))
    assert uqf.read_log(lines).rewards.tolist() == rewards
    parts = folder / "parts"
    parts.mkdir()
    for first in range(0, len(rows), cut):
        pq.write_table(pa.Table.from_pylist(rows[first : first + cut]), parts / f"{first:05}.parquet")
    assert uqf.read_log(parts).rewards.tolist() == rewards


@given(
    st.lists(
        st.sampled_from([2**53, 2**53 + 1, 0.5, 7, 2**60, 2**60 + 1]), min_size=1, max_size=8, unique=True
    )
)
def test_ids_of_any_size_are_told_apart_or_refused(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("logs") / "log.jsonl"
    path.write_text(
        "\n".join(json.dumps({"episode": one, "action": 0, "observation": 0, "reward": 0}) for one in ids)
    )
    if 0.5 in ids and max(ids) >= 2**53:  # fractions are read as such, and large ones merge
        with pytest.raises(uqf.FileFormatError):
            uqf.read_log(path)
    else:
        assert len(uqf.read_log(path)) == len(ids)


def test_files_of_a_folder_with_other_names_are_refused(tmp_path):
    data = uqf.read_log(pa.table(STEPS))
    data.to_parquet(tmp_path / "0.parquet")
    other = uqf.Codebook.named(("right", "left"), data.codebook.observation_names)
    uqf.Trajectories(**data.__getstate__() | {"codebook": other}).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(tmp_path)


def test_files_of_a_folder_that_cannot_be_one_log_are_refused(tmp_path):
    pq.write_table(pa.table(STEPS), tmp_path / "0.parquet")
    pq.write_table(pa.table(STEPS | {"reward": ["a"] * 5}), tmp_path / "1.parquet")
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(tmp_path)


@given(trajectories())
def test_compressed_text_gives_the_same_episodes(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("logs")
    rows = as_steps(data).to_pylist()
    lines = "\n".join(map(json.dumps, rows)).encode()
    head = [",".join(rows[0]), *(",".join(str(value).lower() for value in row.values()) for row in rows)]
    table = "\n".join(head).encode()
    for name, content in (("log.jsonl", lines), ("log.csv", table)):
        (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        (folder / f"{name}.zst").write_bytes(pa.compress(content, "zstd", asbytes=True))
        for suffix in ("gz", "zst"):
            assert uqf.read_log(folder / f"{name}.{suffix}", **sizes(data)) == data


@pytest.mark.parametrize("suffix", ["csv.gz", "jsonl.gz", "csv.zst", "jsonl.zst"])
def test_damaged_compression_is_refused(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    whole = b"episode,action,observation,reward\n" + b"0,1,0,1\n" * 1000
    good = gzip.compress(whole) if suffix.endswith("gz") else pa.compress(whole, "zstd", asbytes=True)
    for content in (b"", b"no such thing", good[: len(good) // 2]):
        path.write_bytes(content)
        with pytest.raises(uqf.FileFormatError):
            uqf.read_log(path)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_values_may_be_separated_in_other_ways(tmp_path, separator):
    table = pa.table(STEPS)
    lines = [separator.join(table.column_names)]
    lines += [separator.join(str(value).lower() for value in row.values()) for row in table.to_pylist()]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    assert uqf.read_log(tmp_path / "log.csv") == uqf.read_log(table)


@given(trajectories(), st.randoms())
def test_rows_may_lie_anywhere_if_a_column_tells_the_time(tmp_path_factory, data, random):
    table = as_steps(data)
    table = table.append_column("ts", pa.array(np.arange(table.num_rows) * 0.5))
    rows = list(range(table.num_rows))
    random.shuffle(rows)
    mixed = table.take(rows)
    columns = uqf.LogColumns(time="ts")
    assert uqf.read_log(mixed, columns=columns, **sizes(data)) == data, "episodes by their first time"
    path = tmp_path_factory.mktemp("logs") / "log.parquet"
    pq.write_table(mixed, path, row_group_size=3)
    assert uqf.read_log(path, columns=columns, **sizes(data)) == data
