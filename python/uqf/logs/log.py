"""Logs in any of the known formats, whole or a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from uqf.coding.codebook import Codebook
from uqf.episodes.concatenate import concatenate
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.logs.alphabet import Asked, alphabet_of
from uqf.logs.arrow import ArrowSource
from uqf.logs.cleaning import CleanSource
from uqf.logs.columns import LogColumns, Source, layout_of, naming
from uqf.logs.compression import plain_suffix
from uqf.logs.csv_file import CsvSource
from uqf.logs.episodes import episodes_of, recoded
from uqf.logs.json_lines import JsonLinesSource
from uqf.logs.parquet import ParquetSource, metadata_of, refuse_empty_promise
from uqf.logs.problems import CLEANED, Diagnosis, LogProblem

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


def iter_log(
    path: str | os.PathLike[str],
    batch_episodes: int = 10_000,
    *,
    format: str | None = None,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    codebook: Codebook | None = None,
    clean: bool = False,
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
    clean : bool
        Repairs what `uqf.log_problems` finds, as far as that is possible without guessing.

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
    asked = (n_actions, n_observations, codebook)
    try:
        with naming(path):
            yield from _regrouped(_read(path, format, columns, clean, asked, batch_episodes), batch_episodes)
    except FileFormatError as error:
        raise FileFormatError(f"{error}{_all_problems(path, format, columns, clean)}") from error


def _read(
    path: Path,
    format: str | None,
    columns: LogColumns,
    clean: bool,
    asked: Asked,
    batch_episodes: int,
) -> Iterator[Trajectories]:
    """The episodes in parts of any size."""
    source = source_of(path, format, columns, clean)
    layout = layout_of(source.schema, columns)
    written_actions, written_observations, written_names = metadata_of(source.schema)
    if clean and not written_actions:
        source = CleanSource(source, layout)
    rows = batch_episodes * STEPS_PER_EPISODE if layout.per_step else batch_episodes
    if None in asked[:2]:
        tables = source.tables(rows, [layout.names["action"]])
        refuse_empty_promise(written_actions, written_observations, tables, layout)
    known = (written_actions, written_observations, None) if written_actions else asked
    alphabet, _ = alphabet_of(lambda names: source.tables(rows, names), layout, known)
    part = None
    for part in episodes_of(source.tables(rows, layout.columns), layout, alphabet):
        # Our own files hold codes even where there are names.
        yield recoded(part, written_names, asked) if written_actions else part
    if part is None:
        raise FileFormatError("the log holds no episode")


def log_problems(
    path: str | os.PathLike[str], *, format: str | None = None, columns: LogColumns | None = None
) -> list[LogProblem]:
    r"""Everything that hinders reading a log, or that a careful reader would ask about.

    Parameters
    ----------
    path, format, columns
        As in `uqf.iter_log`.

    Returns
    -------
    list of LogProblem
        Severe ones first: with these the log is read only if it is cleaned or mended. Empty for a log with one row
        per episode, whose problems are told one by one.

    Raises
    ------
    FileFormatError
        If the file is no log at all: damaged, or without the columns that every log has.

    Examples
    --------
    >>> import uqf
    >>> with open("messy.csv", "w") as file:
    ...     _ = file.write("episode,action,observation,reward,done\n0,go,3,,no\n0,go,4,$2,yes\n")
    >>> for problem in uqf.log_problems("messy.csv"):
    ...     print(problem.column, problem.what, problem.rows)
    reward missing values (0,)
    reward currency signs (1,)
    done looks like `terminated`, but is not used ()
    """
    path, columns = Path(path), columns or LogColumns()
    with naming(path):
        source = source_of(path, format, columns, clean=True)
        layout = layout_of(source.schema, columns)
        return Diagnosis.of(source, layout).problems if layout.per_step else []


def _all_problems(path: Path, format: str | None, columns: LogColumns, clean: bool) -> str:
    """The severe problems of a log that could not be read, for its message; without those that are cleaned."""
    try:
        found = [
            problem
            for problem in log_problems(path, format=format, columns=columns)
            if problem.severe and not (clean and problem.remedy.startswith(CLEANED))
        ]
    except (FileFormatError, OSError):
        return ""
    return "".join(["\nAll problems of the log:", *(f"\n  {problem}" for problem in found)]) if found else ""


def _regrouped(parts: Iterable[Trajectories], size: int) -> Iterator[Trajectories]:
    """The same episodes, `size` at a time."""
    waiting: list[Trajectories] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= size:
            ready = _joined(waiting)
            whole = len(ready) - len(ready) % size
            for first in range(0, whole, size):
                yield ready[first : first + size]
            waiting = [ready[whole:]] if whole < len(ready) else []
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[Trajectories]) -> Trajectories:
    return concatenate(parts) if len(parts) > 1 else parts[0]


def read_log(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    codebook: Codebook | None = None,
    clean: bool = False,
) -> Trajectories:
    r"""All episodes of a log.

    A file written by ``data.to_parquet(path)`` comes back bit for bit, with its sizes and names.

    Parameters
    ----------
    path, format, columns, n_actions, n_observations, codebook, clean
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
        clean=clean,
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
