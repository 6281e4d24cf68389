"""Episodes in text: comma-separated values and JSON lines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from pyarrow import json as jsonl

from uqf.adapters.arrow import read_table
from uqf.adapters.columns import LogColumns, layout_of, naming
from uqf.errors import FileFormatError
from uqf.trajectories import Trajectories
from uqf.vocabulary import Vocabulary

#: A JSON line, such as a long episode, must fit into a block of this many bytes.
LONGEST_LINE = 2**27


def _refuse_mixed(table: Any, columns: LogColumns) -> None:
    """A text file has no types: a column of which only some entries are numbers is more likely a slip."""
    names = layout_of(table.schema, columns).names
    for name in (names["action"], names["observation"]):
        values = table.column(name)
        if pa.types.is_string(values.type):
            numbers = pc.match_substring_regex(values, r"^\s*[-+]?[0-9]+(\.[0-9]*)?\s*$")
            count = pc.sum(numbers).as_py() or 0
            if 0 < count < len(values):
                row = pc.index(numbers, not numbers[0].as_py()).as_py()
                raise FileFormatError(
                    f"column {name!r} mixes numbers and names: row 0 has {values[0].as_py()!r}, row {row} "
                    f"has {values[row].as_py()!r}; name them all, or number them all"
                )


def read_csv(
    path: str | os.PathLike[str],
    *,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    vocabulary: Vocabulary | None = None,
) -> Trajectories:
    """Episodes of a CSV file with a header and one row per step; arguments as in `uqf.from_arrow`."""
    path = Path(path)
    with naming(path), path.open("rb") as file:
        table = csv.read_csv(file)
        _refuse_mixed(table, columns or LogColumns())
        return read_table(table, columns, n_actions, n_observations, vocabulary)


def read_jsonl(
    path: str | os.PathLike[str],
    *,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    vocabulary: Vocabulary | None = None,
) -> Trajectories:
    """Episodes of a JSON Lines file: an object per episode (with lists) or per step; see `uqf.from_arrow`."""
    path = Path(path)
    with naming(path), path.open("rb") as file:
        # One block per file where it fits: a type that changes is then told with its line.
        block = min(max(path.stat().st_size, 1) + 1, LONGEST_LINE)
        table = jsonl.read_json(file, read_options=jsonl.ReadOptions(block_size=block))
        return read_table(table, columns, n_actions, n_observations, vocabulary)
