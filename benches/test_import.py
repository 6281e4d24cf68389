"""What `import uqf` costs beyond the import of numpy and scipy, and what the command costs before it does anything."""

import subprocess
import sys

import pytest
from race import Reference, of_children, race

#: Other processes do the work.
pytestmark = pytest.mark.benchmark(timer=of_children)


def importing(names):
    return lambda: subprocess.run([sys.executable, "-c", f"import {names}"], check=True)


def test_import(benchmark):
    race(
        benchmark,
        importing("numpy, scipy, uqf"),
        [Reference("without uqf", importing("numpy, scipy"), "limit")],
        stage="import", case="numpy, scipy, uqf", amount=1, unit="imports", rounds=5,
        timer=of_children,
    )  # fmt: skip


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_start_of_the_command(benchmark, option):
    command = [sys.executable, "-m", "uqf", option]
    race(
        benchmark,
        lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL),
        [Reference("an empty program", lambda: subprocess.run([sys.executable, "-c", ""], check=True), "limit")],
        stage="import", case=f"uqf {option}", amount=1, unit="starts", rounds=5, timer=of_children,
    )  # fmt: skip
