"""Columns of an Arrow table as one value per step: names, numbers, codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.data.formats.columns import Layout, is_list
from uqf.errors import FileFormatError


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow holds names."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def values_of(table: Any, layout: Layout, role: str, first_row: int = 0) -> Any:
    """One value per step, as a single Arrow array without nulls; rows in errors count from `first_row`."""
    name = layout.names[role]
    column = table.column(name).combine_chunks()
    if column.null_count:
        row = first_row + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise FileFormatError(f"column {name!r}, row {row}: the value is missing")
    values = column.flatten() if is_list(column.type) else column
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        raise FileFormatError(f"column {name!r}: a value is missing inside a list")
    return values.cast(pa.string()) if is_text(values.type) else values


def numbers_of(table: Any, layout: Layout, role: str, first_row: int) -> NDArray[np.float64]:
    """One number per step."""
    values, name = values_of(table, layout, role, first_row), layout.names[role]
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
    places = pc.index_in(values, value_set=pa.array(names, pa.string()))
    if places.null_count and unknown is None:
        row = int(np.argmax(places.is_null().to_numpy(zero_copy_only=False)))
        raise FileFormatError(f"column {column!r}: {values[row].as_py()!r} is not in the codebook")
    return np.asarray(pc.fill_null(places.cast(pa.int64()), unknown).to_numpy(zero_copy_only=False))
