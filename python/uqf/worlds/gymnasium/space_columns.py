"""Observations of Gymnasium spaces as raw columns, and masks of actions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from uqf.coding.cells import Cells
from uqf.coding.codebook import Codebook
from uqf.episodes.columns import Columns, Sizes, as_columns
from uqf.types import Raw, Record
from uqf.worlds.gymnasium.space_codes import MAX_ONE_BY_ONE, MAX_ONE_TO_ONE
from uqf.worlds.gymnasium.spaces import Space, named_parts, table


def column_sizes(space: Space, codebook: Codebook | None) -> Sizes | None:
    """What the columns of a codebook are in a space, (d,); None if observations are codes as they come.

    Finite parts are categories: value v of ``Discrete(n, start=s)`` is v of s + n. Parts with negative values or with
    more than 4096 are numbers, as those of a Box are.
    """
    if codebook is None or not isinstance(codebook.coding_, Cells) or codebook.column_sizes is None:
        return None
    limits: dict[str, int] = {}
    for name, part in named_parts(space):
        each = _limits(part)
        names = [f"{name}.{place}" for place in range(len(each))] if part.shape else [name]
        limits |= dict(zip(names, each, strict=True))
    known = zip(codebook.columns_, codebook.column_sizes.tolist(), strict=True)
    return np.array([size or limits.get(name, 0) for name, size in known], np.int32)


def _limits(part: Space) -> list[int]:
    """The number of values of every entry of a part, 0 for numbers."""
    match part:
        case spaces.Discrete():
            starts, ends = np.array([part.start]), np.array([part.start + part.n])
        case spaces.MultiDiscrete():
            starts, ends = np.ravel(part.start), np.ravel(part.start + part.nvec)
        case spaces.MultiBinary():
            starts, ends = np.zeros((2, math.prod(part.shape)), np.int64)
            ends = ends + 2
        case _:
            return [0] * math.prod(part.shape or ())
    limits: list[int] = np.where((starts >= 0) & (ends <= MAX_ONE_TO_ONE), ends, 0).tolist()
    return limits


def raw_columns(
    codebook: Codebook | None, space: Space, observations: Sequence[Raw], sizes: Sizes
) -> Columns:
    """Several observations, (n, d); codes as they come are one column."""
    if codebook is None or codebook.n_codes is None:
        return as_columns(np.reshape(np.array(observations, np.float64), (len(observations), 1)), sizes)
    if len(observations) <= MAX_ONE_BY_ONE:
        return as_columns(np.stack([codebook.raw_columns_one(one) for one in observations]), sizes)
    return as_columns(codebook.raw_columns(table(space, observations)), sizes)


def mask_of(info: Record, n_actions: int) -> NDArray[np.bool_] | None:
    """The allowed actions that an environment names in ``info["action_mask"]``, by their codes; None if it names none.

    That of a space of several parts is a tuple of masks, one for each, as `gymnasium.spaces.MultiDiscrete` takes them.
    """
    given = info.get("action_mask")
    if given is None:
        return None
    parts = [np.asarray(part, np.bool_) for part in (given if isinstance(given, (tuple, list)) else [given])]
    if isinstance(given, list) or any(part.ndim != 1 for part in parts):
        parts = [np.asarray(given, np.bool_)]
    mask = reduce(np.logical_and.outer, parts).ravel()
    if mask.shape != (n_actions,):
        raise ValueError(f'info["action_mask"] has {mask.size} entries: there are {n_actions} actions')
    if not mask.any():
        raise ValueError(
            'info["action_mask"] allows no action: an environment that is stuck ends the episode'
        )
    return mask
