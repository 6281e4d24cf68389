"""A log on its way to episodes."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from uqf.episodes.checks import one_of
from uqf.episodes.parquet_file import KEY, metadata_of
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError, kind_of
from uqf.logs.alphabet import Alphabet, Given, alphabet_of, check_given, refuse_bins_of_codes
from uqf.logs.cleaning import cleaned
from uqf.logs.columns import LogColumns, beside
from uqf.logs.diagnosis import Diagnosis, refuse_mixtures
from uqf.logs.episodes import recoded, refuse_empty_promise, trajectories_of
from uqf.logs.layout import layout_of, naming
from uqf.logs.problems import CLEANED, LogProblem
from uqf.logs.rows import Rows
from uqf.logs.suspicions import observed_before, order_problem, suspicions
from uqf.logs.tables import cast, joined, plain_type, schema_of, whole_table
from uqf.logs.text import plain_suffix, read_csv, read_json_lines
from uqf.types import AnyArray, TableLike

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

LogLike = str | os.PathLike[str] | TableLike | Sequence[str | os.PathLike[str] | TableLike]
"""A file, a folder or a pattern of names, a table, or several of them that are one log."""


class Part(NamedTuple):
    """A file or a table: what the log needs of it, the names of all its columns, and our own metadata, if any."""

    name: object
    format: str
    table: pa.Table
    columns: list[str]
    metadata: bytes | None = None


class Log:
    """A log on its way to episodes: read once, diagnosed, cleaned, ordered, coded.

    `given` are sizes and names that the caller knows; with `clean` the log is repaired. What was left out, cut or
    merged is in `repairs`, in words; what a careful reader should know of a log that was read, in `doubts`; when its
    episodes began, in `times`.
    """

    def __init__(
        self,
        source: LogLike,
        columns: LogColumns | None = None,
        given: Given = (None, None, None),
        format: str | None = None,
        clean: bool = False,
    ) -> None:
        if columns is not None and not isinstance(columns, LogColumns):
            raise TypeError(f"columns is {kind_of(columns)}: give uqf.LogColumns(…)")
        check_given(given)
        listed = list(_listed(source))
        said, first = columns or LogColumns(), listed[0]
        self.name = str(source) if isinstance(source, (str, os.PathLike)) else str(_name(first))
        with naming(self.name):
            known = said.or_else(beside(first)) if isinstance(first, Path) else said
            self.columns = known.knowing(given[2])
        self.given, self.clean, self.repairs, self.doubts = given, clean, list[str](), list[LogProblem]()
        self.evidence: float | None = None
        self.times: AnyArray | None = None
        parts = [self._part(one, format) for one in listed]
        with naming(self.name):
            for part in parts:
                if part.metadata != parts[0].metadata:
                    raise FileFormatError(
                        f"{part.name}: other actions, observations or names than in {parts[0].name}"
                    )
            schema = parts[0].table.schema
            self.written = (
                metadata_of(schema.with_metadata({KEY: parts[0].metadata})) if parts[0].metadata else None
            )
            wanted = _own(self.columns) if self.written else self.columns
            texts = [name for part in parts if part.format == "csv" for name in part.table.column_names]
            ids = layout_of(schema, wanted).names.get("episode")
            table = joined([(part.name, part.table) for part in parts], [*texts, *([ids] if ids else [])])
            if parts[0].metadata:
                table = table.replace_schema_metadata({KEY: parts[0].metadata})
            self.is_text, self.names = (
                bool(texts),
                list(dict.fromkeys(name for one in parts for name in one.columns)),
            )
            self.layout = layout_of(table.schema, wanted)
            self.rows = Rows(table, self.layout)
            refuse_bins_of_codes(self.layout, self.written and self.written[0])

    def _part(self, one: Path | TableLike, format: str | None) -> Part:
        """What is needed of a file or a table."""
        if not isinstance(one, Path):
            with naming(_name(one)):
                table = pa.table(one)
                return self._of_table(_name(one), "table", table.schema, lambda names: table.select(names))
        known = sorted(set(SUFFIXES.values()))
        kind = SUFFIXES.get(plain_suffix(one)) if format is None else one_of("format", format, known)
        if kind is None:
            raise FileFormatError(
                f"{one}: suffix {one.suffix!r} is not one of {', '.join(SUFFIXES)}; say what it is, as in format='csv'"
            )
        with naming(one):
            if kind in ("csv", "jsonl"):
                return Part(one, kind, *(read_csv if kind == "csv" else read_json_lines)(one, self.columns))
            schema = schema_of(one, kind == "arrow")

            def read(names: list[str]) -> pa.Table:
                return whole_table(one, schema, names, kind == "arrow")

            return self._of_table(one, kind, schema, read)

    def _of_table(
        self, name: object, kind: str, schema: pa.Schema, read: Callable[[list[str]], pa.Table]
    ) -> Part:
        metadata = (schema.metadata or {}).get(KEY)
        table = read(layout_of(schema, _own(self.columns) if metadata else self.columns).columns)
        for column, kind in zip(table.column_names, table.schema.types, strict=True):
            plain = plain_type(kind)
            table = table if plain == kind else cast(table, column, plain)
        return Part(name, kind, table, schema.names, metadata)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """All that is wrong with a log that has one row per step."""
        return Diagnosis(self.rows, self.names, self.given[2])

    @property
    def problems(self) -> list[LogProblem]:
        """The same as a list; empty for a log with one row per episode."""
        with naming(self.name):
            return self.diagnosis.problems if self.layout.per_step else []

    def read(self) -> Trajectories:
        """All episodes."""
        try:
            with naming(self.name):
                rows = self.prepared
                self.doubts = [] if self.written else suspicions(rows, self.given[2])
                data = self._coded(rows)
                self.times = rows.dates()
                if self.written is None and self.columns.observed is None:
                    self.evidence = observed_before(rows)
                    self.doubts += order_problem(rows, self.evidence)
                return data
        except FileFormatError as error:
            raise FileFormatError(f"{error}{self._listed_problems()}") from error

    @cached_property
    def prepared(self) -> Rows:
        """The rows that become episodes: cleaned, if that is wanted, and ordered."""
        rows = self.rows
        if self.clean and self.written is None:
            if not self.layout.per_step:
                raise FileFormatError("clean: only logs with one row per step can be cleaned")
            rows, self.repairs = cleaned(self.diagnosis)
        elif self.is_text:
            refuse_mixtures(rows)
        return rows.grouped()

    def _coded(self, rows: Rows) -> Trajectories:
        if self.written is None:
            return trajectories_of(rows, alphabet_of(rows, self.given))
        if None in self.given[:2]:
            refuse_empty_promise(self.written, lambda: int(rows.offsets[-1]))
        # Our own files hold codes even where there are names.
        n_actions, n_observations, names = self.written
        return recoded(trajectories_of(rows, Alphabet(n_actions, n_observations, None)), names, self.given)

    def _listed_problems(self) -> str:
        """The severe problems of a log that could not be read, for its message; without those that are cleaned."""
        try:
            severe = [
                problem
                for problem in self.problems
                if problem.severe and not (self.clean and problem.remedy.startswith(CLEANED))
            ]
        except (FileFormatError, OSError):
            return ""
        return "".join(["\nAll problems of the log:", *(f"\n  {one}" for one in severe)]) if severe else ""

    def warn(self) -> None:
        """Warns of what cleaning left out, cut or merged, and of what looks wrong, once the episodes are read."""
        if self.repairs:
            warnings.warn(f"{self.name}: cleaned, with {'; '.join(self.repairs)}", UserWarning, stacklevel=3)
        for doubt in self.doubts:
            warnings.warn(f"{self.name}: {doubt}", UserWarning, stacklevel=3)


def _own(columns: LogColumns) -> LogColumns:
    """The columns of our own files, which say themselves what they hold."""
    return LogColumns(action_bins=columns.action_bins)


def _name(one: Path | TableLike) -> object:
    return one if isinstance(one, Path) else f"this {type(one).__name__}"


def _listed(source: LogLike) -> Iterator[Path | TableLike]:
    """The files and tables of a log; those of a folder or a pattern in the order of their names."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise ValueError("the list of logs is empty: give at least one file or table")
        for one in source:
            yield from _listed(one)
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir():
            files = sorted(path.glob("*.parquet")) or [
                one for one in sorted(path.iterdir()) if plain_suffix(one) in SUFFIXES
            ]
            if not files:
                raise FileFormatError(f"{path}: the folder holds no .parquet file, nor any other log")
            yield from files
        elif glob.has_magic(str(source)) and not path.exists():
            files = [Path(one) for one in sorted(glob.glob(str(source)))]
            if not files:
                raise FileNotFoundError(f"{source}: no file has such a name")
            yield from files
        else:
            yield path
    elif isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__"):
        yield source
    else:
        raise TypeError(
            f"log is {kind_of(source)}: give a path, a pandas, polars or Arrow table, or a list of them"
        )
