"""Types that are wide enough for all parts of a log: its files, or its blocks of lines."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import pyarrow as pa

from uqf.data.formats.columns import LogColumns, is_list, layout_of
from uqf.data.formats.values import ids_of, is_text
from uqf.errors import FileFormatError


def merged_schema(parts: Iterable[tuple[Any, Any]], columns: LogColumns) -> Any:
    """The columns of a log, given (what to call it, schema) of each of its parts.

    Whole numbers here and fractions there are numbers; ids of episodes that differ in type are text.
    """
    found: dict[str, dict[Any, Any]] = {}
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


def wider(one: Any, other: Any) -> Any:
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


def widened(table: Any, schema: Any, names: list[str], episode: str | None) -> Any:
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
