"""Episodes in text: comma-separated values and JSON lines, read a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from pyarrow import json as jsonl

from uqf.data.formats.columns import LogColumns, layout_of
from uqf.errors import FileFormatError
from uqf.files import open_ordinary

#: Bytes read at a time; the CSV reader holds some dozens of such blocks.
BLOCK = 2**18

#: A JSON line, such as a long episode, must fit into this many bytes more.
LONGEST_LINE = 2**27

WHOLE_NUMBER = r"^\s*[-+]?[0-9]+\s*$"
FRACTION = r"^\s*[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9.]+[eE][-+]?[0-9]+)\s*$"


class CsvSource:
    """A CSV file with a header and one row per step.

    Text has no types. Rewards and probabilities are read as numbers, ids of episodes as they stand; actions
    and observations are codes if every one in the file is a whole number, and names otherwise.
    """

    def __init__(self, path: Path, columns: LogColumns) -> None:
        self.path = path
        with open_ordinary(path) as file:
            header = csv.open_csv(
                file, read_options=csv.ReadOptions(use_threads=False, block_size=BLOCK)
            ).schema
        self._names = layout_of(header, columns).names
        kinds = {"episode": pa.string(), "reward": pa.float64(), "terminated": pa.bool_()}
        kinds["behavior_prob"] = pa.float64()
        self._types = {name: kinds.get(role, pa.string()) for role, name in self._names.items()}
        for role in self._names.keys() & {"action", "observation", "first_observation"}:
            self._types[self._names[role]] = self._kind(self._names[role])

    def schema(self) -> Any:
        """Columns and types."""
        return pa.schema(list(self._types.items()))

    def tables(self, rows: int, names: list[str]) -> Iterator[Any]:
        """The named columns, at most `rows` rows at a time."""
        convert = csv.ConvertOptions(
            column_types=self._types, include_columns=names, null_values=[""], strings_can_be_null=True
        )
        options = csv.ReadOptions(use_threads=False, block_size=BLOCK)
        with open_ordinary(self.path) as file:
            for batch in csv.open_csv(file, read_options=options, convert_options=convert):
                for first in range(0, batch.num_rows, rows):
                    yield pa.Table.from_batches([batch.slice(first, rows)])

    def _kind(self, name: str) -> Any:
        """Whole numbers or names; a column of both is more likely a slip."""
        row, examples = 0, dict[bool, tuple[int, str]]()
        for table in self.tables(BLOCK, [name]):
            values = table.column(name).combine_chunks()
            numbers = pc.match_substring_regex(values, WHOLE_NUMBER)
            fraction = pc.index(pc.match_substring_regex(values, FRACTION), True).as_py()
            if fraction >= 0:
                raise FileFormatError(
                    f"column {name!r}, row {row + fraction}: {values[fraction].as_py()!r} is neither a whole "
                    "number nor a name; round or group measurements first"
                )
            for kind in {True, False} - examples.keys():
                place = pc.index(numbers, kind).as_py()
                if place >= 0:
                    examples[kind] = (row + place, values[place].as_py())
            row += table.num_rows
            if len(examples) == 2:
                (one, first), (other, second) = sorted(examples.values())
                raise FileFormatError(
                    f"column {name!r} mixes whole numbers and others: row {one} has {first!r}, row {other} has "
                    f"{second!r}; name them all, or number them all"
                )
        return pa.int64() if True in examples else pa.string()


class JsonLinesSource:
    """A JSON Lines file: an object per episode (with lists) or per step."""

    def __init__(self, path: Path, columns: LogColumns) -> None:
        self.path, self.columns = path, columns

    def schema(self) -> Any:
        """Columns and types of the first block; the others must have the same columns."""
        return next(self._parsed()).schema

    def tables(self, rows: int, names: list[str]) -> Iterator[Any]:
        """The named columns, at most `rows` rows at a time."""
        layout, row = layout_of(self.schema(), self.columns), 0
        for table in self._parsed():
            if layout_of(table.schema, self.columns) != layout:
                raise FileFormatError(
                    f"from row {row} on the columns are {table.schema.names[:20]}, not as before"
                )
            for first in range(0, table.num_rows, rows):
                yield table.slice(first, rows).select(names)
            row += table.num_rows

    def _parsed(self) -> Iterator[Any]:
        with open_ordinary(self.path) as file:
            found = False
            while block := file.read(BLOCK):
                rest = b"" if block.endswith(b"\n") else file.readline(LONGEST_LINE)
                if len(rest) == LONGEST_LINE:
                    raise FileFormatError(f"a line is longer than {LONGEST_LINE} bytes")
                # Blank lines are no rows.
                if lines := (block + rest).strip():
                    found = True
                    yield _with_text_ids(_objects(lines), self.columns)
            if not found:
                raise FileFormatError("the file is empty")


def _objects(lines: bytes) -> Any:
    """A row for every JSON object."""
    # pyarrow crashes where the first value is null (apache/arrow#47409), and makes lists that reach beyond their
    # values where the first of them is (apache/arrow#51305).
    if not lines.removeprefix(b"\xef\xbb\xbf").startswith(b"{"):
        raise FileFormatError(f"{lines[:20]!r} begins no JSON object; every line is one")
    # In one piece: a type that changes is then told with its row.
    options = jsonl.ReadOptions(block_size=len(lines) + 1)
    table = jsonl.read_json(pa.BufferReader(lines), read_options=options)
    table.validate(full=True)
    return table


def _with_text_ids(table: Any, columns: LogColumns) -> Any:
    """Ids of episodes as text: blocks may disagree on what kind of number they are."""
    name = layout_of(table.schema, columns).names.get("episode")
    if name is None:
        return table
    ids = table.column(name)
    if not (pa.types.is_integer(ids.type) or pa.types.is_floating(ids.type) or pa.types.is_string(ids.type)):
        raise FileFormatError(f"column {name!r} holds {ids.type}: give every episode a number or a name")
    return table.set_column(table.schema.get_field_index(name), name, ids.cast(pa.string()))
