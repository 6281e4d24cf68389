"""A log of any format as a folder of the package's own files."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import positive
from uqf.episodes.parquet_file import write_parquet
from uqf.files import as_path
from uqf.logs.columns import LogColumns
from uqf.logs.log import read_log
from uqf.logs.source import LogLike


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
