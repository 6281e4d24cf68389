"""The package's own files of episodes: Parquet, one row per episode, with sizes and names in the metadata."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from uqf.coding.codebook import Codebook
from uqf.errors import FileFormatError
from uqf.files import whole_file

if TYPE_CHECKING:
    from uqf.episodes.trajectories import Trajectories

#: Key of our own entry in the metadata of a file.
KEY = b"uqf"

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


def metadata_of(schema: pa.Schema) -> tuple[int, int, Codebook | None] | None:
    """(n_actions, n_observations, codebook) of a file that `write_parquet` wrote; None for any other."""
    text = (schema.metadata or {}).get(KEY)
    if text is None:
        return None
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
