"""Episodes in Parquet files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.files import open_ordinary, whole_file
from uqf.logs.columns import Layout, LogColumns, layout_of, naming
from uqf.logs.values import merged_schema, values_of, widened

#: Key of our own entry in the metadata of a file.
KEY = b"uqf"

#: Bytes of a column that are read ahead.
BUFFER = 1 << 20

#: Steps in a group of rows: a reader may have to hold one.
GROUP_STEPS = 1 << 20

#: Symbols that any file may promise, and those for every step of a longer one.
MODEST_SYMBOLS = 2**20
SYMBOLS_PER_STEP = 2**10


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
    if data.first_observations is not None:
        columns["first_observation"] = pa.array(data.first_observations)
    metadata = {
        "n_actions": data.n_actions,
        "n_observations": data.n_observations,
        "codebook": None if data.codebook is None else data.codebook.to_dict(),
    }
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(metadata).encode()})
    with whole_file(path) as file:
        rows = max(1, GROUP_STEPS * len(data) // data.n_steps)
        pq.write_table(table, file, row_group_size=rows, write_page_checksum=True)


def metadata_of(schema: pa.Schema) -> tuple[int | None, int | None, Codebook | None]:
    """(n_actions, n_observations, codebook) of a file that `write_parquet` wrote; Nones for any other."""
    text = (schema.metadata or {}).get(KEY)
    if text is None:
        return None, None, None
    try:
        metadata = json.loads(text)
        written = metadata["codebook"]
        codebook = None if written is None else Codebook.from_dict(written)
        sizes = metadata["n_actions"], metadata["n_observations"]
        if not all(type(size) is int and size >= 1 for size in sizes):
            raise ValueError(f"n_actions, n_observations = {sizes} are no positive whole numbers")
        if codebook is not None:
            codebook.refuse_other_sizes(*sizes)
        return *sizes, codebook
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise FileFormatError(f"the metadata of uqf are damaged: {error}") from None


def refuse_empty_promise(
    n_actions: int | None, n_observations: int | None, tables: Iterable[pa.Table], layout: Layout
) -> None:
    """Refuses metadata that promise far more symbols than there are steps: memory would be taken for all of them."""
    promised = (n_actions or 1) * (n_observations or 1)
    if promised <= MODEST_SYMBOLS:
        return
    steps = sum(len(values_of(table, layout.names["action"])) for table in tables)
    if promised > SYMBOLS_PER_STEP * steps:
        raise FileFormatError(
            f"the metadata promise {n_actions} actions and {n_observations} observations for {steps} steps; say "
            "n_actions and n_observations if you mean it"
        )


def files_of(path: Path) -> list[Path]:
    """The file itself, or the Parquet files of a folder in the order of their names."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FileFormatError(f"{path}: the folder holds no .parquet file")
    return files


def tables_of(files: list[Path], rows: int, names: list[str]) -> Iterator[pa.Table]:
    """The named columns of all files, at most `rows` rows at a time; columns are not held whole either."""
    for path in files:
        with naming(path), open_ordinary(path) as file:
            parquet = pq.ParquetFile(file, page_checksum_verification=True, buffer_size=BUFFER)
            for batch in parquet.iter_batches(rows, columns=names, use_threads=False):
                yield pa.Table.from_batches([batch])


class ParquetSource:
    """A Parquet file, or all those of a folder as one log: an episode may go on in the next file."""

    def __init__(self, path: Path, columns: LogColumns) -> None:
        self.files, self.columns = files_of(path), columns

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns, and types that are wide enough for all files."""
        schemas = []
        for path in self.files:
            with naming(path), open_ordinary(path) as file:
                schemas.append((path, pq.read_schema(file)))
        if len(schemas) == 1:
            return schemas[0][1]
        first = schemas[0][1]
        for path, schema in schemas:
            layout_of(schema, self.columns)
            if (schema.metadata or {}).get(KEY) != (first.metadata or {}).get(KEY):
                raise FileFormatError(f"{path}: other actions, observations or names than in {schemas[0][0]}")
        return merged_schema(schemas, self.columns)

    def tables(self, rows: int, names: list[str]) -> Iterator[pa.Table]:
        """The named columns, at most `rows` rows at a time."""
        if len(self.files) == 1:
            yield from tables_of(self.files, rows, names)
            return
        episode = layout_of(self.schema, self.columns).names.get("episode")
        for table in tables_of(self.files, rows, names):
            yield widened(table, self.schema, names, episode)
