"""Files made to exhaust: each is refused before it costs memory or time."""

import contextlib
import gzip
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from uqf.logs.arrow_sizes import declared_bytes
from uqf.logs.parquet_sizes import chunks_of
from uqf.logs.text import LIMITS


def test_text_that_nests_or_repeats_without_end_is_refused(tmp_path):
    hostile = {
        "deep.jsonl": b"[" * 1_000_000,
        "deeper.jsonl": b'{"a":' * 1_000_000,
        "quote.csv": b'episode,action,observation,reward\n0,0,0,"' + b"x" * 1_000_000,
        "wide.csv": b",".join(b"c%d" % column for column in range(10_000)) + b"\n",
        "zeros.csv": bytes(1_000_000),
        "zeros.jsonl": bytes(1_000_000),
        # Two hundred megabytes of blank lines, and of zeros.
        "bomb.csv.gz": gzip.compress(b"\n" * 200_000_000),
        "bomb.jsonl.zst": pa.compress(bytes(200_000_000), "zstd", asbytes=True),
    }
    for name, content in hostile.items():
        (tmp_path / name).write_bytes(content)
    # In a process of its own: a stack that overflows cannot be caught.
    code = """
import sys, uqf
for path in sys.argv[1:]:
    try:
        uqf.read_log(path)
    except uqf.FileFormatError:
        print("refused", flush=True)
"""
    paths = [tmp_path / name for name in hostile]
    run = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, timeout=200)
    assert run.stdout.split() == ["refused"] * len(hostile), f"status {run.returncode}: {run.stderr[-500:]}"


def test_a_compressed_bomb_is_refused_before_it_is_expanded(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(bytes(LIMITS.modest + 1)))
    with pytest.raises(
        uqf.FileFormatError, match=f"expand to more than {LIMITS.modest}: expand the file first"
    ):
        uqf.read_log(path)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_text_beyond_the_memory_of_the_machine_is_refused_before_it_is_read(tmp_path, suffix):
    path = tmp_path / f"sparse.{suffix}"
    path.touch()
    os.truncate(path, 2**40)
    with pytest.raises(uqf.FileFormatError, match=r"1099511627776 bytes of text: .*\(uqf\.convert\)"):
        uqf.read_log(path)


#: Reads damaged text, whose errors come late in it, and ends; a thread that waits for itself would never end.
DAMAGED = """
import sys, uqf
from uqf.logs import text
import dataclasses
if sys.argv[1] == "blocks":
    text.LIMITS = dataclasses.replace(text.LIMITS, block=2**16)
for path in sys.argv[2:]:
    for _ in range(20):
        try:
            uqf.read_log(path)
        except uqf.FileFormatError:
            print("refused", flush=True)
"""


@pytest.mark.parametrize("pieces", ["whole", "blocks"])
def test_a_process_ends_after_damaged_text(tmp_path, pieces):
    """Arrow's readers on several threads do not let it: apache/arrow#43604, apache/arrow#43892."""
    row, line = b"7,0,1,0.5\n", b'{"episode": 0, "action": 0, "observation": 0, "reward": 0.5}\n'
    damaged = {
        "columns.csv": b"episode,action,observation,reward\n" + row * 40_000 + b"1,2\n" + row * 40_000,
        "letters.csv": b"episode,action,observation,reward\n"
        + row * 40_000
        + b"7,\xff\xfe,0,0\n"
        + row * 40_000,
        "braces.jsonl": line * 4_000 + b"}{\n" + line * 4_000,
    }
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
    command = [sys.executable, "-c", DAMAGED, pieces, *(tmp_path / name for name in damaged)]
    for _ in range(3):
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert run.stdout.split() == ["refused"] * 60, f"status {run.returncode}: {run.stderr[-500:]}"
        assert run.returncode == 0


def bombs():
    """Tables of a few kilobytes in a file, and of gigabytes as plain values."""
    long, rows, many = "x" * 100_000, 200_000, 150_000_000
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([long]))
    zeros = pa.array(np.zeros(rows, np.int8))
    row, long_row = (pa.array([0, size], pa.int32()) for size in (rows, many))
    few = pa.ListArray.from_arrays(row, zeros)
    numbers = pa.ListArray.from_arrays(long_row, pa.array(np.zeros(many, np.int8)))
    steps = {"episode": zeros, "action": zeros, "reward": zeros}
    return {
        "dictionary": steps | {"observation": same},
        "list of a dictionary": {
            "actions": few, "observations": pa.ListArray.from_arrays(row, same), "rewards": few,
        },
        "one long row": dict.fromkeys(("actions", "observations", "rewards"), numbers),
        "nothing": dict.fromkeys(("episode", "action", "observation", "reward"), pa.nulls(many)),
    }  # fmt: skip


#: Reads logs where there is little memory beyond what the process has at first.
NARROW = """
import resource, sys, uqf
for path in sys.argv[1:]:
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**30, -1))
    try:
        uqf.read_log(path)
    except uqf.FileFormatError as error:
        print("bytes expand to more than" in str(error), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by /proc")
def test_binary_files_that_stand_for_much_more_than_their_bytes_are_refused_before_they_are_expanded(
    tmp_path,
):
    paths = []
    for name, columns in bombs().items():
        table = pa.table(columns)
        paths.append(tmp_path / f"{name}.arrow")
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(paths[-1], table.schema, options=options) as file:
            file.write_table(table)
        if name != "nothing":  # which Parquet has not
            paths.append(tmp_path / f"{name}.parquet")
            pq.write_table(table, paths[-1], compression="zstd")
    assert max(os.path.getsize(path) for path in paths) < 200_000
    run = subprocess.run([sys.executable, "-c", NARROW, *paths], capture_output=True, text=True)
    assert run.stdout.split() == ["True"] * len(paths), run.stdout + run.stderr[-500:]


@given(
    st.lists(st.integers(0, 5000), min_size=1, max_size=4),
    st.sampled_from([None, "lz4", "zstd"]),
    st.binary(min_size=8, max_size=8),
)
def test_arrow_files_say_what_they_expand_to(tmp_path_factory, lengths, compression, noise):
    path = tmp_path_factory.getbasetemp() / "sizes.arrow"
    column = pa.array(np.arange(sum(lengths)) % 3)
    names = pa.array(["a", "bc"] * sum(lengths)).dictionary_encode()[: sum(lengths)]
    table = pa.table({"numbers": column, "names": names})
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as file:
        for begin, length in zip(np.cumsum([0, *lengths]), lengths, strict=False):
            file.write_table(table.slice(begin, length))
    with open(path, "rb") as file:
        declared = declared_bytes(file)
    # Numbers and indices, the dictionary, and what Arrow adds so that buffers begin at multiples of 64.
    plain = 12 * sum(lengths)
    assert plain <= declared <= plain + 64 * (8 + 4 * len(lengths))
    # Whatever stands anywhere, sizes are read or the file is refused.
    content = bytearray(path.read_bytes())
    place = int.from_bytes(noise, "little") % (len(content) - 8)
    content[place : place + 8] = noise
    path.write_bytes(content)
    with open(path, "rb") as file, contextlib.suppress(uqf.FileFormatError):
        declared_bytes(file)


def test_a_compressed_batch_that_claims_more_than_there_is_is_refused_before_it_is_expanded(tmp_path):
    path = tmp_path / "log.arrow"
    table = pa.table(dict.fromkeys(("episode", "action", "observation", "reward"), np.zeros(5000, np.int64)))
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        file.write_table(table)
    stated = (40_000).to_bytes(8, "little")
    content = path.read_bytes()
    assert content.count(stated) >= 4
    path.write_bytes(content.replace(stated, (2**40).to_bytes(8, "little")))
    with pytest.raises(uqf.FileFormatError, match="expand to more than"):
        uqf.read_log(path)


@given(
    st.lists(st.lists(st.floats(-1e9, 1e9), max_size=5), min_size=1, max_size=9),
    st.integers(1, 4),
    st.binary(min_size=4, max_size=4),
)
def test_the_footer_of_a_parquet_file_is_read_as_arrow_reads_it(tmp_path_factory, rows, group, noise):
    """pyarrow's metadata of a column ended the process where its size statistics were damaged."""
    path = tmp_path_factory.getbasetemp() / "footer.parquet"
    table = pa.table({"numbers": pa.array(rows, pa.list_(pa.float64())), "place": range(len(rows))})
    pq.write_table(table, path, row_group_size=group)
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    columns = [one.column(place) for one in groups for place in range(2)]
    with open(path, "rb") as file:
        chunks = list(chunks_of(file))
    assert [chunk.values for chunk in chunks] == [column.num_values for column in columns]
    assert [chunk.column for chunk in chunks] == ["numbers", "place"] * len(groups)
    for chunk, column in zip(chunks, columns, strict=True):
        known = column.statistics
        if chunk.limits is not None:
            assert chunk.limits == (known.min, known.max) and not known.null_count
    assert all(chunk.limits is not None for chunk in chunks[1::2])
    content = bytearray(path.read_bytes())
    place = int.from_bytes(noise, "little") % (len(content) - 4)
    content[place : place + 4] = noise
    path.write_bytes(content)
    with open(path, "rb") as file, contextlib.suppress(uqf.FileFormatError):
        list(chunks_of(file))
