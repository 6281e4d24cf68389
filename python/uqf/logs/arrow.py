"""Episodes of frames that speak Arrow."""

from __future__ import annotations

import pyarrow as pa

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.logs.alphabet import alphabet_of
from uqf.logs.columns import LogColumns, layout_of, naming
from uqf.logs.episodes import trajectories_of
from uqf.logs.rows import Rows
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
        layout = layout_of(table.schema, (columns or LogColumns()).of(codebook))
        rows = Rows(table.select(layout.columns), layout).grouped()
        return trajectories_of(rows, alphabet_of(rows, (n_actions, n_observations, codebook)))
