"""Columns of an Arrow table as one value per step: names, numbers, codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.data.formats.columns import is_list
from uqf.data.names import MISSING
from uqf.errors import FileFormatError


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow holds names."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def values_of(table: Any, name: str, first_row: int = 0, *, may_miss: bool = False) -> Any:
    """One value per step, as a single Arrow array; rows in errors count from `first_row`.

    Without `may_miss` a missing value is refused.
    """
    column = table.column(name).combine_chunks()
    if column.null_count and (not may_miss or is_list(column.type)):
        row = first_row + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise FileFormatError(f"column {name!r}, row {row}: the value is missing")
    values = column.flatten() if is_list(column.type) else column
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count and not may_miss:
        raise FileFormatError(f"column {name!r}: a value is missing inside a list")
    return values.cast(pa.string()) if is_text(values.type) else values


def raw_values(table: Any, name: str, rows: Any = None) -> NDArray[Any]:
    """One value per step, or of some rows, as NumPy has it: None, NaN or NaT where it is missing."""
    values = values_of(table, name, may_miss=True)
    values = values if rows is None else values.take(rows)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def ids_of(table: Any, name: str) -> Any:
    """One id of an episode per row, which can be told from all others."""
    values = values_of(table, name)
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy(zero_copy_only=False)
        if np.isnan(numbers).any():
            raise FileFormatError(
                f"column {name!r}, row {int(np.argmax(np.isnan(numbers)))}: the value is missing"
            )
        if (np.abs(numbers) >= 2.0**53).any():
            raise FileFormatError(
                f"column {name!r} holds {values.type} ids as large as {np.abs(numbers).max():.0f}, which cannot be "
                "told apart: write them as whole numbers or as text"
            )
    return values


def numbers_of(table: Any, name: str, first_row: int) -> NDArray[np.float64]:
    """One number per step."""
    values = values_of(table, name, first_row)
    types = pa.types
    if not (types.is_integer(values.type) or types.is_floating(values.type) or types.is_decimal(values.type)):
        example = values[0].as_py() if len(values) else None
        raise FileFormatError(f"column {name!r} holds {values.type}, such as {example!r}: give numbers")
    return np.ascontiguousarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def codes_of(
    values: Any, names: tuple[str, ...] | None, column: str, unknown: int | None
) -> NDArray[np.int64]:
    """Codes of names or numbers; `unknown` is the code of a name that is not listed, None refuses it."""
    if is_text(values.type) != (names is not None):
        kinds = "names" if names is not None else "numbers"
        raise FileFormatError(f"column {column!r} holds {values.type}, but the codebook has {kinds}")
    if names is None:
        return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False))
    values = pc.fill_null(values, MISSING)
    places = pc.index_in(values, value_set=pa.array(names, pa.string()))
    if places.null_count and unknown is None:
        row = int(np.argmax(places.is_null().to_numpy(zero_copy_only=False)))
        raise FileFormatError(f"column {column!r}: {values[row].as_py()!r} is not in the codebook")
    return np.asarray(pc.fill_null(places.cast(pa.int64()), unknown).to_numpy(zero_copy_only=False))
