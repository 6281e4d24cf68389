"""Episodes in comma-separated values, read a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from uqf.errors import FileFormatError
from uqf.logs.columns import Layout, LogColumns, layout_of
from uqf.logs.compression import open_plain
from uqf.logs.lines import BLOCK, blocks_of_lines, counting_from
from uqf.logs.text_values import MESSY, NUMBERS, TextColumn
from uqf.types import Record

#: What may stand between values.
SEPARATORS = ",;\t|"

#: What may stand around values that hold separators or line ends.
QUOTE = b'"'


class CsvSource:
    """A CSV file with a header and one row per step; commas, semicolons, tabs or bars separate.

    Text has no types, so a first reading finds them: a column of whole numbers, of numbers, of true and false, or of
    names. Ids of episodes are read as they stand. Numbers among names are refused, and so are decimal commas and
    currency signs, which only look like names, unless the log is cleaned.
    """

    def __init__(self, path: Path, columns: LogColumns, clean: bool = False) -> None:
        self.path, self.columns, self.clean = path, columns, clean
        with open_plain(path) as file:
            line = file.readline(BLOCK).decode("utf-8", "replace")
        self.separator = max(SEPARATORS, key=lambda mark: (line.count(mark), -SEPARATORS.index(mark)))
        with open_plain(path) as file:
            self.header = self._parsed(next(blocks_of_lines(file, QUOTE), b""), None, {}).schema

    def _parsed(self, lines: bytes, header: list[str] | None, types: dict[str, pa.DataType]) -> pa.Table:
        """The columns of `types`, all if there are none; `header` is None where it is the first of the lines."""
        convert = csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[""],
            strings_can_be_null=True,
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
        )
        return csv.read_csv(
            pa.BufferReader(lines),
            read_options=csv.ReadOptions(use_threads=False, block_size=len(lines) + 1, column_names=header),
            parse_options=csv.ParseOptions(delimiter=self.separator),
            convert_options=convert,
        )

    @property
    def schema(self) -> pa.Schema:
        """Columns and types; columns that are not read are text."""
        return pa.schema([(name, self._types.get(name, pa.string())) for name in self.header.names])

    def tables(self, rows: int, names: list[str]) -> Iterator[pa.Table]:
        """The named columns, at most `rows` rows at a time."""
        return self._read(rows, {name: self._types[name] for name in names})

    def _read(self, rows: int, types: dict[str, pa.DataType]) -> Iterator[pa.Table]:
        header, row = None, 0
        with open_plain(self.path) as file:
            for lines in blocks_of_lines(file, QUOTE):
                if header and not lines.strip():
                    continue
                with counting_from(row):
                    table = self._parsed(lines, header, types)
                for first in range(0, table.num_rows, rows):
                    yield table.slice(first, rows)
                header, row = self.header.names, row + table.num_rows

    @cached_property
    def layout(self) -> Layout:
        """Which columns hold what."""
        return layout_of(self.header, self.columns)

    @cached_property
    def text(self) -> dict[str, TextColumn]:
        """What the text of every column that is read stands for."""
        found = {name: TextColumn() for name in self.layout.columns}
        row = 0
        for table in self._read(BLOCK, dict.fromkeys(found, pa.string())):
            for name, column in found.items():
                column.take(table.column(name).combine_chunks(), row)
            row += table.num_rows
        return found

    @cached_property
    def _types(self) -> Record:
        types = {name: column.type_of() for name, column in self.text.items()}
        names = self.layout.names
        if "episode" in names:
            types[names["episode"]] = pa.string()
        for name in [names["action"], *self.layout.observed]:
            problem = mixture(name, self.text[name])
            if problem and not self.clean:
                raise FileFormatError(problem)
        for role in ("reward", "behavior_prob"):
            if role in names and types[names[role]] == pa.int64():
                types[names[role]] = pa.float64()
        return types


def mixture(name: str, column: TextColumn) -> str | None:
    """What is wrong with a column of actions or observations that is neither of numbers nor of names."""
    numbers = [kind for kind in NUMBERS if column.counts[kind]]
    others = [kind for kind in ("name", "truth", "yes or no", "nothing") if column.counts[kind]]
    if numbers and others:
        (one, first), (other, second) = sorted(
            (column.rows[kinds[0]][0], column.examples[kinds[0]]) for kinds in (numbers, others)
        )
        return (
            f"column {name!r} mixes numbers and names: row {one} has {first!r}, row {other} has {second!r}; "
            "name them all, or number them all"
        )
    messy = [kind for kind in MESSY if column.counts[kind]]
    if messy:
        kind, example = messy[0], column.examples[messy[0]]
        return f"column {name!r}, row {column.rows[kind][0]}: {example!r} is a number written with {kind}"
    return None
