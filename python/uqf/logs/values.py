"""Columns of an Arrow table as one value per step, and types that are wide enough for all parts of a log."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.coding.names import MISSING
from uqf.errors import FileFormatError
from uqf.logs.columns import Layout, LogColumns, is_list, layout_of
from uqf.types import AnyArray, Integers


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of Arrow holds names."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def values_of(table: pa.Table, name: str, first_row: int = 0, *, may_miss: bool = False) -> pa.ChunkedArray:
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


def raw_values(table: pa.Table, name: str, rows: Integers | None = None) -> AnyArray:
    """One value per step, or of some rows, as NumPy has it: None, NaN or NaT where it is missing."""
    values = values_of(table, name, may_miss=True)
    values = values if rows is None else values.take(rows)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def ids_of(table: pa.Table, name: str) -> pa.ChunkedArray:
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


def numbers_of(table: pa.Table, name: str, first_row: int) -> NDArray[np.float64]:
    """One number per step."""
    values = values_of(table, name, first_row)
    types = pa.types
    if not (types.is_integer(values.type) or types.is_floating(values.type) or types.is_decimal(values.type)):
        example = values[0].as_py() if len(values) else None
        raise FileFormatError(f"column {name!r} holds {values.type}, such as {example!r}: give numbers")
    return np.ascontiguousarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def action_values(table: pa.Table, layout: Layout, first_row: int) -> pa.Array:
    """The actions, one per step: names, codes, or finite numbers if these are cut into cells."""
    name = layout.names["action"]
    values = values_of(table, name, first_row)
    if layout.action_bins is None:
        return values
    types = pa.types
    if types.is_decimal(values.type):
        values = values.cast(pa.float64())
    if not (types.is_integer(values.type) or types.is_floating(values.type)):
        example = values[0].as_py() if len(values) else None
        raise FileFormatError(
            f"column {name!r} holds {values.type}, such as {example!r}: only numbers are cut into cells; leave out "
            "action_bins, or give clean=True (--clean) if they are numbers written otherwise"
        )
    finite = np.isfinite(values.to_numpy(zero_copy_only=False).astype(np.float64))
    if not finite.all():
        step = int(np.argmin(finite))
        place = f"row {first_row + step}" if layout.per_step else f"step {step} from row {first_row} on"
        raise FileFormatError(f"column {name!r}, {place}: {values[step].as_py()} is no finite number")
    return values


def codes_of(
    values: pa.ChunkedArray, names: tuple[str, ...] | None, column: str, unknown: int | None
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


def merged_schema(parts: Iterable[tuple[object, pa.Schema]], columns: LogColumns) -> pa.Schema:
    """The columns of a log, given (what to call it, schema) of each of its parts.

    Whole numbers here and fractions there are numbers; ids of episodes that differ in type are text.
    """
    found: dict[str, dict[pa.DataType, object]] = {}
    metadata = None
    for place, schema in parts:
        metadata = schema.metadata if metadata is None else metadata
        for name in set(schema.names):
            if schema.names.count(name) > 1:
                if layout_of(schema, columns) and name in layout_of(schema, columns).columns:
                    raise FileFormatError(f"{place}: several columns are called {name!r}; rename all but one")
                continue
            found.setdefault(name, {}).setdefault(schema.field(name).type, place)
    known = {name: [kind for kind in kinds if not pa.types.is_null(kind)] for name, kinds in found.items()}
    first = pa.schema([(name, kinds[0] if kinds else pa.null()) for name, kinds in known.items()])
    layout, types = layout_of(first, columns), {}
    for name in layout.columns:
        if name == layout.names.get("episode") and len(known[name]) > 1:
            types[name] = pa.string()
            continue
        kinds = known[name] or [pa.null()]
        try:
            types[name] = reduce(wider, kinds)
        except TypeError:
            told = "; ".join(f"{kind} in {place}" for kind, place in found[name].items())
            raise FileFormatError(f"column {name!r} holds {told}: give one kind of values") from None
    # The others are kept by name: whoever looks for problems wants to know them.
    return pa.schema([(name, types.get(name, first.field(name).type)) for name in first.names], metadata)


def wider(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """A type that holds the values of both; TypeError if there is none."""
    types = pa.types
    if one == other:
        return one
    if types.is_dictionary(one) or types.is_dictionary(other):
        return wider(*(kind.value_type if types.is_dictionary(kind) else kind for kind in (one, other)))
    if is_list(one) and is_list(other):
        return pa.large_list(wider(one.value_type, other.value_type))
    for are, kind in (
        (is_text, pa.string()),
        (lambda one: types.is_integer(one) or types.is_boolean(one), pa.int64()),
        (lambda one: types.is_integer(one) or types.is_floating(one) or types.is_decimal(one), pa.float64()),
        (lambda one: types.is_timestamp(one) or types.is_date(one), pa.timestamp("us")),
    ):
        if are(one) and are(other):
            return kind
    if types.is_null(one) or types.is_null(other):
        return other if types.is_null(one) else one
    raise TypeError


def widened(table: pa.Table, schema: pa.Schema, names: list[str], episode: str | None) -> pa.Table:
    """The named columns with the types of a schema; a column that is not there is missing in every row."""
    columns = []
    for name in names:
        kind = schema.field(name).type
        if name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, kind))
        elif name == episode and kind != table.schema.field(name).type:
            columns.append(ids_of(table, name).cast(kind))
        else:
            columns.append(table.column(name).cast(kind))
    return pa.table(columns, names=names)
