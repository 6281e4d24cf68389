"""Files made to exhaust: each is refused before it costs memory or time."""

import gzip
import os
import subprocess
import sys

import pyarrow as pa
import pytest

import uqf
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
