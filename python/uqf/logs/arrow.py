"""Episodes from Arrow tables and files (also known as Feather, version 2), and from frames that speak Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from uqf.coding.codebook import Codebook
from uqf.episodes.concatenate import concatenate
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.files import open_ordinary
from uqf.logs.alphabet import alphabet_of
from uqf.logs.columns import LogColumns, layout_of, naming
from uqf.logs.episodes import episodes_of
from uqf.types import TableLike


def from_arrow(
    frame: TableLike,
    *,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    codebook: Codebook | None = None,
) -> Trajectories:
    """Episodes of a polars or pandas frame, a pyarrow table, or anything with ``__arrow_c_stream__``.

    Parameters
    ----------
    frame : a table
        One row per step or one row per episode; see `uqf.LogColumns`.
    columns : LogColumns
        Names of the columns, if they are not the usual ones.
    n_actions, n_observations : int
        Sizes of the alphabets if actions and observations are numbers; by default the largest plus one.
    codebook : Codebook
        Names to use, such as those of a model; by default those that occur, sorted. It comes back as
        ``data.codebook``.

    Returns
    -------
    Trajectories
        The episodes.

    Raises
    ------
    FileFormatError
        With the column and the row, counted from 0.

    Examples
    --------
    >>> import polars, uqf
    >>> rows = {"episode": [7, 7, 8], "action": ["wait", "repair", "wait"], "observation": [0, 1, 0]}
    >>> data = uqf.from_arrow(polars.DataFrame(rows | {"reward": [1.0, -5.0, 1.0]}))
    >>> data.codebook.action_names
    ('repair', 'wait')
    """
    if not isinstance(frame, pa.Table) and not hasattr(frame, "__arrow_c_stream__"):
        raise TypeError(
            f"frame is a {type(frame).__name__}: give a polars or pandas frame, or an Arrow table"
        )
    with naming(f"this {type(frame).__name__}"):
        table = pa.table(frame)
        if table.num_rows == 0:
            raise FileFormatError("the log holds no episode")
        layout = layout_of(table.schema, (columns or LogColumns()).of(codebook))
        asked = (n_actions, n_observations, codebook)
        alphabet, _ = alphabet_of(lambda names: [table.select(names)], layout, asked)
        return concatenate(list(episodes_of([table.select(layout.columns)], layout, alphabet)))


class ArrowSource:
    """An Arrow file, read a record batch at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def schema(self) -> pa.Schema:
        """Columns and types."""
        with open_ordinary(self.path) as file:
            return pa.ipc.open_file(file).schema

    def tables(self, rows: int, names: list[str]) -> Iterator[pa.Table]:
        """The named columns, at most `rows` rows at a time."""
        with open_ordinary(self.path) as file:
            reader = pa.ipc.open_file(file)
            for index in range(reader.num_record_batches):
                batch = _batch(reader, index)
                # Offsets are taken on trust by everything that follows: a damaged one would read foreign memory.
                batch.validate(full=True)
                for first in range(0, batch.num_rows, rows):
                    yield pa.Table.from_batches([batch.slice(first, rows)]).select(names)


def _batch(reader: pa.RecordBatchFileReader, index: int) -> pa.RecordBatch:
    """A record batch; older pyarrow asks for the room that a damaged one claims to need, and fails for lack of it."""
    try:
        return reader.get_batch(index)
    except MemoryError:
        raise FileFormatError(f"record batch {index} claims to need more memory than there is") from None
