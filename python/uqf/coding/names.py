"""Names and the codes that stand for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from reprlib import repr as shortened

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.coding.raw_columns import Column
from uqf.errors import shown
from uqf.types import AnyArray, Raw, Record

#: How an observation that never occurred in the logs is shown.
UNKNOWN = "(unknown)"

#: What a missing value is called among names.
MISSING = "(missing)"

#: Longer names, and more of them, are taken for damage or for something else than names.
MAX_NAME = 1000
MAX_NAMES = 100_000


@dataclass(frozen=True)
class Names:
    """One column of names: code i is ``names[i]``, and one code more stands for whatever the logs do not contain.

    A policy meets that last code as a symbol that it never saw, and keeps its state.
    """

    column: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        checked_names("observations", self.names)

    @classmethod
    def of(cls, column: str, values: AnyArray) -> Names:
        return cls(column, tuple(sorted({_name(one) for one in values.tolist()})))

    @property
    def column_names(self) -> tuple[str, ...]:
        return (self.column,)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return (Column(self.column, "category", MISSING in self._places),)

    @property
    def n_codes(self) -> int:
        return len(self.names) + 1

    def encode(self, columns: Sequence[AnyArray]) -> NDArray[np.int64]:
        places, other = self._places, len(self.names)
        listed = self.columns[0].values(columns[0]).tolist()
        return np.array([places.get(_name(one), other) for one in listed], np.int64)

    def encode_one(self, raw: Sequence[Raw]) -> int:
        """Code of a value, in a list of its own."""
        value = self.columns[0].value(raw[0])
        return self._places.get(MISSING if value is None else str(value), len(self.names))

    def describe(self, code: int) -> str:
        return UNKNOWN if code == len(self.names) else self.names[code]

    def to_dict(self) -> Record:
        return {"column": self.column, "names": list(self.names)}

    @classmethod
    def from_dict(cls, content: Record) -> Names:
        """What `to_dict` gave; ValueError or TypeError for anything else."""
        (column,) = checked_names("columns", [content["column"]])
        return cls(column, checked_names("observations", content["names"]))

    @cached_property
    def _places(self) -> dict[str, int]:
        """Code by name: there may be many names, and acting encodes one at every step."""
        return {name: place for place, name in enumerate(self.names)}


@dataclass(frozen=True)
class ActionNames:
    """Actions by name: code i is ``names[i]``; None if actions are codes already."""

    names: tuple[str, ...] | None

    @property
    def n(self) -> int | None:
        return None if self.names is None else len(self.names)

    def encode(self, actions: Sequence[Raw]) -> NDArray[np.int64]:
        """Codes of names, or of codes."""
        return np.array([self._code(one) for one in actions], np.int64)

    def _code(self, action: Raw) -> int:
        if not isinstance(action, str):
            return whole_code(action, "action")
        if self.names is None or action not in self.names:
            known = "only numbers" if self.names is None else ", ".join(self.names[:20])
            raise ValueError(f"action {action!r} does not occur in the logs, which know {known}")
        return self.names.index(action)

    def decode(self, code: int) -> str | int:
        return code if self.names is None else self.names[code]

    def name(self, code: int) -> str:
        """What an action is called, and all that it stands for."""
        return str(self.decode(code))

    describe = name

    def to_dict(self) -> list[str] | None:
        return None if self.names is None else list(self.names)


def _name(value: str | None) -> str:
    return MISSING if value is None else value


def whole_within(name: str, given: Raw, least: int, most: int) -> int:
    """A whole number, or an error that says which there can be."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not least <= given <= most:
        raise ValueError(f"{name} = {shown(given)}: give a whole number from {least} to {most}")
    return int(given)


def checked_names(role: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names, if all differ and they are no more and no longer than sensible."""
    several = isinstance(names, Sequence) and not isinstance(names, str) and len(names) > 0
    if not several or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{role}: give at least one name, all of them strings")
    if len(names) > MAX_NAMES:
        raise ValueError(f"{role}: {len(names)} names, at most {MAX_NAMES} are sensible; group rare ones")
    if any(len(name) > MAX_NAME for name in names):
        raise ValueError(f"{role}: a name is longer than {MAX_NAME} characters")
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"{role}: {twice!r} is listed twice")
    return tuple(names)


def code_below(code: Raw, codes: int, role: str = "code") -> int:
    """A code, if there is such a one among so many."""
    if not 0 <= whole_code(code, role) < codes:
        raise ValueError(f"{role} {code}: the codebook has {codes}, from 0 on")
    return int(code)


def whole_codes(columns: Raw) -> NDArray[np.int64]:
    """Codes as they are, (n,)."""
    try:
        codes, whole = np.asarray(columns), np.asarray(columns, np.int64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("columns: without a codebook codes are whole numbers") from None
    if codes.dtype.kind not in "iu" and not np.array_equal(whole, codes):
        raise ValueError("columns: without a codebook codes are whole numbers")
    return whole


def whole_code(raw: Raw, what: str) -> int:
    """A code as it is; 1.5 is none."""
    try:
        code = int(raw)
        whole = (isinstance(raw, str) or code == raw) and abs(code) < 2**63
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise ValueError(f"{what} {shortened(raw)}: without a codebook codes are whole numbers")
    return code


def named_actions(actions: ArrayLike | None) -> tuple[AnyArray | None, ActionNames]:
    """Actions of the rows, one each, or None; and their names, where they have any."""
    if actions is None:
        return None, ActionNames(None)
    taken = np.asarray(actions)
    if taken.ndim != 1:
        raise ValueError(f"actions = {shown(actions)}: give one for each row")
    if taken.dtype.kind == "f":
        raise ValueError(f"actions hold {taken.dtype}: give codes or names, such as those of their cells")
    names = {str(one) for one in taken.tolist()} if taken.dtype.kind in "OUS" else None
    return taken, ActionNames(None if names is None else tuple(sorted(names)))
