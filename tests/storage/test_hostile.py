"""Damaged and hostile files of every kind: no panic, no hang, no crash, no memory without bound."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from test_logs import STEPS
from test_model_file import random_sum
from test_pomdp_file import MAZE, TIGER

import uqf
from uqf import _core

DAMAGE = Path(__file__).parent / "damage.py"


def automaton_policy(rng):
    """One with every optional part."""
    return uqf.AutomatonPolicy(
        _core.Automaton(np.arange(4), rng.normal(size=(4, 3, 3)), 6),
        n_actions=2,
        n_observations=3,
        start=rng.normal(size=3),
        anchor=rng.normal(size=3),
        weights=rng.normal(size=(2, 3)),
        table=rng.normal(size=(6, 2)),
        normaliser=rng.normal(size=3),
        window=3,
        temperature=0.5,
    )


@pytest.fixture
def folder(tmp_path):
    """A valid file of every kind."""
    rng = np.random.default_rng(0)
    names = uqf.Vocabulary(("left", "right"), ("wall", "door"))
    policies = {
        "table": uqf.TablePolicy(rng.dirichlet(np.ones(2), 7), 3),
        "sum": random_sum(rng, 2, 3, 2, 2, temperature=0.5),
        "automaton": automaton_policy(rng),
    }
    for name, policy in policies.items():
        uqf.save(policy, tmp_path / f"{name}.safetensors", vocabulary=names, settings={"rank": 3})
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


kinds = st.sampled_from(
    [np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_, "U2", object]
)


@st.composite
def any_array(draw, length):
    """Bytes made into an array of some kind and shape; often a sensible one."""
    kind = draw(st.just(np.int64) | kinds)
    if kind is object:
        return np.array(draw(st.lists(st.none() | st.integers() | st.text(max_size=2), max_size=8)), object)
    if kind in (np.int64, np.int32) and draw(st.booleans()):
        return np.array(draw(st.lists(st.integers(-1, 4), min_size=length, max_size=length)), kind)
    if kind is np.float64 and draw(st.booleans()):
        return np.array(draw(st.lists(st.floats(0, 1), min_size=length, max_size=length)), kind)
    shape = draw(st.just((length,)) | arrays.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=8))
    return draw(arrays.arrays(kind, shape))


@settings(max_examples=300)
@given(st.data())
def test_any_arrays_are_valid_trajectories_or_refused(data):
    length = data.draw(st.integers(0, 6))
    arguments = [data.draw(any_array(length)) for _ in range(3)]
    offsets = data.draw(st.just(np.array([0, length])) | any_array(length))
    sizes = {name: data.draw(st.integers(-1, 5) | st.integers()) for name in ("n_actions", "n_observations")}
    optional = {"behavior_probs": data.draw(st.none() | any_array(length))}
    optional["terminated"] = data.draw(st.none() | any_array(1))
    try:
        made = uqf.Trajectories(*arguments, offsets, **sizes, **optional)
    except (ValueError, TypeError):
        return
    # What is accepted may be used without a second look.
    assert made.n_steps == len(made.actions) == made.offsets[-1]
    assert made.symbols.max() < made.n_symbols
    assert np.isfinite(made.rewards).all()
    assert made.behavior_probs is None or ((made.behavior_probs > 0) & (made.behavior_probs <= 1)).all()
    assert uqf.hankel(made, prefixes=[()], suffixes=[()], target="probability").block.shape == (1, 1)
