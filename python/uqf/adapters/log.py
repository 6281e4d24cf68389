"""A log in any of the known formats."""

from __future__ import annotations

import os
from pathlib import Path

from uqf.adapters.columns import LogColumns
from uqf.adapters.parquet import iter_parquet, read_parquet
from uqf.adapters.text import read_csv, read_jsonl
from uqf.errors import FileFormatError
from uqf.trajectories import Trajectories, concatenate
from uqf.vocabulary import Vocabulary

READERS = {
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".csv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
}


def read_log(
    path: str | os.PathLike[str],
    *,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    vocabulary: Vocabulary | None = None,
) -> Trajectories:
    """Episodes of a log; the suffix tells the format. A folder is read as one log of Parquet files.

    Arguments as in `uqf.from_arrow`.
    """
    path = Path(path)
    if path.is_dir():
        batches = iter_parquet(
            path, columns=columns, n_actions=n_actions, n_observations=n_observations, vocabulary=vocabulary
        )
        return concatenate(list(batches))
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise FileFormatError(f"{path}: suffix {path.suffix!r} is not one of {', '.join(READERS)}")
    return reader(
        path, columns=columns, n_actions=n_actions, n_observations=n_observations, vocabulary=vocabulary
    )
