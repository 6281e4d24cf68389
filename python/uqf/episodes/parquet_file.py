"""The package's own files of episodes: Parquet, one row per episode, with sizes and names in the metadata.

Raw columns and allowed actions are columns of their own, ``columns.0``, ``first_columns.0``, ``allowed.0`` and so on:
values of one kind lie together, and a reader takes only what it needs.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Extras:
    """What a file holds beside codes, rewards and propensities."""

    column_sizes: tuple[int, ...] = ()
    first_columns: bool = False
    allowed: int = 0
    """Number of actions if the file says which were allowed, else 0."""

    @property
    def widths(self) -> dict[str, int]:
        """Number of columns of every part that is there."""
        width = len(self.column_sizes)
        widths = {"columns": width, "first_columns": width * self.first_columns, "allowed": self.allowed}
        return {name: width for name, width in widths.items() if width}

    @property
    def names(self) -> list[str]:
        return [f"{part}.{place}" for part, width in self.widths.items() for place in range(width)]


NO_EXTRAS = Extras()


def write_parquet(data: Trajectories, path: str | os.PathLike[str]) -> None:
    """Writes one row per episode; the file appears whole or not at all. See `Trajectories.to_parquet`."""
    offsets = pa.array(data.offsets.astype(np.int64))
    steps = {"actions": data.actions, "observations": data.observations, "rewards": data.rewards}
    if data.behavior_probs is not None:
        steps["behavior_probs"] = data.behavior_probs
    for part in ("columns", "allowed"):
        table = getattr(data, part)
        steps |= {} if table is None else {f"{part}.{place}": one for place, one in enumerate(table.T)}
    columns = {
        name: pa.LargeListArray.from_arrays(offsets, pa.array(values)) for name, values in steps.items()
    }
    columns["terminated"] = pa.array(data.terminated)
    if data.first_observations is not None:
        columns["first_observation"] = pa.array(data.first_observations)
    if data.first_columns is not None:
        columns |= {f"first_columns.{place}": pa.array(one) for place, one in enumerate(data.first_columns.T)}
    metadata = {
        "n_actions": data.n_actions,
        "n_observations": data.n_observations,
        "codebook": None if data.codebook is None else data.codebook.to_dict(),
        "column_sizes": [] if data.column_sizes is None else data.column_sizes.tolist(),
        "allowed": data.allowed is not None,
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


def extras_of(schema: pa.Schema) -> Extras:
    """What a file that `write_parquet` wrote holds beside the usual columns; nothing for any other."""
    text = (schema.metadata or {}).get(KEY)
    if text is None:
        return NO_EXTRAS
    try:
        metadata = json.loads(text)
        sizes = tuple(metadata.get("column_sizes", ()))
        allowed = metadata["n_actions"] if metadata.get("allowed", False) else 0
        extras = Extras(sizes, bool(sizes) and "first_columns.0" in schema.names, allowed)
        if not all(type(size) is int for size in (*sizes, allowed)) or allowed > len(schema.names):
            raise ValueError(f"column_sizes = {sizes}, {allowed} columns of allowed actions")
        if absent := [name for name in extras.names if name not in schema.names]:
            raise ValueError(f"there is no column {absent[0]!r}")
        return extras
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise FileFormatError(f"the metadata of uqf are damaged: {error}") from None
