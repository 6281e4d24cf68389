"""Logs in any of the known formats, whole or a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import positive
from uqf.episodes.concatenate import concatenate
from uqf.episodes.trajectories import Trajectories
from uqf.logs.columns import LogColumns
from uqf.logs.problems import LogProblem
from uqf.logs.source import Log


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

    Parquet and Arrow files with one row per episode are read a batch at a time if their sizes are known: given, or in
    the metadata, as in every file of `Trajectories.to_parquet` and `uqf.convert`. Any other log is read whole, as
    `uqf.read_log` does, and then cut.

    Parameters
    ----------
    path : path
        A file, or a folder of Parquet files that are read as one log, in the order of their names.
    batch_episodes : int
        Episodes of a batch.
    format : "parquet", "arrow", "csv" or "jsonl", optional
        By default the suffix says which.
    columns, n_actions, n_observations, codebook
        As in `uqf.from_arrow`.
    clean : bool
        Repairs what `uqf.log_problems` finds, as far as that is possible without guessing, and warns with the counts of
        what was left out, cut or merged.

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
    positive("batch_episodes", batch_episodes)
    log = Log(path, columns, (n_actions, n_observations, codebook), format)
    yield from _regrouped(log.episodes(clean=clean, batch=batch_episodes), batch_episodes)
    log.warn()


def _regrouped(parts: Iterable[Trajectories], size: int) -> Iterator[Trajectories]:
    """The same episodes, `size` at a time."""
    waiting: list[Trajectories] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= size:
            ready = concatenate(waiting)
            whole = len(ready) - len(ready) % size
            for first in range(0, whole, size):
                yield ready[first : first + size]
            waiting = [ready[whole:]] if whole < len(ready) else []
    if waiting:
        yield concatenate(waiting)


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
    log = Log(path, columns, (n_actions, n_observations, codebook), format)
    data = log.read(clean=clean)
    log.warn()
    return data


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
        per episode, whose problems are errors of reading.

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
    return Log(path, columns, format=format).problems


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
