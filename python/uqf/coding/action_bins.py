"""Numeric actions as finitely many: cells of numbers, and the number that is done for each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, starmap

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.coding.names import checked_names
from uqf.types import AnyArray, Raw, Record

#: More cells of one number than this are taken for a mistake.
MAX_BINS = 1000

#: More numbers of an action than this are taken for damage.
MAX_PARTS = 64


@dataclass(frozen=True)
class Bins:
    """One number: it lies in cell i if it is not below ``cuts[i - 1]`` and below ``cuts[i]``; ``values[i]`` is done."""

    column: str
    cuts: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        numbers = (*self.cuts, *self.values)
        if not all(type(one) in (int, float) and math.isfinite(one) for one in numbers):
            raise ValueError(f"actions: cells of {self.column!r} that are no finite numbers")
        if not 1 <= len(self.values) <= MAX_BINS or len(self.cuts) != len(self.values) - 1:
            raise ValueError(
                f"actions: {len(self.values)} values and {len(self.cuts)} cuts of {self.column!r}; a cut "
                f"stands between two values, and there are up to {MAX_BINS}"
            )
        if list(np.searchsorted(self.cuts, self.values, side="right")) != list(range(len(self.values))):
            raise ValueError(f"actions: values of {self.column!r} that lie in other cells than their own")

    @classmethod
    def learned(cls, column: str, numbers: AnyArray, count: int) -> Bins:
        """About equally many numbers of a log in every cell; what is done is the median of its cell, a logged number.

        A number that is frequent has a cell of its own, and the others share the rest: a valve that is mostly shut
        would leave a single cell otherwise.
        """
        distinct, counts = np.unique(numbers, return_counts=True)
        begins, left, cells, filled = [0], int(counts.sum()), count, 0
        for place, times in enumerate(counts.tolist()):
            # A cell ends where it is nearest to its share, and early enough to leave a number for each of the others.
            full = filled + times / 2 > left / cells or len(distinct) - place < cells
            if filled and cells > 1 and full:
                begins.append(place)
                left, cells, filled = left - filled, cells - 1, 0
            filled += times
        ends = [*begins[1:], len(distinct)]
        values = []
        for begin, end in zip(begins, ends, strict=True):
            below = np.cumsum(counts[begin:end])
            values.append(distinct[begin + int(np.searchsorted(below, below[-1] / 2))].item())
        cuts = [_between(float(distinct[at - 1]), float(distinct[at])) for at in begins[1:]]
        return cls(column, tuple(cuts), tuple(values))

    @classmethod
    def spread(cls, column: str, values: Iterable[float]) -> Bins:
        """Every number belongs to the nearest of these, which ascend."""
        listed = tuple(values)
        return cls(column, tuple(starmap(_between, pairwise(listed))), listed)

    def describe(self, place: int) -> str:
        """What lies in a cell, in words."""
        value, around = self.values[place], self.cuts[max(place - 1, 0) : place + 1]
        if type(value) is int and all(abs(cut - value) == 0.5 for cut in around):
            return f"{self.column} = {value}"
        low = f"{self.cuts[place - 1]:.6g}" if place else ""
        high = f"{self.cuts[place]:.6g}" if place < len(self.cuts) else ""
        if low and high:
            return f"{low} ≤ {self.column} < {high}"
        if low or high:
            return f"{self.column} ≥ {low}" if low else f"{self.column} < {high}"
        return f"any {self.column}"


def _between(low: float, high: float) -> float:
    """A number above `low` and up to `high`, in the middle if there is one."""
    middle = low / 2 + high / 2
    return middle if middle > low else high


@dataclass(frozen=True)
class ActionBins:
    """Actions of one or several numbers as codes; the cell of the last number counts fastest.

    With a `shape` actions are arrays, as those of Gymnasium; without, they are numbers, as in a log.
    """

    parts: tuple[Bins, ...]
    shape: tuple[int, ...] | None = None
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if not 1 <= len(self.parts) <= MAX_PARTS or len(self.parts) != math.prod(self.shape or ()):
            raise ValueError(f"actions: {len(self.parts)} numbers, but arrays of shape {self.shape}")

    @property
    def n(self) -> int:
        return math.prod(self._sizes)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(part.values) for part in self.parts)

    def encode(self, actions: ArrayLike) -> NDArray[np.int64]:
        """Codes of many actions, (n,)."""
        try:
            rows = np.asarray(actions, np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"actions {actions!r}: give {len(self.parts)} finite numbers each") from None
        rows = rows.reshape(len(rows), -1)
        if rows.shape[1] != len(self.parts):
            raise ValueError(f"an action of {rows.shape[1]} numbers: give {len(self.parts)}")
        if not np.isfinite(rows).all():
            raise ValueError(f"action {rows[~np.isfinite(rows)][0]}: give finite numbers")
        codes = np.zeros(len(rows), np.int64)
        for part, numbers in zip(self.parts, rows.T, strict=True):
            codes = codes * len(part.values) + np.searchsorted(part.cuts, numbers, side="right")
        return codes

    def decode(self, code: int) -> Raw:
        """What is done: a number, or an array."""
        values = [part.values[place] for part, place in zip(self.parts, self._places(code), strict=True)]
        return values[0] if self.shape is None else np.array(values, self.dtype).reshape(self.shape)

    def name(self, code: int) -> str:
        """What is done, in short: "valve 0.35", or "[0.5, -1]"."""
        numbers = [
            f"{part.values[place]:.6g}" for part, place in zip(self.parts, self._places(code), strict=True)
        ]
        return f"{self.parts[0].column} {numbers[0]}" if self.shape is None else f"[{', '.join(numbers)}]"

    def describe(self, code: int) -> str:
        """Which actions a code stands for and what is done for it, in words."""
        if self.shape is not None:
            return self.name(code)
        cell = self.parts[0].describe(code)
        return cell if " = " in cell else f"{cell}: {self.decode(code):.6g}"

    def _places(self, code: int) -> list[int]:
        if not 0 <= code < self.n:
            raise ValueError(f"action {code}: there are {self.n}")
        return [int(place) for place in np.unravel_index(code, self._sizes)]

    def to_dict(self) -> Record:
        return {
            "bins": [[part.column, list(part.cuts), list(part.values)] for part in self.parts],
            "shape": None if self.shape is None else list(self.shape),
            "dtype": self.dtype,
        }

    @classmethod
    def from_dict(cls, content: Record) -> ActionBins:
        """What `to_dict` gave; ValueError or TypeError for anything else."""
        parts, shape, dtype = content["bins"], content["shape"], content["dtype"]
        checked_names("columns", [column for column, _, _ in parts])
        if shape is not None and not all(type(one) is int and 1 <= one <= MAX_PARTS for one in shape):
            raise ValueError(f"actions: arrays of shape {shape}")
        if not isinstance(dtype, str) or np.dtype(dtype).kind not in "iuf":
            raise ValueError(f"actions: arrays of {dtype!r}")
        bins = tuple(Bins(column, tuple(cuts), tuple(values)) for column, cuts, values in parts)
        return cls(bins, None if shape is None else tuple(shape), dtype)
