"""What cells should predict: the rewards that follow, action by action, and the next observation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf.data.checks import FloatArray
from uqf.data.raw_columns import Column

#: A reward one step later counts for so much less.
DISCOUNT = 0.95

#: More actions than this are looked at together.
MAX_ACTIONS = 16

#: Names of a category that are predicted one by one.
MAX_NAMES = 16


def appearance(columns: Sequence[Column], values: Sequence[NDArray[Any]]) -> FloatArray:
    """The observations themselves as standardised numbers, each column with the same weight."""
    parts = []
    for column, given in zip(columns, values, strict=True):
        if column.kind == "category":
            names, counts = np.unique([str(one) for one in given], return_counts=True)
            common = names[np.argsort(-counts, kind="stable")[:MAX_NAMES]]
            part = np.stack([given == (None if name == "None" else name) for name in common], axis=1).astype(
                float
            )
        else:
            present = np.isfinite(given)
            low, high = np.quantile(given[present], [0.005, 0.995]) if present.any() else (0.0, 0.0)
            clipped = np.clip(
                np.where(present, given, np.median(given[present]) if present.any() else 0.0), low, high
            )
            part = np.stack([clipped, ~present], axis=1).astype(float)
        parts.append(standardised(part))
    return np.concatenate(parts, axis=1)


def standardised(values: FloatArray) -> FloatArray:
    """Columns of mean zero and of variances that sum to one; constant ones stay zero."""
    centred = values - values.mean(axis=0)
    deviations = centred.std(axis=0)
    kept = deviations > 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0, initial=0.0))
    scaled: FloatArray = np.where(kept, centred / np.where(kept, deviations, 1.0), 0.0)
    scaled /= np.sqrt(max(kept.sum(), 1))
    return scaled


def returns_by_action(
    rewards: FloatArray, offsets: NDArray[np.int64], actions: NDArray[np.int64] | None
) -> FloatArray:
    """For every step but the last of an episode: the discounted rewards after it, in the column of the next action.

    Rows stand for the steps ``t`` with a successor, in their order; the other columns of a row are zero.
    """
    following = np.zeros(len(rewards))
    lengths = np.diff(offsets)
    for back in range(1, int(lengths.max())):
        at = (offsets[1:] - 1 - back)[lengths > back]
        following[at] = rewards[at + 1] + DISCOUNT * following[at + 1]
    steps = with_successor(offsets)
    returns = following[steps] - following[steps].mean()
    if actions is None:
        return standardised(returns[:, None])
    counts = np.bincount(actions)
    order = np.argsort(-counts, kind="stable")
    group = np.minimum(np.argsort(order, kind="stable"), MAX_ACTIONS - 1)[actions]
    chosen = np.eye(int(group.max()) + 1)[group[steps + 1]]
    return standardised(returns[:, None] * chosen)


def with_successor(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The steps that are not the last of their episode."""
    last = np.zeros(offsets[-1], np.bool_)
    last[offsets[1:] - 1] = True
    return np.flatnonzero(~last)
