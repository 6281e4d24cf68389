"""What cells should predict: the rewards that follow, action by action, and the next observation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.coding.cell_settings import SETTINGS
from uqf.coding.raw_columns import Column
from uqf.types import AnyArray, Floats


def appearance(columns: Sequence[Column], values: Sequence[AnyArray]) -> Floats:
    """The observations themselves as standardised numbers, each column with the same weight."""
    parts = []
    for column, given in zip(columns, values, strict=True):
        if column.kind == "category":
            counts = Counter(given.tolist())
            common = sorted(counts, key=lambda name: (-counts[name], str(name)))[: SETTINGS.names]
            part = np.stack([given == name for name in common], axis=1).astype(np.float64)
        else:
            present = np.isfinite(given)
            numbers = given[present] if present.any() else np.zeros(1)
            low, middle, high = np.quantile(numbers, [0.005, 0.5, 0.995])
            clipped = np.clip(np.where(present, given, middle), low, high)
            part = np.stack([clipped, ~present], axis=1).astype(np.float64)
        parts.append(standardised(part))
    return np.concatenate(parts, axis=1)


def standardised(values: Floats) -> Floats:
    """Columns of mean zero and of variances that sum to one; constant ones stay zero."""
    # Squares of large ones overflow.
    scaled: Floats = values / np.maximum(
        1.0, np.maximum(values.max(axis=0, initial=0.0), -values.min(axis=0, initial=0.0))
    )
    scaled -= scaled.mean(axis=0)
    deviations = scaled.std(axis=0)
    kept = deviations > 1e-12
    scaled /= np.where(kept, deviations, 1.0)
    scaled *= kept / np.sqrt(max(kept.sum(), 1))
    return scaled


def returns_by_action(
    rewards: Floats, offsets: NDArray[np.int64], actions: NDArray[np.int64] | None
) -> Floats:
    """For every step but the last of an episode: the discounted rewards after it, in the column of the next action.

    Rows stand for the steps ``t`` with a successor, in their order; the other columns of a row are zero.
    """
    following = rewards.astype(np.float64)
    _core.discounted_sums(following, offsets, SETTINGS.discount)
    steps = with_successor(offsets)
    returns = following[steps + 1] - following[steps + 1].mean()
    return standardised(returns[:, None] * _chosen(actions, len(rewards))[steps + 1])


def later_rewards_by_action(
    rewards: Floats, offsets: NDArray[np.int64], actions: NDArray[np.int64] | None
) -> Floats:
    """For the same steps: the rewards a few steps later, together with the actions that they were paid for.

    What was seen may decide which action is good much later, as a card does that must be remembered; the
    mean return shows nothing of it. Rewards and actions count by how far they are from their means.
    """
    chosen = _chosen(actions, len(rewards))
    paid = (rewards - rewards.mean())[:, None] * (chosen - chosen.mean(axis=0))
    sums = np.concatenate([np.zeros((1, paid.shape[1])), np.cumsum(paid, axis=0)])
    steps = with_successor(offsets)
    end = np.repeat(offsets[1:], np.diff(offsets))[steps]
    parts = [
        sums[np.minimum(steps + last + 1, end)] - sums[np.minimum(steps + first, end)]
        for first, last in ((2, 2), (3, 4), (5, 8), (9, 16), (17, 32))
    ]
    return standardised(np.concatenate(parts, axis=1))


def _chosen(actions: NDArray[np.int64] | None, count: int) -> Floats:
    """1 in the column of the action of every step; rare actions share a column."""
    if actions is None:
        return np.ones((count, 1))
    order = np.argsort(-np.bincount(actions), kind="stable")
    group = np.minimum(np.argsort(order, kind="stable"), SETTINGS.actions - 1)[actions]
    chosen: Floats = np.eye(int(group.max()) + 1)[group]
    return chosen


def with_successor(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The steps that are not the last of their episode."""
    last = np.zeros(offsets[-1], np.bool_)
    last[offsets[1:] - 1] = True
    return np.flatnonzero(~last)
