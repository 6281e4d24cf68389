"""Cells: a tree of questions about the columns of an observation, whose leaves are the codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from uqf.coding.answers import Answers
from uqf.coding.column_numbers import Numbers
from uqf.coding.names import checked_names
from uqf.coding.raw_columns import Column, Kind
from uqf.types import AnyArray, Raw, Record

#: More questions or columns than this are taken for damage.
MAX_QUESTIONS = 100_000
MAX_COLUMNS = 10_000


@dataclass(frozen=True)
class Question:
    """Is the column below `cut` (a number), equal to `cut` (a name), or missing (None)? Yes goes to `yes`."""

    column: int
    cut: float | str | None
    yes: int
    no: int
    missing_is_yes: bool = False
    """Where a missing number goes; a missing name answers no to every name."""

    def answer(self, value: float | str | None) -> bool:
        if self.cut is None:
            return value is None
        if value is None:
            return self.missing_is_yes
        return value == self.cut if isinstance(self.cut, str) else value < self.cut  # type: ignore[operator]

    def answers(self, values: AnyArray) -> NDArray[np.bool_]:
        """For many, as `Column.values` gives them."""
        missing = values == None if values.dtype == object else np.isnan(values)  # noqa: E711
        if self.cut is None:
            return np.asarray(missing, np.bool_)
        below = values == self.cut if isinstance(self.cut, str) else values < self.cut
        return np.where(missing, self.missing_is_yes, below).astype(np.bool_)


@dataclass(frozen=True)
class Cells:
    """Questions, the first of which is asked first; a place beyond them is a leaf: code = place - len(questions)."""

    columns: tuple[Column, ...]
    questions: tuple[Question, ...]

    def __post_init__(self) -> None:
        """Every question and every leaf is reached once, so that following the answers ends."""
        count = len(self.questions)
        reached = [place for one in self.questions for place in (one.yes, one.no)]
        if sorted(reached) != list(range(1, 2 * count + 1)):
            raise ValueError("the questions of the codebook are no tree")
        for index, one in enumerate(self.questions):
            if not 0 <= one.column < len(self.columns):
                raise ValueError(f"a question about column {one.column} of {len(self.columns)}")
            if not (one.yes > index and one.no > index):
                raise ValueError("the questions of the codebook go in circles")
            if one.cut is not None and isinstance(one.cut, str) != (
                self.columns[one.column].kind == "category"
            ):
                raise ValueError(f"column {self.columns[one.column].name!r} is asked about {one.cut!r}")

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def n_codes(self) -> int:
        return len(self.questions) + 1

    def encode(self, columns: Sequence[AnyArray]) -> NDArray[np.int64]:
        """Codes of many observations, a raw array for each column."""
        values = [column.values(raw) for column, raw in zip(self.columns, columns, strict=True)]
        codes = np.zeros(len(columns[0]), np.int64)
        waiting = [(0, np.arange(len(codes)))]
        while waiting:
            place, rows = waiting.pop()
            if place >= len(self.questions):
                codes[rows] = place - len(self.questions)
            elif len(rows):
                question = self.questions[place]
                yes = question.answers(values[question.column][rows])
                waiting += [(question.yes, rows[yes]), (question.no, rows[~yes])]
        return codes

    def encode_one(self, raw: Sequence[Raw]) -> int:
        """Code of one observation, a raw value for each column."""
        place, questions = 0, self.questions
        while place < len(questions):
            question = questions[place]
            value = self.columns[question.column].value(raw[question.column])
            place = question.yes if question.answer(value) else question.no
        return place - len(questions)

    def describe(self, code: int) -> str:
        """What lies in a cell, in words."""
        answers = [Answers(column) for column in self.columns]
        place = code + len(self.questions)
        while place:
            index, one = next((i, one) for i, one in enumerate(self.questions) if place in (one.yes, one.no))
            answers[one.column] = answers[one.column].after(one.cut, place == one.yes, one.missing_is_yes)
            place = index
        return ", ".join(text for text in map(str, answers) if text) or "anything"

    @cached_property
    def points(self) -> Numbers:
        """A point in every cell, (n_codes, number of columns): its middle, or half a usual cell beyond its only cut.

        A column that says nothing about a cell is missing in it. Coding a point gives its cell, as far as single
        precision keeps its cuts apart.
        """
        rows = np.full((self.n_codes, len(self.columns)), np.nan, np.float32)
        spreads = [self._spread(place) for place in range(len(self.columns))]
        waiting: list[tuple[int, dict[int, Answers]]] = [(0, {})]
        while waiting:
            place, known = waiting.pop()
            if place >= len(self.questions):
                for column, answers in known.items():
                    rows[place - len(self.questions), column] = answers.point(spreads[column])
                continue
            one = self.questions[place]
            so_far = known.get(one.column, Answers(self.columns[one.column]))
            for yes, following in ((True, one.yes), (False, one.no)):
                after = so_far.after(one.cut, yes, one.missing_is_yes)
                waiting.append((following, known | {one.column: after}))
        return rows

    def _spread(self, column: int) -> float:
        """Half the usual distance between the cuts of a column of numbers."""
        cuts = np.unique(
            [one.cut for one in self.questions if one.column == column and isinstance(one.cut, float)]
        )
        return float(np.median(np.diff(cuts))) / 2.0 if len(cuts) > 1 else 0.5

    @property
    def used(self) -> tuple[str, ...]:
        used = {question.column for question in self.questions}
        return tuple(column.name for index, column in enumerate(self.columns) if index in used)

    def to_dict(self) -> Record:
        return {
            "columns": [[one.name, one.kind, one.has_missing, list(one.names)] for one in self.columns],
            "questions": [
                [one.column, one.cut, one.yes, one.no, one.missing_is_yes] for one in self.questions
            ],
        }

    @classmethod
    def from_dict(cls, content: Record) -> Cells:
        """What `to_dict` gave; ValueError or TypeError for anything else."""
        columns, questions = content["columns"], content["questions"]
        if len(questions) > MAX_QUESTIONS or len(columns) > MAX_COLUMNS:
            raise ValueError(f"{len(questions)} questions about {len(columns)} columns are too many")
        checked_names("columns", [name for name, *_ in columns])
        for _, kind, has_missing, names in columns:
            if kind not in get_args(Kind) or not isinstance(has_missing, bool):
                raise ValueError(f"a column of kind {kind!r}")
            if names:
                checked_names("categories", names)
        for column, cut, yes, no, missing_is_yes in questions:
            if not all(type(one) is int for one in (column, yes, no)) or not isinstance(missing_is_yes, bool):
                raise ValueError("a question of the codebook is damaged")
            if not (cut is None or isinstance(cut, str) or (isinstance(cut, float) and math.isfinite(cut))):
                raise ValueError(f"a question of the codebook asks about {cut!r}")
            if isinstance(cut, str):
                checked_names("categories", [cut])
        return cls(
            tuple(Column(name, kind, missing, tuple(names)) for name, kind, missing, names in columns),
            tuple(Question(*one) for one in questions),
        )
