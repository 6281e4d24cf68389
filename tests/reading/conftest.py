"""Episodes in memory and in a folder of Parquet files."""

import pytest

import uqf


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=12), episodes=440, seed=4)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    for index in range(11):
        data[40 * index : 40 * (index + 1)].to_parquet(folder / f"{index:02d}.parquet")
    return folder
