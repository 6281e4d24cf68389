"""Logs of any format as episodes."""

from __future__ import annotations

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
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
    spellings, numbers far from all others.

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
