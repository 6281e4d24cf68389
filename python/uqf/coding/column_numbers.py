"""Columns of observations as numbers, beside their code.

Numbers and dates (in seconds) stay what they are. Names become codes: i for the i-th of the column's common names, and
one more for every other. A missing value is NaN. All is in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqf.coding.raw_columns import OTHER, Column
from uqf.types import AnyArray, Raw

Numbers = NDArray[np.float32]

#: The largest number of single precision.
LARGEST = float(np.finfo(np.float32).max)


def known_names(column: Column) -> tuple[str, ...]:
    """The names of a category that have a code of their own."""
    return tuple(name for name in column.names if name != OTHER)


def column_sizes(columns: Sequence[Column]) -> NDArray[np.int32]:
    """(d,): 0 for numbers and dates; for a category the number of its common names and one more."""
    sizes = [len(known_names(one)) + 1 if one.kind == "category" else 0 for one in columns]
    return np.array(sizes, np.int32)


def numbers(columns: Sequence[Column], raw: Sequence[AnyArray]) -> Numbers:
    """Raw values, an array for each column, as (n, d)."""
    return single_precision(
        np.stack([_numbers(one, values) for one, values in zip(columns, raw, strict=True)], axis=1)
    )


def numbers_of_one(columns: Sequence[Column], raw: Sequence[Raw]) -> Numbers:
    """One raw value for each column, as (d,)."""
    return single_precision([number(one, one.value(value)) for one, value in zip(columns, raw, strict=True)])


def single_precision(values: Raw) -> Numbers:
    """Numbers as columns hold them: those beyond single precision become its largest; NaN stays."""
    given = np.asarray(values)
    if given.dtype != np.float32 or np.isinf(given).any():
        given = np.clip(given.astype(np.float64), -LARGEST, LARGEST).astype(np.float32)
    return np.require(given, None, ["C", "A"])


def _numbers(column: Column, raw: AnyArray) -> NDArray[np.float64]:
    values = column.values(raw)
    if column.kind != "category":
        return values
    codes = {name: number(column, name) for name in set(values.tolist())}
    return np.array([codes[name] for name in values.tolist()], np.float64)


def number(column: Column, value: float | str | None) -> float:
    """A value of a column as a number: a name by its code, NaN for a missing one."""
    if value is None:
        return math.nan
    if not isinstance(value, str):
        return value
    names = known_names(column)
    return float(names.index(value) if value in names else len(names))
