"""Names of actions and observations, and the codes that they become."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import uqf
from log_tables import STEPS


def test_names_become_codes_and_stay_with_the_data(tmp_path):
    data = uqf.read_log(pa.table(STEPS))
    assert data.codebook == uqf.Codebook.named(("left", "right"), ("door", "wall"))
    assert data.actions.tolist() == [0, 1, 0, 0, 1]
    assert data.observations.tolist() == [1, 0, 1, 1, 1]
    assert (data.n_actions, data.n_observations) == (2, 3)
    assert data.terminated.tolist() == [True, False]
    assert data[:1].codebook == data[[1]].codebook == data.codebook
    data.to_parquet(tmp_path / "log.parquet")
    again = uqf.read_log(tmp_path / "log.parquet")
    assert again == data
    assert uqf.read_log(pq.read_table(tmp_path / "log.parquet")) == data


def test_new_logs_can_be_read_with_the_names_of_an_old_one(tmp_path):
    names = uqf.Codebook.named(("left", "right", "stay"), ("wall",))
    data = uqf.read_log(pa.table(STEPS), codebook=names)
    assert data.observations.tolist() == [0, 1, 0, 0, 0], "door is unknown: the last code"
    assert names.encode_one("dragon") == 1
    assert names.describe(1) == "(unknown)"
    assert [names.decode_action(names.encode_action(name)) for name in names.action_names] == list(
        names.action_names
    )


def test_a_file_with_names_is_read_in_the_codes_of_another_codebook(tmp_path):
    data = uqf.read_log(pa.table(STEPS))
    data.to_parquet(tmp_path / "log.parquet")
    names = uqf.Codebook.named(("stay", "right", "left"), ("window", "wall"))
    again = uqf.read_log(tmp_path / "log.parquet", codebook=names)
    assert again == uqf.read_log(pa.table(STEPS), codebook=names)
    assert again.actions.tolist() == [2, 1, 2, 2, 1]
    assert again.observations.tolist() == [1, 2, 1, 1, 1], "door is unknown: the last code"


def test_a_million_distinct_names_are_refused():
    names = [f"user-{number}" for number in range(1_000_000)]
    steps = {
        "episode": np.zeros(len(names)),
        "action": np.zeros(len(names), int),
        "reward": np.zeros(len(names)),
    }
    with pytest.raises(uqf.FileFormatError):
        uqf.read_log(pa.table(steps | {"observation": names}))
