"""Codes of a world that are learned anew from episodes with raw columns; nothing is played for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.types import Record


def relearned_codebook(old: Codebook, data: Trajectories, cells: int | None, seed: int) -> Codebook:
    """A codebook of the same columns and actions; `cells` as in `uqf.worlds.gymnasium.space_codes.learned`."""
    if data.columns is None:
        raise ValueError("the episodes have no raw columns: play them with uqf.rollout in this world")
    book = _limited(cells, seed).fit(
        _named(old, data.columns),
        data.rewards if cells is None else None,
        data.offsets,
        actions=data.actions if cells is None else None,
        first=None if data.first_columns is None or cells is not None else _named(old, data.first_columns),
    )
    return book.with_actions(old.actions_)


def recoded(data: Trajectories, codebook: Codebook) -> Trajectories:
    """The same episodes with the codes that `codebook` gives their raw columns."""
    if data.columns is None:
        raise ValueError("the episodes have no raw columns: play them with uqf.rollout in this world")
    shown, codes = data.first_columns, codebook.n_codes
    assert codes is not None, "a codebook of columns makes codes"
    return Trajectories(
        data.actions,
        codebook.encode(data.columns),
        data.rewards,
        data.offsets,
        n_actions=data.n_actions,
        n_observations=codes,
        behavior_probs=data.behavior_probs,
        terminated=data.terminated,
        codebook=codebook,
        first_observations=None if shown is None else codebook.encode(shown),
        columns=data.columns,
        first_columns=shown,
        column_sizes=data.column_sizes,
        allowed=data.allowed,
    )


def _limited(cells: int | None, seed: int) -> Codebook:
    return Codebook(seed=seed) if cells is None else Codebook(max_codes=cells, seed=seed)


def _named(book: Codebook, columns: NDArray[np.float32]) -> Record:
    return {name: columns[:, place] for place, name in enumerate(book.columns_)}
