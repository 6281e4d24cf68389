"""Plain strings beside scikit-splearn: the same statistics, the same predictions, the time of whole fits."""

import os
import subprocess
from functools import cache

import numpy as np
import pytest
from race import Reference, race

import uqf
from uqf.strings import StringModel, Strings, write_strings
from uqf.strings.hankel import STATISTICS

#: Python of an environment with scikit-splearn, which needs NumPy 1.
SPLEARN_PYTHON = os.environ.get("UQF_SPLEARN_PYTHON")

SPLEARN_FIT = """
import sys, time
import numpy as np
from splearn import Spectral
from splearn.datasets.base import load_data_sample

train, predictions, version, rank = sys.argv[1:]
data = load_data_sample(train).data
begin = time.process_time()
learner = Spectral(rank=int(rank), version=version, partial=False, full_svd_calculation=True, mode_quiet=True)
learner.fit(data)
print(time.process_time() - begin)
np.save(predictions, learner.predict(data[:100]))
"""

RANK, LONGEST, COUNT = 5, 6, 20_000


def short_strings() -> Strings:
    """Strings of up to so many symbols, of which all words are counted by both."""
    rng = np.random.default_rng(0)
    end = rng.uniform(0.15, 0.3, RANK)
    steps = rng.dirichlet(np.full(4 * RANK, 0.1), RANK).reshape(RANK, 4, RANK) * (1.0 - end)[:, None, None]
    drawn = StringModel(uqf.WFA(np.full(RANK, 1 / RANK), steps.transpose(1, 0, 2), end)).sample(2 * COUNT)
    return drawn[drawn.lengths <= LONGEST][:COUNT]


@pytest.mark.parametrize("statistics", STATISTICS)
def test_strings(benchmark, tmp_path, statistics):
    strings = short_strings()
    learner = uqf.SpectralStrings(
        RANK, statistics=statistics, max_prefix=LONGEST, max_suffix=LONGEST, n_prefixes=None, n_suffixes=None,
        smoothing=0.0, threads=1,
    )  # fmt: skip
    write_strings(strings, tmp_path / "train")

    @cache
    def rival() -> float:
        places = [str(tmp_path / "train"), str(tmp_path / "predictions.npy")]
        command = [SPLEARN_PYTHON, "-W", "ignore", "-c", SPLEARN_FIT, *places, statistics, str(RANK)]
        single = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        told = subprocess.run(command, env=single, check=True, capture_output=True, text=True)
        predicted = np.load(tmp_path / "predictions.npy")
        np.testing.assert_allclose(learner.fit(strings).values(strings[:100]), predicted, rtol=0, atol=1e-10)
        return float(told.stdout)

    if SPLEARN_PYTHON is None:
        pytest.skip("set UQF_SPLEARN_PYTHON to the Python of an environment with scikit-splearn")
    race(
        benchmark,
        lambda: learner.fit(strings),
        [Reference("scikit-splearn", rival, target=10.0, clocked=True)],
        stage="strings", case=f"{statistics}, {COUNT:,} strings", amount=len(strings), unit="strings", rounds=3,
    )  # fmt: skip
