"""Observations as they came, beside their codes: raw columns, and which actions a decision allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.coding.column_numbers import single_precision
from uqf.types import AnyArray, Record

if TYPE_CHECKING:
    from uqf.episodes.trajectories import Trajectories

Columns = NDArray[np.float32]
Sizes = NDArray[np.int32]

#: Larger whole numbers are not exact in single precision.
MAX_SIZE = 2**24


def columns_of(data: Trajectories) -> tuple[Columns, Columns | None, Sizes]:
    """The raw columns that learners look at: (columns, first_columns, sizes).

    columns (n_steps, d), float32, row t is what came back after the action of step t; first_columns (n_episodes, d) is
    what `reset` showed, None where it showed nothing; sizes (d,) is 0 for a number and k for a category of k values.
    They are the stored ones; where none are stored, those that a codebook of several columns gives back from codes;
    and else the code as one category of n_observations values. Trap: missing values are NaN.
    """
    if data.columns is not None and data.column_sizes is not None:
        return data.columns, data.first_columns, data.column_sizes
    shown = data.first_observations
    if data.codebook is not None and len(data.codebook.columns_) > 1:
        columns, sizes = data.codebook.columns_of(data.observations)
        return columns, None if shown is None else data.codebook.columns_of(shown)[0], sizes
    size = np.array([data.n_observations], np.int32)
    first = None if shown is None else shown.astype(np.float32)[:, None]
    return data.observations.astype(np.float32)[:, None], first, size


def as_columns(values: ArrayLike, sizes: Sizes) -> Columns:
    """Observations (n, d), or one of them (d,), as columns of these sizes; what is no value of a category is missing.

    A plain number is an observation of one column.
    """
    rows = single_precision(np.atleast_1d(np.asarray(values, np.float64)))
    if rows.shape[-1] != len(sizes):
        raise ValueError(f"an observation of {rows.shape[-1]} values, but of {len(sizes)} columns")
    known = (sizes == 0) | ((rows >= 0) & (rows < sizes) & (rows == np.floor(rows)))
    return np.where(known, rows, np.float32(np.nan))


def checked_extras(
    data: Trajectories,
    columns: ArrayLike | None,
    first_columns: ArrayLike | None,
    column_sizes: ArrayLike | None,
    allowed: ArrayLike | None,
) -> Record:
    """Columns, first columns, sizes and allowed actions as `Trajectories` keeps them, or an error that names one."""
    mask = None if allowed is None else _checked_allowed(allowed, data)
    if columns is None:
        for name, given in (("first_columns", first_columns), ("column_sizes", column_sizes)):
            if given is not None:
                raise ValueError(f"{name} without columns: give both or none")
        return {"allowed": mask}
    rows = _table("columns", columns, data.n_steps)
    sizes = _checked_sizes(column_sizes, rows.shape[1])
    if (first_columns is None) != (data.first_observations is None):
        raise ValueError("first_columns go with first_observations: give both or none")
    first = None if first_columns is None else _table("first_columns", first_columns, len(data))
    if first is not None and first.shape[1] != rows.shape[1]:
        raise ValueError(f"first_columns has {first.shape[1]} columns, columns has {rows.shape[1]}")
    for name, table in (("columns", rows), ("first_columns", first)):
        if table is not None:
            _refuse_no_codes(name, table, sizes)
    return {"columns": rows, "first_columns": first, "column_sizes": sizes, "allowed": mask}


def _table(name: str, values: ArrayLike, rows: int) -> Columns:
    try:
        table = single_precision(values)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} cannot be read as numbers: {error}") from None
    if table.ndim != 2 or len(table) != rows or table.shape[1] == 0:
        raise ValueError(f"{name} has shape {table.shape}: give ({rows}, number of columns)")
    return table


def _checked_sizes(given: ArrayLike | None, width: int) -> Sizes:
    if given is None:
        return np.zeros(width, np.int32)
    sizes = np.asarray(given)
    if sizes.shape != (width,) or sizes.dtype.kind not in "iu":
        raise ValueError(
            f"column_sizes has shape {sizes.shape} and dtype {sizes.dtype}: give {width} integers, 0 for a number"
        )
    if (sizes < 0).any() or (sizes > MAX_SIZE).any():
        raise ValueError(f"column_sizes = {sizes.tolist()}: give 0 for a number, or 1 to {MAX_SIZE} values")
    return sizes.astype(np.int32)


def _refuse_no_codes(name: str, table: Columns, sizes: Sizes) -> None:
    """Raises ValueError for an entry of a category that is neither missing nor one of its codes."""
    for place in np.flatnonzero(sizes):
        codes = table[:, place]
        wrong = ~((codes >= 0) & (codes < sizes[place]) & (codes == np.floor(codes)) | np.isnan(codes))
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"{name}[{row}, {place}] = {codes[row]}: the column is a category of {sizes[place]} values, 0 to "
                f"{sizes[place] - 1} or NaN; its column_sizes is 0 if it is a number"
            )


def _checked_allowed(given: ArrayLike, data: Trajectories) -> NDArray[np.bool_]:
    allowed, shape = np.asarray(given), (data.n_steps, data.n_actions)
    if allowed.shape != shape or (allowed.dtype.kind not in "b" and not _zero_or_one(allowed)):
        raise ValueError(
            f"allowed has shape {allowed.shape} and dtype {allowed.dtype}: give booleans of shape {shape}"
        )
    mask = np.ascontiguousarray(allowed, np.bool_)
    taken = mask[np.arange(data.n_steps), data.actions]
    if not taken.all():
        step = int(taken.argmin())
        raise ValueError(
            f"allowed[{step}] forbids action {data.actions[step]}, which was taken: mark what was allowed at the "
            "decision"
        )
    return mask


def _zero_or_one(values: AnyArray) -> bool:
    return values.dtype.kind in "iu" and bool(((values == 0) | (values == 1)).all())
