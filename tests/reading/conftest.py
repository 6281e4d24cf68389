"""Episodes in memory and in a folder of Parquet files."""

import pytest

import uqf
from logged import in_files


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=12), episodes=440, seed=4)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    return in_files(data, tmp_path_factory.mktemp("shards"), 11)
