"""Raw observations as named columns: tables, arrays, mappings, and one observation at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.types import AnyArray, Raw, TableLike

Kind = Literal["number", "category", "date"]

#: What rare names of a category are called together.
OTHER = "(other)"

#: Names of a category that are kept apart, if they occur often enough.
MAX_NAMES = 64
MIN_OCCURRENCES = 5

#: The name of the column where there is only one and nobody named it.
OBSERVATION = "observation"


@dataclass(frozen=True)
class Column:
    """What a column of observations holds."""

    name: str
    kind: Kind
    """Numbers and dates are cut, categories compared."""
    has_missing: bool = False
    """Whether a value was missing where the column was learned from."""
    names: tuple[str, ...] = ()
    """The common names of a category; `OTHER` at the end stands for rarer ones."""

    def value(self, raw: Raw) -> float | str | None:
        """One raw value as a number or a name; None is missing, and so is what cannot be read as a number."""
        if type(raw) is float and self.kind == "number":  # the usual case, at every step of an agent
            return raw if raw == raw else None
        if is_missing(raw):
            return None
        if self.kind == "category":
            return name_of(raw)
        try:
            number = _seconds(raw) if self.kind == "date" else float(raw)
        except (TypeError, ValueError, OverflowError):
            return None
        return None if math.isnan(number) else number

    def values(self, raw: AnyArray) -> AnyArray:
        """Raw values as floats with NaN for missing, or as an object array of names with None for missing."""
        if self.kind != "category" and raw.dtype.kind in "fiub":
            return raw.astype(np.float64)
        if self.kind == "date" and raw.dtype.kind == "M":
            return _seconds_of(raw)
        if self.kind == "category" and only_names(raw):
            return raw
        listed = [self.value(one) for one in raw.tolist()]
        if self.kind == "category":
            names = np.empty(len(listed), object)
            names[:] = listed
            return names
        return np.array([math.nan if one is None else one for one in listed], np.float64)

    def with_names(self, values: AnyArray) -> Column:
        """The same column, with the names that are common among its values."""
        if self.kind != "category":
            return self
        counts = Counter(one for one in values.tolist() if one is not None)
        order = sorted(counts, key=lambda name: (-counts[name], name))[:MAX_NAMES]
        common = sorted(name for name in order if counts[name] >= MIN_OCCURRENCES)
        return replace(self, names=(*common, OTHER) if len(common) < len(counts) else tuple(common))


def only_names(raw: AnyArray) -> bool:
    """Whether an array holds names and missing ones (None) only, as columns of a log do; they are left as they are."""
    return raw.dtype.kind == "O" and set(map(type, raw.tolist())) <= {str, type(None)}


def name_of(raw: Raw) -> str:
    """How a category is called."""
    if isinstance(raw, (bool, np.bool_)):
        return "true" if raw else "false"
    return str(raw)


def is_missing(raw: Raw) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if raw is None or type(raw).__name__ == "NAType":
        return True
    if isinstance(raw, str):
        return False
    try:
        return bool(raw != raw)
    except (TypeError, ValueError):
        return False


def kind_of(name: str, raw: AnyArray) -> Column:
    """The kind of a column: numbers if all values are, dates if all are, and categories otherwise."""
    if raw.dtype.kind in "iuf":
        return Column(name, "number", raw.dtype.kind == "f" and bool(np.isnan(raw).any()))
    if raw.dtype.kind == "M":
        return Column(name, "date", bool(np.isnat(raw).any()))
    if raw.dtype.kind in "bUS":
        return Column(name, "category")
    if raw.dtype.kind != "O":
        raise TypeError(f"column {name!r} has dtype {raw.dtype}: give numbers, names or dates")
    if only_names(raw):
        return Column(name, "category", None in raw.tolist())
    missing = [is_missing(one) for one in raw]
    present = [one for one, gone in zip(raw, missing, strict=True) if not gone]
    for one in present:
        if isinstance(one, (Mapping, list, tuple, set, np.ndarray)):
            raise TypeError(f"column {name!r} holds {type(one).__name__} objects: give one value a row")
    kind: Kind = "category"
    if present and all(
        hasattr(one, "__float__") and not isinstance(one, (bool, np.bool_)) for one in present
    ):
        kind = "number"
    elif present and all(hasattr(one, "isoformat") and hasattr(one, "year") for one in present):
        kind = "date"
    return Column(name, kind, any(missing))


def columns_of(table: TableLike) -> dict[str, AnyArray]:
    """The columns of a mapping, a pandas, polars or Arrow table, a 2-D array, or a 1-D array (one column)."""
    named = dict(_named(table))
    if not named:
        raise ValueError("columns is empty: give at least one column")
    lengths = {name: len(values) for name, values in named.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"columns of different lengths: {lengths}")
    return named


def _named(table: TableLike) -> Iterator[tuple[str, AnyArray]]:
    if isinstance(table, Mapping):
        names: Sequence[Raw] = list(table)
    elif hasattr(table, "column_names"):  # pyarrow
        names = table.column_names
    elif getattr(table, "columns", None) is not None:  # pandas, polars
        names = list(table.columns)
    elif isinstance(table, (list, tuple)) and len(table) and isinstance(table[0], (Mapping, tuple)):
        yield from _records(table)
        return
    else:
        yield from _spread("", _array(OBSERVATION, table))
        return
    if len(set(map(str, names))) != len(names):
        raise ValueError(f"two columns have the same name among {[str(name) for name in names]}")
    for name in names:
        yield from _spread(str(name), _array(str(name), table[name]))


def _spread(name: str, array: AnyArray) -> Iterator[tuple[str, AnyArray]]:
    """An array of one value a row, or the columns of one of several."""
    if array.ndim == 1:
        yield name or OBSERVATION, array
    else:
        for index, column in enumerate(array.reshape(len(array), -1).T):
            yield f"{name}.{index}" if name else f"x{index}", column


def _records(rows: Sequence[Raw]) -> Iterator[tuple[str, AnyArray]]:
    """Observations one by one, each a mapping or a tuple of the same parts."""
    listed = [dict(_items(row, "")) for row in rows]
    for name in listed[0]:
        yield name, _array(name, [row.get(name) for row in listed])


def _array(name: str, values: TableLike) -> AnyArray:
    """An array of values; lists with names, Nones and numbers mixed keep them as they are."""
    if hasattr(values, "to_numpy"):
        if hasattr(values, "combine_chunks"):
            import pyarrow as pa

            if pa.types.is_dictionary(values.type):
                values = values.cast(values.type.value_type)
        array = np.asarray(values.to_numpy())
    elif isinstance(values, np.ndarray):
        array = values
    else:
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise ValueError(f"column {name!r} is {values!r}: give one value, or a row of values, a step")
        listed = list(values)
        mixed = any(
            one is None or isinstance(one, (str, bool)) or type(one).__name__ == "NAType" for one in listed
        )
        try:
            array = np.array(listed, object) if mixed else np.asarray(listed)
        except ValueError as error:
            raise ValueError(f"column {name!r} holds values of different shapes: {error}") from None
    return array


def with_first(
    named: Mapping[str, AnyArray],
    first: Mapping[str, AnyArray],
    rewards: ArrayLike | None,
    offsets: ArrayLike | None,
    actions: ArrayLike | None,
) -> tuple[dict[str, AnyArray], AnyArray | None, AnyArray, AnyArray | None]:
    """Columns, rewards, offsets and actions with a row more at the beginning of every episode: what was seen first.

    It has no reward, and its action is that of the next step, which nobody looks at.
    """
    count = len(next(iter(named.values())))
    ends = np.asarray([0, count] if offsets is None else offsets)
    shown = dict(zip(named, first.values(), strict=True)) if named.keys() != first.keys() else first
    if any(len(one) != len(ends) - 1 for one in shown.values()):
        raise ValueError(f"first holds other than one row for each of {len(ends) - 1} episodes")
    rows = {
        name: np.insert(_widened(column, shown[name]), ends[:-1], shown[name])
        for name, column in named.items()
    }
    paid = None if rewards is None else np.insert(np.asarray(rewards, np.float64), ends[:-1], 0.0)
    taken = (
        None if actions is None else np.insert(np.asarray(actions), ends[:-1], np.asarray(actions)[ends[:-1]])
    )
    return rows, paid, ends + np.arange(len(ends)), taken


def _widened(column: AnyArray, other: AnyArray) -> AnyArray:
    """The column with a type that holds the other's values too."""
    return column.astype(np.result_type(column, other) if column.dtype.kind == other.dtype.kind else object)


def values_of_one(raw: Raw, names: Sequence[str]) -> list[Raw]:
    """The values of one observation in the order of its columns; what a mapping lacks is missing."""
    if isinstance(raw, Mapping):
        named: Mapping[str, Raw] = raw if all(name in raw for name in names) else dict(_items(raw, ""))
        return [named.get(name) for name in names]
    flat = isinstance(raw, np.ndarray)
    values = raw.ravel().tolist() if flat else [value for _, value in _items(raw, "")]
    if len(values) != len(names):
        raise ValueError(
            f"an observation of {len(values)} values, but of the columns {', '.join(names[:20])}"
        )
    return values


def _items(raw: Raw, name: str) -> Iterator[tuple[str, Raw]]:
    """(name, value) of all that an observation is made of, as `columns_of` names them."""
    if isinstance(raw, Mapping):
        for key, part in raw.items():
            yield from _items(part, f"{name}.{key}" if name else str(key))
    elif isinstance(raw, (tuple, list)) or (isinstance(raw, np.ndarray) and raw.ndim):
        for index, part in enumerate(raw.ravel().tolist() if isinstance(raw, np.ndarray) else raw):
            yield from _items(part, f"{name}.{index}" if name else f"x{index}")
    else:
        yield name or OBSERVATION, raw


def _seconds(raw: Raw) -> float:
    """Seconds since 1970 of a date, or a number as it is."""
    if isinstance(raw, (int, float)):
        return float(raw)
    return float(_seconds_of(np.asarray(raw, "datetime64[us]").reshape(1))[0])


def _seconds_of(dates: AnyArray) -> NDArray[np.float64]:
    whole = dates.astype("datetime64[us]")
    seconds = whole.astype(np.int64) / 1e6
    return np.where(np.isnat(whole), math.nan, seconds)
