"""Logs of any format as episodes, and as folders of the package's own files."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import positive
from uqf.episodes.parquet_file import write_parquet
from uqf.episodes.trajectories import Trajectories
from uqf.files import as_path
from uqf.logs.columns import LogColumns
from uqf.logs.problems import LogProblem
from uqf.logs.source import Log, LogLike


def read_log(
    log: LogLike,
    *,
    columns: LogColumns | None = None,
    codebook: Codebook | None = None,
    clean: bool = False,
    format: str | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
) -> Trajectories:
    r"""All episodes of a log.

    A file written by ``data.to_parquet(path)`` comes back bit for bit, with its sizes and names. What looks wrong in a
    log that can be read is a warning: observations that were seen before the action of their row, names in several
    spellings, numbers far from all others or that look like no value (−999).

    Parameters
    ----------
    log : path, table, or a list of them
        A file, a folder, or a pattern such as "2024-*.csv", in the order of the names; or a pandas, polars or Arrow
        table, or anything with ``__arrow_c_stream__``. All of them are one log.
    columns : LogColumns
        Names of the columns, if they are not the usual ones; what it leaves open is looked up in a file ``uqf.toml``
        beside the log.
    codebook : Codebook
        Names to use, such as those of a model; by default those that occur, sorted. It comes back as
        ``data.codebook``.
    clean : bool
        Repairs what `uqf.log_problems` finds, as far as that is possible without guessing, and warns with the counts of
        what was left out, cut or merged.
    format : "parquet", "arrow", "csv" or "jsonl", optional
        By default the suffix says which.
    n_actions, n_observations : int
        Sizes of the alphabets if actions and observations are numbers; by default the largest plus one.

    Returns
    -------
    Trajectories
        The episodes.

    Raises
    ------
    FileFormatError
        With the file, the column and the row, counted from 0.

    Examples
    --------
    >>> import uqf
    >>> with open("log.csv", "w") as file:
    ...     _ = file.write("episode,action,observation,reward\n0,wait,quiet,1\n0,repair,loud,-5\n")
    >>> uqf.read_log("log.csv").codebook.observation_names
    ('loud', 'quiet')
    """
    opened = Log(log, columns, (n_actions, n_observations, codebook), format, clean)
    data = opened.read()
    opened.warn()
    return data


def log_problems(
    log: LogLike, *, columns: LogColumns | None = None, format: str | None = None
) -> list[LogProblem]:
    r"""Everything that hinders reading a log, or that a careful reader would ask about.

    Parameters
    ----------
    log, columns, format
        As in `uqf.read_log`.

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
    return Log(log, columns, format=format).problems


def convert(
    log: LogLike,
    folder: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: LogColumns | None = None,
    codebook: Codebook | None = None,
    clean: bool = False,
    episodes_per_file: int = 10_000,
) -> list[Path]:
    r"""Writes a log as a folder of Parquet files, which learners read a batch at a time (`uqf.Shards`).

    The folder appears whole or not at all. A log that is larger than memory is cut into parts beforehand; the first
    is converted as it is, and the others with its codebook, each into a folder of its own.

    Parameters
    ----------
    log, format, columns, codebook, clean
        As in `uqf.read_log`.
    folder : path
        A new folder, or an empty one.
    episodes_per_file : int
        Episodes of a file; the last may have fewer.

    Returns
    -------
    list of Path
        The files, in their order.

    Raises
    ------
    FileFormatError
        With the file, the column and the row.
    FileExistsError
        If there is something in the folder.

    Examples
    --------
    >>> import uqf
    >>> with open("log.csv", "w") as file:
    ...     _ = file.write("episode,action,observation,reward\n0,wait,quiet,1\n1,repair,loud,-5\n")
    >>> [path.name for path in uqf.convert("log.csv", "shards", episodes_per_file=1)]
    ['00000.parquet', '00001.parquet']
    >>> uqf.Shards("shards").codebook.action_names
    ('repair', 'wait')
    """
    target = as_path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(f"{target}: there is something already; give a new folder")
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    positive("episodes_per_file", episodes_per_file)
    data = read_log(log, format=format, columns=columns, codebook=codebook, clean=clean)
    unfinished.mkdir(parents=True)
    try:
        for number, first in enumerate(range(0, len(data), episodes_per_file)):
            batch = data[first : first + episodes_per_file]
            write_parquet(batch, unfinished / f"{number:05d}.parquet")
        unfinished.replace(target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return sorted(target.iterdir())
