"""Which cells, and how many: judged by episodes that had no part in growing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.coding.cell_growth import features_of, grown, predictions_by_size, separated, tree_of
from uqf.coding.cell_settings import SETTINGS
from uqf.coding.cell_targets import (
    appearance,
    later_rewards_by_action,
    returns_by_action,
    standardised,
    with_successor,
)
from uqf.coding.cells import Cells
from uqf.coding.raw_columns import Column
from uqf.errors import kind_of
from uqf.types import AnyArray, Floats, Record


def chosen_cells(
    columns: tuple[Column, ...],
    values: Sequence[AnyArray],
    rewards: ArrayLike | None,
    offsets: ArrayLike | None,
    actions: AnyArray | None,
    max_codes: int,
    seed: int,
    last_seen: bool = True,
) -> tuple[Cells, Record]:
    """(cells, diagnostics); arguments as in `Codebook.fit`."""
    count = len(values[0])
    ends = np.asarray([0, count] if offsets is None else offsets)
    if ends.ndim != 1 or ends.dtype.kind not in "iu":
        raise TypeError(
            f"offsets has shape {ends.shape} and dtype {ends.dtype}: give whole numbers, one after the other"
        )
    ends = ends.astype(np.int64)
    if len(ends) < 2 or ends[0] != 0 or ends[-1] != count or (np.diff(ends) < 1).any():
        raise ValueError(
            f"offsets rise from 0 to the number of rows, {count}; given {ends[:5]} … {ends[-1:]}"
        )
    if isinstance(rewards, (list, tuple)) and any(hasattr(one, "__len__") for one in rewards):
        raise ValueError(f"rewards is {kind_of(rewards)}: give one number for each row")
    if rewards is not None and np.shape(rewards) != (count,):
        raise ValueError(f"rewards has shape {np.shape(rewards)}, columns have {count} rows")
    if actions is not None and np.shape(actions) != (count,):
        raise ValueError(f"actions has shape {np.shape(actions)}, columns have {count} rows")
    features = features_of(columns, values)
    if not features:
        return Cells(columns, ()), {}
    rows, ends = _spread(ends)
    values, paid, taken = (
        [one[rows] for one in values],
        None if rewards is None else np.asarray(rewards, np.float64)[rows],
        None if actions is None else np.unique(actions, return_inverse=True)[1][rows],
    )
    seen = np.stack([feature.of(values) for feature in features], axis=1)
    if all(map(_countable, columns, values)):
        distinct = np.unique(np.nan_to_num(seen, nan=-1.0), axis=0, return_index=True)[1]
        enough = (
            SETTINGS.occurrences_per_name
            if all(one.kind == "category" for one in columns)
            else SETTINGS.steps_per_cell
        )
        if len(distinct) <= min(max_codes, max(SETTINGS.combinations, count // enough)):
            return separated(columns, features, seen[np.sort(distinct)]), {"every combination": True}
    most = int(min(max_codes, max(2, count // SETTINGS.steps_per_cell)))
    shown = appearance(columns, values)
    steps = with_successor(ends)
    if paid is None or len(steps) == 0:
        return grown(columns, features, seen, shown, most), {}
    seen, halves = seen[steps], _halves(ends, steps, seed)
    returns, following = returns_by_action(paid, ends, taken), standardised(shown[steps + 1])
    later = later_rewards_by_action(paid, ends, taken)
    if not last_seen:
        following[np.isin(steps + 2, ends)] = 0.0  # the mean: it says nothing
    if not (halves > 0).any() or not (halves < 0).any():
        return grown(columns, features, seen, returns, most), {}
    fewer = min(most, max(2, round(count ** (1 / 3))))
    losses = _losses(seen, returns, halves, most, SETTINGS.explained_returns)
    explained, size, wanted = float(losses.share.max()), losses.smallest_good_enough(), [returns]
    for targets, weight in ((later, 1.0), (following, SETTINGS.observation_weight)):
        losses = _losses(seen, targets, halves, fewer)
        size, kept = max(size, losses.smallest_good_enough()), losses.share > SETTINGS.noise
        wanted.append(weight * losses.share[kept] * targets[:, kept])
    return grown(columns, features, seen, np.concatenate(wanted, axis=1), size), {
        "explained share of returns": explained
    }


def _countable(column: Column, values: AnyArray) -> bool:
    """Whether values can be kept apart one by one: names, or whole numbers between which there is no cut to choose."""
    if column.kind == "category":
        return True
    present = values[np.isfinite(values)]
    return bool((present == np.floor(present)).all()) and len(np.unique(present)) <= SETTINGS.cuts


def _spread(offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(rows, offsets) of every n-th episode, such that about `SETTINGS.rows` rows are left."""
    every = -(-int(offsets[-1]) // SETTINGS.rows)
    starts = offsets[:-1][::every]
    lengths = np.minimum(np.diff(offsets)[::every], SETTINGS.rows)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths), ends


def _halves(offsets: NDArray[np.int64], steps: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The number of the episode of every step, from 1 on, negative if it is held out.

    Few episodes are cut into blocks that judge one another.
    """
    if len(offsets) <= SETTINGS.blocks:
        offsets = np.unique(np.linspace(0, offsets[-1], SETTINGS.blocks + 1).astype(np.int64))
    episodes = np.repeat(np.arange(1, len(offsets)), np.diff(offsets))[steps]
    sign = np.where(np.random.default_rng(seed).permutation(len(offsets)) % 2, 1, -1)
    halves: NDArray[np.int64] = episodes * sign[episodes]
    return halves


@dataclass(frozen=True)
class Losses:
    """How far predictions by cells are from the targets of held-out episodes, for numbers of cells."""

    by_size: dict[int, Floats]
    """Squared errors, one sum for each held-out episode."""
    enough: float
    """A size is good enough that explains this share of what the best one explains."""
    explained: dict[int, Floats]
    """Share of the variance of each target that so many cells explain; negative if they only fit noise."""

    def smallest_near_best(self) -> int:
        """The smallest size that is within a standard error of the best."""
        best = min(self.by_size, key=lambda size: self.by_size[size].sum())
        for size, losses in self.by_size.items():
            worse = losses - self.by_size[best]
            if worse.sum() <= worse.std() * np.sqrt(len(worse)):
                return size
        return best

    def smallest_good_enough(self) -> int:
        """The smallest size that explains nearly what the best explains, or is not certainly worse than it."""
        shares = {
            size: float(np.maximum(shares, SETTINGS.noise).sum()) for size, shares in self.explained.items()
        }
        enough = next(size for size, share in shares.items() if share >= self.enough * max(shares.values()))
        return min(enough, self.smallest_near_best())

    @property
    def share(self) -> Floats:
        """Share of the variance of each target that is explained."""
        return self.explained[self.smallest_good_enough()]


def _losses(
    seen: AnyArray,
    targets: Floats,
    halves: NDArray[np.int64],
    most: int,
    enough: float = SETTINGS.explained,
) -> Losses:
    """Of growing numbers of cells up to `most`."""
    learning, judging = halves > 0, halves < 0
    sizes = [size for exponent in range(2, 34) if (size := round(2 ** (exponent / 2))) <= most] or [most]
    wanted, (_, places) = targets[judging], np.unique(halves[judging], return_inverse=True)
    variance = np.maximum(((wanted - wanted.mean(axis=0)) ** 2).sum(axis=0), 1e-300)
    by_size, explained = dict[int, Floats](), dict[int, Floats]()
    tree = tree_of(seen[learning], targets[learning], sizes[-1])
    for size, predicted in zip(sizes, predictions_by_size(tree, seen[judging], sizes), strict=True):
        errors = (wanted - predicted.reshape(wanted.shape)) ** 2
        by_size[size] = np.bincount(places, errors.sum(axis=1)).astype(np.float64)
        explained[size] = np.where(
            variance > 1e-9, np.maximum(1.0 - errors.sum(axis=0) / variance, -1.0), 0.0
        )
    return Losses(by_size, enough, explained)
