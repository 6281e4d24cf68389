"""Damaged and hostile files of every kind: no panic, no hang, no crash, no memory without bound."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import uqf
from log_tables import STEPS
from pomdp_texts import MAZE, TIGER
from random_policies import KINDS

DAMAGE = Path(__file__).parent / "damage.py"


@pytest.fixture
def folder(tmp_path):
    """A valid file of every kind."""
    names = uqf.Codebook.named(("left", "right", "stay"), ("wall",))
    for kind, make in KINDS.items():
        uqf.save(make(), tmp_path / f"{kind}.safetensors", codebook=names, settings={"rank": 3})
    data = uqf.rollout(uqf.make("tiger"), episodes=30, horizon=5)
    data.to_parquet(tmp_path / "episodes.parquet")
    table = pa.table(STEPS)
    pq.write_table(table, tmp_path / "steps.parquet")
    pa.feather.write_feather(table, tmp_path / "steps.arrow", compression="uncompressed")
    lists = pa.table(
        {"actions": [[0, 1], [1]], "observations": [["a", "b"], ["a"]], "rewards": [[0.5, 1.0], [2.0]]}
    )
    pa.feather.write_feather(lists, tmp_path / "episodes.arrow")
    pa.csv.write_csv(table, tmp_path / "steps.csv")
    rows = [json.dumps(row) for row in table.to_pylist()]
    (tmp_path / "steps.jsonl").write_text("\n".join(rows))
    (tmp_path / "episodes.jsonl").write_text("\n".join(map(json.dumps, lists.to_pylist())))
    (tmp_path / "tiger.pomdp").write_text(TIGER)
    (tmp_path / "maze.pomdp").write_text(MAZE)
    return tmp_path


def survives(folder, seed, count):
    run = subprocess.run(
        [sys.executable, DAMAGE, folder, str(seed), str(count)], capture_output=True, text=True
    )
    last = run.stdout.splitlines()[-1:]
    assert run.returncode == 0, f"status {run.returncode} after {last}:\n{run.stderr[-2000:]}"
    assert last == ["done"]


def test_damaged_files_of_every_kind_are_read_or_refused_within_limits(folder):
    survives(folder, seed=0, count=60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_many_damaged_files_are_read_or_refused_within_limits(folder, seed):
    survives(folder, seed, count=1500)


def test_text_that_nests_or_repeats_without_end_is_refused(tmp_path):
    hostile = {
        "deep.jsonl": b"[" * 1_000_000,
        "deeper.jsonl": b'{"a":' * 1_000_000,
        "quote.csv": b'episode,action,observation,reward\n0,0,0,"' + b"x" * 1_000_000,
        "wide.csv": b",".join(b"c%d" % column for column in range(10_000)) + b"\n",
        "zeros.csv": bytes(1_000_000),
        "zeros.jsonl": bytes(1_000_000),
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
