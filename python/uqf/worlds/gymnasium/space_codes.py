"""Codes of observations of Gymnasium spaces: as they come, one for every element, or cells learned from episodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from uqf.coding.cells import Cells, Question
from uqf.coding.codebook import Codebook
from uqf.coding.raw_columns import Column
from uqf.episodes.trajectories import Trajectories
from uqf.types import Raw, Record
from uqf.worlds.gymnasium.finite import codes_shown, coding
from uqf.worlds.gymnasium.spaces import Space, named_parts, table

#: Finite observation spaces of at most so many elements have a code for each.
MAX_ONE_TO_ONE = 4096

#: Up to so many observations are coded faster one by one.
MAX_ONE_BY_ONE = 32

FINITE = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def encoded(codebook: Codebook | None, space: Space, observations: Sequence[Raw]) -> NDArray[np.int64]:
    """Codes of several observations, (n,); without a codebook of them they are codes as they come."""
    if codebook is None or codebook.n_codes is None:
        return np.array(observations, np.int64).reshape(len(observations))
    if len(observations) <= MAX_ONE_BY_ONE:
        return np.array([codebook.encode_one(one) for one in observations], np.int64)
    return codebook.encode(table(space, observations))


def learned(
    columns: Record, rewards: Raw, offsets: Raw, actions: Raw, first: Raw, cells: int | None, seed: int
) -> Codebook:
    """A codebook of `cells` codes that separate the observations; None: as many as predict what follows best."""
    if cells is not None:
        return Codebook(max_codes=cells, seed=seed).fit(columns, None, offsets)
    return Codebook(seed=seed).fit(columns, rewards, offsets, actions=actions, first=first)


def relearned(old: Codebook, data: Trajectories, cells: int | None, seed: int) -> Codebook:
    """A codebook of the same columns and actions, learned from episodes with raw columns."""
    columns, first = (
        None if one is None else dict(zip(old.columns_, one.T, strict=True))
        for one in (data.columns, data.first_columns)
    )
    if columns is None:
        raise ValueError("the episodes have no raw columns: play them with uqf.rollout in this world")
    book = learned(columns, data.rewards, data.offsets, data.actions, first, cells, seed)
    return book.with_actions(old.actions_)


def is_finite(space: Space) -> bool:
    """Whether every element has a code of its own."""
    if not all(isinstance(part, FINITE) for _, part in named_parts(space)):
        return False
    return bool(codes_shown(space)) or coding(space, "observation").n <= MAX_ONE_TO_ONE


def one_to_one(space: Space) -> Codebook | None:
    """A codebook whose codes are those of `coding`; None if they are too many, or if the space is not finite."""
    if not is_finite(space):
        return None
    codes = coding(space, "observation")
    elements = table(space, [codes.decode(code) for code in range(codes.n)])
    columns = tuple(Column(name, "number") for name in elements)
    book = Codebook.named()
    book.coding_ = Cells(columns, separating(np.stack([*elements.values()], axis=1).astype(np.float64)))
    return book


def separating(rows: NDArray[np.float64]) -> tuple[Question, ...]:
    """Questions that separate rows which come in ascending order, one leaf for each, in the same order."""
    questions: list[Question] = []
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
        place = len(questions)
        questions.append(Question(column, float(cut), 0, 0))
        questions[place] = Question(column, float(cut), ask(first, middle - 1), ask(middle, last))
        return place

    ask(0, len(rows) - 1)
    return tuple(questions)
