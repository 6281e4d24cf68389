"""Two thousand damaged inputs through every door. A seed of its own each time, printed; `make fuzz` tries more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent / "run.py"

#: As in `run.DOORS`, which is not imported here: it loads everything that the doors need.
NAMES = [
    "worlds",
    "policies",
    "statistics",
    "parquet",
    "arrow",
    "csv",
    "jsonl",
    "strings",
    "automata",
    "cells",
]
NAMES += ["arguments"]


def run(*arguments):
    seed = os.environ.get("UQF_FUZZ_SEED")
    chosen = ["--seed", seed] if seed else []
    return subprocess.run([sys.executable, RUN, *arguments, *chosen], capture_output=True, text=True)


@pytest.mark.parametrize("door", NAMES)
def test_whatever_comes_in_is_read_or_refused(door):
    found = run("--door", door, "--count", "2000")
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-3000:]
    read, refused = (int(count.replace(",", "")) for count in found.stdout.split()[4:7:2])
    assert read + refused == 2000
    assert min(read, refused) > 20, (
        "damage that nobody notices, or that leaves nothing to read, finds nothing"
    )


def test_every_door_is_tried():
    found = run("--help")
    assert "{" + ",".join(NAMES) + "}" in found.stdout
