"""Columns of observations as numbers, beside their code: as they came, or as a code gives them back.

Numbers and dates (in seconds) stay what they are. Names become codes: i for the i-th of the column's common names, and
one more for every other. A missing value is NaN. All is in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from uqf.coding.raw_columns import OTHER, Column
from uqf.types import AnyArray, Raw

if TYPE_CHECKING:
    from uqf.coding.cells import Cells, Question

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
    return single_precision([_number(one, one.value(value)) for one, value in zip(columns, raw, strict=True)])


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
    codes = {name: _number(column, name) for name in set(values.tolist())}
    return np.array([codes[name] for name in values.tolist()], np.float64)


def _number(column: Column, value: float | str | None) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, str):
        return value
    names = known_names(column)
    return float(names.index(value) if value in names else len(names))


def points(cells: Cells) -> Numbers:
    """A point in every cell, (n_codes, d): its middle, half a usual cell beyond the last cut where it has no end.

    A column that says nothing about a cell is missing in it. Coding a point gives its cell, as far as single precision
    keeps its cuts apart.
    """
    rows = np.full((cells.n_codes, len(cells.columns)), np.nan, np.float32)
    spreads = [_spread(cells.questions, place) for place in range(len(cells.columns))]
    waiting: list[tuple[int, dict[int, _Side]]] = [(0, {})]
    while waiting:
        place, sides = waiting.pop()
        if place >= len(cells.questions):
            for column, side in sides.items():
                rows[place - len(cells.questions), column] = side.point(
                    cells.columns[column], spreads[column]
                )
            continue
        question = cells.questions[place]
        side = sides.get(question.column, _Side())
        for answer, following in ((True, question.yes), (False, question.no)):
            waiting.append((following, sides | {question.column: side.after(question.cut, answer)}))
    return rows


def _spread(questions: Sequence[Question], column: int) -> float:
    """Half the usual distance between the cuts of a column of numbers."""
    cuts = [one.cut for one in questions if one.column == column]
    numeric = np.unique([cut for cut in cuts if isinstance(cut, float)])
    return float(np.median(np.diff(numeric))) / 2.0 if len(numeric) > 1 else 0.5


@dataclass(frozen=True)
class _Side:
    """What answers on the way to a cell say about one column."""

    low: float = -math.inf
    high: float = math.inf
    name: str | None = None
    others: frozenset[str] = frozenset()
    missing: bool = False

    def after(self, cut: float | str | None, yes: bool) -> _Side:
        if cut is None:
            return replace(self, missing=self.missing or yes)
        if isinstance(cut, str):
            return replace(self, name=cut) if yes else replace(self, others=self.others | {cut})
        if yes:
            return replace(self, high=min(self.high, cut))
        return replace(self, low=max(self.low, cut))

    def point(self, column: Column, spread: float) -> float:
        if self.missing or self.low >= self.high:
            return math.nan
        if column.kind == "category":
            left = [name for name in known_names(column) if name not in self.others]
            return _number(column, self.name or (left[0] if left else OTHER))
        if math.isfinite(self.low) and math.isfinite(self.high):
            return (self.low + self.high) / 2.0
        if math.isfinite(self.low):
            return self.low + spread
        return self.high - spread if math.isfinite(self.high) else 0.0
