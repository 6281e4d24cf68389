"""Logs in any of the known formats as tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from uqf.data.formats.arrow import ArrowSource
from uqf.data.formats.columns import LogColumns
from uqf.data.formats.compression import plain_suffix
from uqf.data.formats.csv_file import CsvSource
from uqf.data.formats.json_lines import JsonLinesSource
from uqf.data.formats.parquet import ParquetSource
from uqf.errors import FileFormatError

#: Format by suffix.
SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


class Source(Protocol):
    """A log that can be read from its beginning any number of times, a table at a time."""

    def schema(self) -> Any:
        """Columns and types."""

    def tables(self, rows: int, names: list[str]) -> Iterator[Any]:
        """The named columns, at most `rows` rows at a time."""


def source_of(path: Path, format: str | None, columns: LogColumns, clean: bool = False) -> Source:
    """The log at a path; `clean` lets text pass that only looks like numbers, for `CleanSource`."""
    kind = format or ("parquet" if path.is_dir() else SUFFIXES.get(plain_suffix(path)))
    match kind:
        case "parquet":
            return ParquetSource(path, columns)
        case "arrow":
            return ArrowSource(path)
        case "csv":
            return CsvSource(path, columns, clean)
        case "jsonl":
            return JsonLinesSource(path, columns)
        case None:
            raise FileFormatError(
                f"suffix {path.suffix!r} is not one of {', '.join(SUFFIXES)}; say what it is, as in format='csv'"
            )
        case _:
            raise ValueError(f"format = {format!r}: choose {', '.join(sorted(set(SUFFIXES.values())))}")
