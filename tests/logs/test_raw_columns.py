"""What logs keep beside the codes: raw columns, and which actions were allowed."""

import json

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import uqf
from uqf.episodes.columns import columns_of
from uqf.episodes.parquet_file import KEY

HEADER = "episode,action,temp,state,reward\n"


def written(tmp_path, text, **columns):
    path = tmp_path / "log.csv"
    path.write_text(text)
    return uqf.read_log(path, columns=uqf.LogColumns(**columns) if columns else None)


@pytest.fixture
def machine(tmp_path):
    """Many rows of a machine with a temperature and a state."""
    rng = np.random.default_rng(0)
    temps, states = rng.normal(80, 5, 600).round(2), rng.choice(["idle", "busy", "down"], 600)
    lines = [f"{i // 6},go,{temps[i] if i % 50 else ''},{states[i]},{i % 3}" for i in range(600)]
    return temps, states, HEADER + "\n".join(lines)


def test_columns_of_a_log_are_kept_as_they_came(machine, tmp_path):
    temps, states, text = machine
    data = written(tmp_path, text, observation=("temp", "state"))
    assert data.column_sizes.tolist() == [0, 4]
    expected = np.where(np.arange(600) % 50, temps, np.nan).astype(np.float32)
    np.testing.assert_array_equal(data.columns[:, 0], expected)
    np.testing.assert_array_equal(data.columns[:, 1], [["busy", "down", "idle"].index(one) for one in states])
    assert data.first_columns is None
    files = uqf.convert(
        tmp_path / "log.csv", tmp_path / "shards", columns=uqf.LogColumns(observation=("temp", "state"))
    )
    assert uqf.read_log(tmp_path / "shards") == data
    shards = uqf.Shards(tmp_path / "shards")
    assert len(files) == 1 and next(shards[0].batches()) == data


def test_with_observations_before_actions_columns_move_with_the_codes(machine, tmp_path):
    text = machine[-1]
    after = written(tmp_path, text, observation=("temp", "state"))
    before = written(tmp_path, text, observation=("temp", "state"), observed="before")
    np.testing.assert_array_equal(before.first_columns, after.columns[after.offsets[:-1]])
    np.testing.assert_array_equal(before.columns[:5], after.columns[1:6])


def test_one_column_of_names_or_codes_is_its_code(tmp_path):
    data = written(tmp_path, "episode,action,observation,reward\n0,go,hot,1\n0,go,cold,0\n")
    columns, _, sizes = columns_of(data)
    assert data.columns is None and columns.tolist() == [[1.0], [0.0]] and sizes.tolist() == [3]


def test_a_codebook_gives_columns_back_where_none_are_stored(machine, tmp_path):
    data = written(tmp_path, machine[-1], observation=("temp", "state"))
    bare = {"columns": None, "column_sizes": None}
    columns, _, sizes = columns_of(uqf.Trajectories(**data.__getstate__() | bare))
    assert sizes.tolist() == data.column_sizes.tolist() and columns.shape == data.columns.shape


ALLOWED = "episode,action,observation,reward,may\n0,run,0,1,run|stop\n0,stop,1,0, stop \n1,run,0,1,\n"


def test_allowed_actions_are_names_with_bars_between_them(tmp_path):
    data = written(tmp_path, ALLOWED, allowed="may")
    assert data.codebook.action_names == ("run", "stop")
    assert data.allowed.tolist() == [[True, True], [False, True], [True, True]]
    usual = written(tmp_path, ALLOWED.replace("may", "allowed_actions"))
    assert usual == data
    listed = pl.DataFrame(
        {
            "episode": [0, 0, 1],
            "action": ["run", "stop", "run"],
            "observation": [0, 1, 0],
            "reward": [1.0, 0.0, 1.0],
            "allowed_actions": [["run", "stop"], ["stop"], None],
        }
    )
    assert uqf.read_log(listed) == data
    codes = written(tmp_path, ALLOWED.replace("run", "0").replace("stop", "1"), allowed="may")
    assert codes.allowed.tolist() == data.allowed.tolist()


def test_masks_follow_the_names_of_another_codebook(tmp_path):
    data = written(tmp_path, ALLOWED, allowed="may")
    data.to_parquet(tmp_path / "own.parquet")
    book = uqf.Codebook.named(("stop", "wait", "run"))
    read = uqf.read_log(tmp_path / "own.parquet", codebook=book)
    assert read.allowed.tolist() == [[True, False, True], [True, False, False], [True, False, True]]


@pytest.mark.parametrize(
    "claims", [*({"column_sizes": sizes} for sizes in ([0, 0], [0.5], 7, [1])), {"allowed": True}], ids=str
)
def test_files_that_claim_other_columns_are_refused(tmp_path, claims):
    data = uqf.Trajectories([0], [0], [1.0], [0, 1], n_actions=1, n_observations=1, columns=[[3.0]])
    data.to_parquet(tmp_path / "own.parquet")
    table = pq.read_table(tmp_path / "own.parquet")
    metadata = json.loads(table.schema.metadata[KEY]) | claims
    changed = table.replace_schema_metadata({KEY: json.dumps(metadata).encode()})
    pq.write_table(changed, tmp_path / "own.parquet")
    for read in (uqf.read_log, lambda path: [*uqf.Shards(path)[0].batches()]):
        with pytest.raises(uqf.FileFormatError):
            read(tmp_path / "own.parquet")
