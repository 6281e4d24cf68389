"""Episodes in JSON Lines, read a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyarrow import json as jsonl

from uqf.errors import FileFormatError
from uqf.logs.columns import LogColumns, layout_of
from uqf.logs.compression import open_plain
from uqf.logs.lines import blocks_of_lines, counting_from
from uqf.logs.values import merged_schema, widened


class JsonLinesSource:
    """A JSON Lines file: an object per episode (with lists) or per step."""

    def __init__(self, path: Path, columns: LogColumns) -> None:
        self.path, self.columns = path, columns

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns, and types that are wide enough for all blocks."""

        def parts() -> Iterator[tuple[str, pa.Schema]]:
            row = 0
            for table in self._parsed():
                yield f"rows {row} to {row + table.num_rows - 1}", table.schema
                row += table.num_rows

        return merged_schema(parts(), self.columns)

    def tables(self, rows: int, names: list[str]) -> Iterator[pa.Table]:
        """The named columns, at most `rows` rows at a time."""
        episode = layout_of(self.schema, self.columns).names.get("episode")
        for table in self._parsed():
            wide = widened(table, self.schema, names, episode)
            for first in range(0, table.num_rows, rows):
                yield wide.slice(first, rows)

    def _parsed(self) -> Iterator[pa.Table]:
        with open_plain(self.path) as file:
            found, row = False, 0
            for block in blocks_of_lines(file):
                # Blank lines are no rows.
                if lines := block.strip():
                    found = True
                    table = self._block(lines, row)
                    row += table.num_rows
                    yield table
            if not found:
                raise FileFormatError("the file is empty")

    @staticmethod
    def _block(lines: bytes, row: int) -> pa.Table:
        # pyarrow crashes where the first value is null (apache/arrow#47409), and makes lists that reach beyond their
        # values where the first of them is (apache/arrow#51305).
        if not lines.removeprefix(b"\xef\xbb\xbf").startswith(b"{"):
            raise FileFormatError(f"{lines[:20]!r} begins no JSON object; every line is one")
        # In one piece: a type that changes is then told with its row.
        options = jsonl.ReadOptions(use_threads=False, block_size=len(lines) + 1)
        with counting_from(row):
            table = jsonl.read_json(pa.BufferReader(lines), read_options=options)
            table.validate(full=True)
            return table
