"""A log on its way to episodes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from functools import cached_property

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import instance
from uqf.episodes.concatenate import concatenate
from uqf.episodes.parquet_file import metadata_of
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.files import as_path
from uqf.logs.alphabet import Alphabet, Given, alphabet_of, refuse_bins_of_codes
from uqf.logs.cleaning import cleaned
from uqf.logs.columns import LogColumns, layout_of, naming
from uqf.logs.diagnosis import Diagnosis, refuse_mixtures
from uqf.logs.episodes import recoded, refuse_empty_promise, trajectories_of
from uqf.logs.problems import CLEANED, LogProblem
from uqf.logs.rows import Rows
from uqf.logs.tables import TableFiles, files_of
from uqf.logs.text import plain_suffix, read_csv, read_json_lines

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

#: Episodes that are read at a time where all are wanted.
BATCH = 10_000


class Log:
    """A log on its way to episodes: opened, read once, diagnosed, cleaned, coded.

    `given` are sizes and names that the caller knows. What cleaning left out, cut or merged is in `repairs`, in words.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        columns: LogColumns | None = None,
        given: Given = (None, None, None),
        format: str | None = None,
    ) -> None:
        if columns is not None and not isinstance(columns, LogColumns):
            raise TypeError(f"columns is a {type(columns).__name__}: give uqf.LogColumns(…)")
        self.path, self.given, self.repairs = as_path(path), given, list[str]()
        self.columns = (columns or LogColumns()).of(given[2])
        if format is not None:
            instance("format", format, str, "a name such as 'csv'")
        self.format = format or ("parquet" if self.path.is_dir() else SUFFIXES.get(plain_suffix(self.path)))
        if self.format is None:
            raise FileFormatError(
                f"{path}: suffix {self.path.suffix!r} is not one of {', '.join(SUFFIXES)}; say what it is, as in "
                "format='csv'"
            )
        if self.format not in SUFFIXES.values():
            known = ", ".join(sorted(set(SUFFIXES.values())))
            raise FileFormatError(f"{path}: format = {format!r}: choose {known}")
        self._files = TableFiles(files_of(self.path), self.format == "arrow")
        self._text: Rows | None = None
        with naming(self.path):
            if self.format in ("csv", "jsonl"):
                read = read_csv if self.format == "csv" else read_json_lines
                self._text, self.names = read(self.path, self.columns)
                self.layout, self.written = self._text.layout, None
            else:
                schema = self._files.schema
                self.names, self.layout = schema.names, layout_of(schema, self.columns)
                self.written = metadata_of(schema)
                refuse_bins_of_codes(self.layout, self.written and self.written[0])

    @cached_property
    def rows(self) -> Rows:
        """All rows, as they stand in the log."""
        if self._text is not None:
            return self._text
        table = self._files.whole(self.columns)
        return Rows(table, layout_of(table.schema, self.columns))

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """All that is wrong with a log that has one row per step."""
        return Diagnosis(self.rows, self.names)

    @property
    def problems(self) -> list[LogProblem]:
        """The same as a list; empty for a log with one row per episode."""
        with naming(self.path):
            return self.diagnosis.problems if self.layout.per_step else []

    def episodes(self, *, clean: bool = False, batch: int = BATCH) -> Iterator[Trajectories]:
        """The episodes, in parts of any size."""
        try:
            with naming(self.path):
                self._refuse_empty_promise()
                if self._streams:
                    yield from self._streamed(batch)
                else:
                    yield self._coded(self._prepared(clean).grouped())
        except FileFormatError as error:
            raise FileFormatError(f"{error}{self._listed_problems(clean)}") from error

    def read(self, *, clean: bool = False) -> Trajectories:
        """All episodes."""
        return concatenate(list(self.episodes(clean=clean)))

    @property
    def _streams(self) -> bool:
        """Whether batches can be coded one by one: a row is an episode, and all sizes are known."""
        n_actions, n_observations, codebook = self.given
        known = codebook or Codebook.named()
        sizes = (n_actions or known.n_actions, n_observations or known.n_codes)
        return (
            not self.layout.per_step
            and self._text is None
            and (self.written is not None or None not in sizes)
        )

    def _streamed(self, batch: int) -> Iterator[Trajectories]:
        row, part = 0, None
        for table in self._files.tables(batch, self.layout.columns):
            part = self._coded(Rows(table, self.layout, row))
            yield part
            row += table.num_rows
        if part is None:
            raise FileFormatError("the log holds no episode")

    def _prepared(self, clean: bool) -> Rows:
        if clean and self.written is None:
            if not self.layout.per_step:
                raise FileFormatError("clean: only logs with one row per step can be cleaned")
            rows, self.repairs = cleaned(self.diagnosis)
            return rows
        if self.format == "csv":
            refuse_mixtures(self.rows)
        return self.rows

    def _coded(self, rows: Rows) -> Trajectories:
        if self.written is None:
            return trajectories_of(rows, alphabet_of(rows, self.given))
        # Our own files hold codes even where there are names.
        n_actions, n_observations, names = self.written
        return recoded(trajectories_of(rows, Alphabet(n_actions, n_observations, None)), names, self.given)

    def _refuse_empty_promise(self) -> None:
        if self.written is not None and None in self.given[:2]:
            column = self.layout.names["action"]
            refuse_empty_promise(self.written, lambda: self._files.tables(BATCH, [column]))

    def _listed_problems(self, clean: bool) -> str:
        """The severe problems of a log that could not be read, for its message; without those that are cleaned."""
        try:
            severe = [
                problem
                for problem in self.problems
                if problem.severe and not (clean and problem.remedy.startswith(CLEANED))
            ]
        except (FileFormatError, OSError):
            return ""
        return "".join(["\nAll problems of the log:", *(f"\n  {one}" for one in severe)]) if severe else ""

    def warn(self) -> None:
        """Warns of what cleaning left out, cut or merged, once the episodes are read."""
        if self.repairs:
            warnings.warn(f"{self.path}: cleaned, with {'; '.join(self.repairs)}", UserWarning, stacklevel=3)
