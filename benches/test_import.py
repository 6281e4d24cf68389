"""What `import uqf` costs beyond the import of numpy and scipy, in a fresh interpreter: at most 0.25 s."""

import subprocess
import sys
import time

import pytest
from race import Reference, race

#: Other processes do the work: here the wall counts.
pytestmark = pytest.mark.benchmark(timer=time.perf_counter)


def importing(names):
    return lambda: subprocess.run([sys.executable, "-c", f"import {names}"], check=True)


def test_import(benchmark):
    race(
        benchmark,
        importing("numpy, scipy, uqf"),
        [Reference("without uqf", importing("numpy, scipy"), "limit")],
        stage="import", case="numpy, scipy, uqf", amount=1, unit="imports", rounds=10,
        timer=time.perf_counter,
    )  # fmt: skip
