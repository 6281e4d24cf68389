"""Codebooks of finite spaces, with a code for every element."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from uqf.data.cells import Cells, Question
from uqf.data.codebook import Codebook
from uqf.data.raw_columns import Column
from uqf.worlds.spaces import coding, named_parts, table

FINITE = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def one_to_one(space: spaces.Space[Any], most: int) -> Codebook | None:
    """A codebook whose codes are those of `coding`; None if they are too many, or if the space is not finite."""
    if not all(isinstance(part, FINITE) for _, part in named_parts(space)):
        return None
    codes = coding(space, "observation")
    if codes.n > most:
        return None
    elements = table(space, [codes.decode(code) for code in range(codes.n)])
    columns = tuple(Column(name, "number") for name in elements)
    book = Codebook.named()
    book.coding_ = Cells(columns, questions(np.stack([*elements.values()], axis=1).astype(np.float64)))
    return book


def questions(rows: NDArray[np.float64]) -> tuple[Question, ...]:
    """Questions that tell rows apart which come in ascending order, one leaf for each, in the same order."""
    asked: list[Question] = []
    leaf = len(rows) - 1

    def ask(first: int, last: int) -> int:
        """Asks about rows first … last; gives the place of the question, or of the leaf."""
        if first == last:
            return leaf + first
        column = int((rows[first] != rows[last]).argmax())
        within = rows[first : last + 1, column]
        # In the middle, but between two different values.
        cut = within[len(within) // 2]
        cut = cut if cut > within[0] else within[within > cut][0]
        middle = first + int(np.searchsorted(within, cut))
        place = len(asked)
        asked.append(Question(column, float(cut), 0, 0))
        asked[place] = Question(column, float(cut), ask(first, middle - 1), ask(middle, last))
        return place

    ask(0, len(rows) - 1)
    return tuple(asked)
