"""Episodes in Parquet files, whole or in batches."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from uqf.adapters.arrow import read_table
from uqf.adapters.columns import LogColumns, layout_of, naming
from uqf.adapters.episodes import alphabet_of, trajectories_of, whole_episodes
from uqf.errors import FileFormatError
from uqf.files import whole_file
from uqf.trajectories import Trajectories
from uqf.vocabulary import Vocabulary

#: Key of our own remarks in the metadata of a file.
KEY = b"uqf"

#: Bytes of a column that are read ahead.
BUFFER = 1 << 20

#: Steps in a group of rows: a reader may have to hold one.
GROUP_STEPS = 1 << 20


def write_parquet(data: Trajectories, path: str | os.PathLike[str]) -> None:
    """Writes one row per episode; the file appears whole or not at all. See `Trajectories.to_parquet`."""
    offsets = pa.array(data.offsets.astype(np.int64))
    steps = {"actions": data.actions, "observations": data.observations, "rewards": data.rewards}
    if data.behavior_probs is not None:
        steps["behavior_probs"] = data.behavior_probs
    columns = {
        name: pa.LargeListArray.from_arrays(offsets, pa.array(values)) for name, values in steps.items()
    }
    columns["terminated"] = pa.array(data.terminated)
    names = data.vocabulary or Vocabulary()
    remarks = {
        "n_actions": data.n_actions,
        "n_observations": data.n_observations,
        "action_names": names.actions,
        "observation_names": names.observations,
    }
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(remarks).encode()})
    with whole_file(path) as file:
        rows = max(1, GROUP_STEPS * len(data) // data.n_steps)
        pq.write_table(table, file, row_group_size=rows, write_page_checksum=True)


def remarks_of(schema: Any) -> tuple[int | None, int | None, Vocabulary | None]:
    """(n_actions, n_observations, vocabulary) of a file that `write_parquet` wrote; Nones for any other."""
    text = (schema.metadata or {}).get(KEY)
    if text is None:
        return None, None, None
    try:
        remarks = json.loads(text)
        actions, observations = (remarks[f"{role}_names"] for role in ("action", "observation"))
        vocabulary = Vocabulary(actions and tuple(actions), observations and tuple(observations))
        named = vocabulary != Vocabulary()
        return int(remarks["n_actions"]), int(remarks["n_observations"]), vocabulary if named else None
    except (ValueError, TypeError, KeyError) as error:
        raise FileFormatError(f"the remarks of uqf in the metadata are damaged: {error}") from None


def read_parquet(
    path: str | os.PathLike[str],
    *,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    vocabulary: Vocabulary | None = None,
) -> Trajectories:
    """All episodes of a Parquet file; arguments as in `uqf.from_arrow`.

    A file written by ``data.to_parquet(path)`` comes back bit for bit, with its sizes and names.
    """
    path = Path(path)
    with naming(path), path.open("rb") as file:
        table = pq.read_table(file, page_checksum_verification=True)
        written_actions, written_observations, written_names = remarks_of(table.schema)
        if written_actions is None:
            return read_table(table, columns, n_actions, n_observations, vocabulary)
        return _with_codes(table, columns, written_actions, written_observations, written_names)


def _with_codes(table: Any, columns: Any, n_actions: Any, n_observations: Any, names: Any) -> Trajectories:
    """Our own files hold codes even where there are names."""
    data = read_table(table, columns, n_actions, n_observations, None)
    if names is None:
        return data
    return Trajectories(
        data.actions,
        data.observations,
        data.rewards,
        data.offsets,
        n_actions=n_actions,
        n_observations=n_observations,
        behavior_probs=data.behavior_probs,
        terminated=data.terminated,
        vocabulary=names,
    )


def files_of(path: Path) -> list[Path]:
    """The file itself, or the Parquet files of a folder in the order of their names."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FileFormatError(f"{path}: the folder holds no .parquet file")
    return files


def tables_of(files: list[Path], rows: int, names: list[str]) -> Iterator[Any]:
    """The named columns of all files, at most `rows` rows at a time; columns are not held whole either."""
    for path in files:
        with naming(path), path.open("rb") as file:
            parquet = pq.ParquetFile(file, page_checksum_verification=True, buffer_size=BUFFER)
            for batch in parquet.iter_batches(rows, columns=names):
                yield pa.Table.from_batches([batch])


def iter_parquet(
    path: str | os.PathLike[str],
    batch_episodes: int = 10_000,
    *,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    vocabulary: Vocabulary | None = None,
) -> Iterator[Trajectories]:
    """Episodes of a Parquet file, or of all in a folder in the order of their names, a batch at a time.

    Memory holds one batch, never the whole. Unless names or sizes are given (or remarked in the file), a
    first pass reads the columns of actions and observations to find them; it too holds a batch only. A batch
    has about `batch_episodes` episodes if rows are episodes, and otherwise as many as a hundred times so
    many rows hold. All files must have the same columns; an episode may go on in the next file.
    """
    if batch_episodes < 1:
        raise ValueError(f"batch_episodes = {batch_episodes}: give at least 1")
    files = files_of(Path(path))
    with naming(files[0]), files[0].open("rb") as file:
        schema = pq.read_schema(file)
        layout = layout_of(schema, columns or LogColumns())
        written_actions, written_observations, written_names = remarks_of(schema)
    rows = batch_episodes * 100 if layout.per_step else batch_episodes
    with naming(path):
        both = [layout.names["action"], layout.names["observation"]]
        alphabet = alphabet_of(
            tables_of(files, rows, both),
            layout,
            n_actions or written_actions,
            n_observations or written_observations,
            None if written_names else vocabulary,
        )
        found = False
        for row, table in whole_episodes(tables_of(files, rows, layout.columns), layout):
            if table.num_rows:
                data = trajectories_of(table, layout, alphabet, row)
                data.vocabulary = written_names or alphabet.vocabulary
                found = True
                yield data
        if not found:
            raise FileFormatError("the log holds no episode")
