"""Episodes from Arrow tables and from every frame that speaks Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from uqf.adapters.columns import LogColumns, layout_of, naming
from uqf.adapters.episodes import alphabet_of, trajectories_of, whole_episodes
from uqf.errors import FileFormatError
from uqf.trajectories import Trajectories, concatenate
from uqf.vocabulary import Vocabulary


def read_table(
    table: Any,
    columns: LogColumns | None,
    n_actions: int | None,
    n_observations: int | None,
    vocabulary: Vocabulary | None,
) -> Trajectories:
    """The episodes of an Arrow table."""
    if table.num_rows == 0:
        raise FileFormatError("the log holds no episode")
    layout = layout_of(table.schema, columns or LogColumns())
    table = table.select(layout.columns)
    alphabet = alphabet_of([table], layout, n_actions, n_observations, vocabulary)
    parts = [trajectories_of(part, layout, alphabet, row) for row, part in whole_episodes([table], layout)]
    return concatenate(parts)


def from_arrow(
    frame: Any,
    *,
    columns: LogColumns | None = None,
    n_actions: int | None = None,
    n_observations: int | None = None,
    vocabulary: Vocabulary | None = None,
) -> Trajectories:
    """Episodes of a polars or pandas frame, a pyarrow table, or anything with ``__arrow_c_stream__``.

    Parameters
    ----------
    columns : LogColumns
        Names of the columns, if they are not the usual ones; see there for the two layouts.
    n_actions, n_observations : int
        Sizes of the alphabets if actions and observations are numbers; by default the largest plus one.
    vocabulary : Vocabulary
        Names to use, such as those of a model; by default those that occur, sorted. It comes back as
        ``data.vocabulary``.

    Anything wrong raises `uqf.FileFormatError` with the column and the row, counted from 0.
    """
    if not isinstance(frame, pa.Table) and not hasattr(frame, "__arrow_c_stream__"):
        raise TypeError(
            f"frame is a {type(frame).__name__}: give a polars or pandas frame, or an Arrow table"
        )
    with naming(f"this {type(frame).__name__}"):
        return read_table(pa.table(frame), columns, n_actions, n_observations, vocabulary)
