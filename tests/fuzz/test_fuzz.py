"""Two thousand damaged inputs through every door, the same ones every time; `make fuzz` tries others, and more."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent / "run.py"

#: The doors in `doors.py`, which is not imported here: it loads all that they need.
NAMES = [
    "worlds",
    "policies",
    "parquet",
    "arrow",
    "csv",
    "jsonl",
    "settings",
    "rules",
    "strings",
    "cells",
    "arguments",
    "calls",
]


@pytest.fixture(scope="module")
def said():
    seed = os.environ.get("UQF_FUZZ_SEED", "20261118")
    command = [sys.executable, RUN, "--count", "2000", "--seed", seed]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.stdout


@pytest.mark.parametrize("door", NAMES)
def test_whatever_comes_in_is_read_or_refused(said, door):
    counts = re.search(rf"^{door} +2,000 inputs: ([\d,]+) read, ([\d,]+) refused", said, re.MULTILINE)
    assert counts, said[-5000:]
    read, refused = (int(count.replace(",", "")) for count in counts.groups())
    assert min(read, refused) > 20, (
        "damage that nobody notices, or that leaves nothing to read, finds nothing"
    )


def test_every_door_is_tried_and_the_seed_is_told(said):
    assert re.findall(r"^(\w+) .*inputs:", said, re.MULTILINE) == NAMES
    assert re.match(r"seed \d+\n", said)
