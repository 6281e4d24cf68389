"""Logs as text: reading and looking at them, beside pyarrow and polars reading the same file."""

import numpy as np
import polars
import pyarrow
import pyarrow.csv
import pytest
from race import Reference, race

import uqf

ROWS, EPISODE = 2_000_000, 50


@pytest.fixture(scope="module", name="path")
def written(tmp_path_factory):
    """Codes and rewards in episodes of 50 steps."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("read") / "log.csv"
    table = pyarrow.table(
        {
            "episode": np.arange(ROWS) // EPISODE,
            "action": rng.integers(4, size=ROWS),
            "observation": rng.integers(20, size=ROWS),
            "reward": rng.integers(-1, 3, size=ROWS).astype(float),
        }
    )
    pyarrow.csv.write_csv(table, path)
    return path


def test_reading(benchmark, path):
    alone = pyarrow.csv.ReadOptions(use_threads=False)
    race(
        benchmark,
        lambda: uqf.read_log(path),
        [
            Reference("pyarrow", lambda: pyarrow.csv.read_csv(path, alone), "limit", target=0.5),
            Reference("polars", lambda: polars.read_csv(path)),
        ],
        stage="reading", case="CSV, codes", amount=ROWS, unit="rows", rounds=3,
    )  # fmt: skip
