"""Episodes in Arrow files (also known as Feather, version 2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa


class ArrowSource:
    """An Arrow file, read a record batch at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def schema(self) -> Any:
        """Columns and types."""
        with self.path.open("rb") as file:
            return pa.ipc.open_file(file).schema

    def tables(self, rows: int, names: list[str]) -> Iterator[Any]:
        """The named columns, at most `rows` rows at a time."""
        with self.path.open("rb") as file:
            reader = pa.ipc.open_file(file)
            for index in range(reader.num_record_batches):
                batch = reader.get_batch(index)
                # Offsets are taken on trust by everything that follows: a damaged one would read foreign memory.
                batch.validate(full=True)
                for first in range(0, batch.num_rows, rows):
                    yield pa.Table.from_batches([batch.slice(first, rows)]).select(names)
