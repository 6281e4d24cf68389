"""What sensors read: the raw columns of a log under their names, as they were before they became codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.coding.cells import Cells
from uqf.coding.column_numbers import known_names
from uqf.coding.raw_columns import OTHER, Column
from uqf.episodes.columns import Columns
from uqf.episodes.trajectories import Trajectories
from uqf.page.parts import figure
from uqf.reports.names import Names, Phrase


def columns_of(data: Trajectories) -> tuple[Column, ...]:
    """The raw columns that the episodes hold, with their names; none where there are only codes."""
    cells = None if data.codebook is None else data.codebook.coding_
    if data.columns is None or not isinstance(cells, Cells) or data.columns.shape[1] != len(cells.columns):
        return ()
    return cells.columns


def last_readings(data: Trajectories) -> Columns:
    """What was read last before every step, (n_steps, d); NaN where nothing was; d is 0 where there are only codes."""
    if data.columns is None:
        return np.empty((data.n_steps, 0), np.float32)
    read = np.full_like(data.columns, np.nan)
    read[1:] = data.columns[:-1]
    read[data.offsets[:-1]] = np.nan if data.first_columns is None else data.first_columns
    return read


def in_words(columns: tuple[Column, ...], read: NDArray[np.float32]) -> str:
    """Such as: vibration 2.31, load eco."""
    return ", ".join(f"{one.name} {_value(one, value)}" for one, value in zip(columns, read, strict=True))


def _value(column: Column, value: float) -> str:
    if np.isnan(value):
        return "missing"
    if column.kind == "category":
        return (*known_names(column), OTHER)[int(value)]
    return (
        str(np.datetime64(int(value), "s")).replace("T", " ")
        if column.kind == "date"
        else figure(float(value))
    )


@dataclass(frozen=True)
class Reading:
    """Asks about a column of the last observation: whether it is a name, or a number of at least `value`."""

    place: int
    column: Column
    value: float

    @property
    def subject(self) -> tuple[int, str]:
        """What it is about."""
        return self.place, "column"

    @property
    def bound(self) -> float | None:
        """The least that answers yes; None if only the name itself does."""
        return None if self.column.kind == "category" else self.value

    def below(self, higher: Reading) -> Phrase:
        """Such as: vibration is 2.31 or more, but below 4."""
        words = (
            f" is {_value(self.column, self.value)} or more, but below {_value(self.column, higher.value)}"
        )
        return [(self.column.name, True), (words, False)]

    def holds(self, read: Columns) -> NDArray[np.bool_]:
        """(n_steps,), of the last readings; what is missing is no answer to any question."""
        values = read[:, self.place]
        return values == self.value if self.column.kind == "category" else values >= np.float32(self.value)

    def phrase(self, names: Names, *, yes: bool = True) -> Phrase:
        """Such as: vibration is 2.31 or more, or is below 2.31 or missing."""
        shown, missing = _value(self.column, self.value), " or missing" if self.column.has_missing else ""
        if self.column.kind == "category":
            return [(self.column.name, True), (" is " if yes else " is not ", False), (shown, True)]
        return [
            (self.column.name, True),
            (f" is {shown} or more" if yes else f" is below {shown}{missing}", False),
        ]


def readings(data: Trajectories, most: int) -> Iterator[Reading]:
    """Questions about the columns: names, and numbers at their quantiles, about `most` of them in all."""
    columns = columns_of(data)
    if not columns:
        return
    read = last_readings(data)
    each = max(2, min(24, most // len(columns)))
    for place, column in enumerate(columns):
        values = read[:, place]
        values = values[np.isfinite(values)]
        if not len(values):
            continue
        if column.kind == "category":
            found, counts = np.unique(values, return_counts=True)
            asked = found[np.argsort(-counts, kind="stable")[:each]].tolist()
        else:
            cuts = np.quantile(values, np.linspace(0, 1, each + 2)[1:-1])
            asked = sorted({float(f"{cut:.4g}") for cut in cuts})
        yield from (Reading(place, column, float(value)) for value in asked)
