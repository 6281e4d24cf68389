"""Logs in any of the known formats, whole or a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from uqf.data.codebook import Codebook
from uqf.data.concatenate import concatenate
from uqf.data.formats.alphabet import Alphabet, alphabet_of
from uqf.data.formats.arrow import ArrowSource
from uqf.data.formats.columns import Layout, LogColumns, layout_of, naming
from uqf.data.formats.compression import plain_suffix
from uqf.data.formats.csv_file import CsvSource
from uqf.data.formats.episodes import trajectories_of
from uqf.data.formats.grouping import whole_episodes
from uqf.data.formats.json_lines import JsonLinesSource
from uqf.data.formats.parquet import ParquetSource, metadata_of
from uqf.data.formats.promises import refuse_empty_promise
from uqf.data.formats.recode import recoded
from uqf.data.trajectories import Trajectories
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

#: Rows read at a time for every episode of a batch, where a row is one step.
STEPS_PER_EPISODE = 100


class Source(Protocol):
    """A log that can be read from its beginning any number of times, a table at a time."""

    def schema(self) -> Any:
        """Columns and types."""

    def tables(self, rows: int, names: list[str]) -> Iterator[Any]:
        """The named columns, at most `rows` rows at a time."""


def _source(path: Path, format: str | None, columns: LogColumns) -> Source:
    kind = format or ("parquet" if path.is_dir() else SUFFIXES.get(plain_suffix(path)))
    match kind:
        case "parquet":
            return ParquetSource(path, columns)
        case "arrow":
            return ArrowSource(path)
        case "csv":
            return CsvSource(path, columns)
        case "jsonl":
            return JsonLinesSource(path, columns)
        case None:
            raise FileFormatError(
                f"suffix {path.suffix!r} is not one of {', '.join(SUFFIXES)}; say what it is, as in format='csv'"
            )
        case _:
            raise ValueError(f"format = {format!r}: choose {', '.join(sorted(set(SUFFIXES.values())))}")


def iter_log(
    path: str | os.PathLike[str],
    batch_episodes: int = 10_000,
    *,
    format: str | None = None,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    codebook: Codebook | None = None,
) -> Iterator[Trajectories]:
    """Episodes of a log, `batch_episodes` at a time (the last batch may have fewer).

    Memory holds a batch and what is read ahead, never the whole. All batches share sizes and names: unless
    they are given (or stand in the metadata), a first pass reads the columns of actions and observations to find
    them. With one row per step an episode whose id comes back later is refused, in whatever batch; for that,
    ids that do not count 0, 1, 2, … are remembered, which is all that grows with the log.

    Parameters
    ----------
    path : path
        A file, or a folder of Parquet files that are read as one log, in the order of their names.
    batch_episodes : int
        Episodes of a batch.
    format : "parquet", "arrow", "csv" or "jsonl", optional
        By default the suffix tells.
    columns, n_actions, n_observations, codebook
        As in `uqf.from_arrow`.

    Returns
    -------
    iterator of Trajectories
        One for every batch.

    Raises
    ------
    FileFormatError
        With the file, the column and the row.

    Examples
    --------
    >>> import uqf
    >>> uqf.rollout(uqf.make("tiger"), episodes=25, seed=0).to_parquet("tiger.parquet")
    >>> [len(part) for part in uqf.iter_log("tiger.parquet", 10)]
    [10, 10, 5]
    """
    if batch_episodes < 1:
        raise ValueError(f"batch_episodes = {batch_episodes}: give at least 1")
    path, columns = Path(path), (columns or LogColumns()).of(codebook)
    with naming(path):
        source = _source(path, format, columns)
        schema = source.schema()
        layout = layout_of(schema, columns)
        rows = batch_episodes * STEPS_PER_EPISODE if layout.per_step else batch_episodes
        written_actions, written_observations, written_names = metadata_of(schema)
        if n_actions is None or n_observations is None:
            tables = source.tables(rows, [layout.names["action"]])
            refuse_empty_promise(written_actions, written_observations, tables, layout)
        alphabet, _ = alphabet_of(
            lambda names: source.tables(rows, names),
            layout,
            written_actions or n_actions,
            written_observations or n_observations,
            None if written_actions else codebook,
        )
        parts = _parts(source.tables(rows, layout.columns), layout, alphabet)
        if written_actions:
            # Our own files hold codes even where there are names.
            asked = (n_actions, n_observations, codebook)
            parts = (recoded(part, written_names, *asked) for part in parts)
        yield from _regrouped(parts, batch_episodes)


def _parts(tables: Iterable[Any], layout: Layout, alphabet: Alphabet) -> Iterator[Trajectories]:
    """Whole episodes as they come."""
    found = False
    for row, table in whole_episodes(tables, layout):
        if table.num_rows:
            found = True
            yield trajectories_of(table, layout, alphabet, row)
    if not found:
        raise FileFormatError("the log holds no episode")


def _regrouped(parts: Iterable[Trajectories], size: int) -> Iterator[Trajectories]:
    """The same episodes, `size` at a time."""
    waiting: list[Trajectories] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= size:
            ready = concatenate(waiting) if len(waiting) > 1 else waiting[0]
            whole = len(ready) - len(ready) % size
            for first in range(0, whole, size):
                yield ready[first : first + size]
            waiting = [ready[whole:]] if whole < len(ready) else []
    if waiting:
        yield concatenate(waiting) if len(waiting) > 1 else waiting[0]


def read_log(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    codebook: Codebook | None = None,
) -> Trajectories:
    r"""All episodes of a log.

    A file written by ``data.to_parquet(path)`` comes back bit for bit, with its sizes and names.

    Parameters
    ----------
    path, format, columns, n_actions, n_observations, codebook
        As in `uqf.iter_log`.

    Returns
    -------
    Trajectories
        The episodes.

    Raises
    ------
    FileFormatError
        With the file, the column and the row.

    Examples
    --------
    >>> import uqf
    >>> with open("log.csv", "w") as file:
    ...     _ = file.write("episode,action,observation,reward\n0,wait,quiet,1\n0,repair,loud,-5\n")
    >>> data = uqf.read_log("log.csv")
    >>> data.codebook.observation_names
    ('loud', 'quiet')
    """
    batches = iter_log(
        path,
        format=format,
        columns=columns,
        n_actions=n_actions,
        n_observations=n_observations,
        codebook=codebook,
    )
    return concatenate(list(batches))


def read_parquet(path: str | os.PathLike[str]) -> Trajectories:
    """All episodes of a Parquet file, or of a folder of them; `uqf.read_log` takes more arguments.

    Parameters
    ----------
    path : path
        Of the file or the folder.

    Returns
    -------
    Trajectories
        The episodes.

    Raises
    ------
    FileFormatError
        With the file, the column and the row.

    Examples
    --------
    >>> import uqf
    >>> uqf.rollout(uqf.make("tiger"), episodes=5, seed=0).to_parquet("tiger.parquet")
    >>> uqf.read_parquet("tiger.parquet").n_steps
    100
    """
    return read_log(path, format="parquet")
