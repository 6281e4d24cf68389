"""Which cells, and how many: judged by episodes that had no part in growing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.data.cell_growth import MAX_CUTS, features_of, grown, grown_tree, separated
from uqf.data.cell_targets import appearance, returns_by_action, with_successor
from uqf.data.cells import Cells
from uqf.data.checks import FloatArray, floats, integers
from uqf.data.raw_columns import Column

#: So many occurrences of every combination of names, on average, and each gets a cell of its own.
ENOUGH_OCCURRENCES = 20

#: So few combinations get a cell each, however short the log.
FEW = 32

#: A cell for every so many steps at most.
STEPS_PER_CELL = 200

#: Fewer episodes than this are cut into so many blocks for judging.
BLOCKS = 20

#: Rows that cells are learned from; of longer logs, episodes spread over the whole.
MAX_ROWS = 100_000


def chosen_cells(
    columns: tuple[Column, ...],
    values: Sequence[NDArray[Any]],
    rewards: ArrayLike | None,
    offsets: ArrayLike | None,
    actions: NDArray[Any] | None,
    max_codes: int,
    seed: int,
) -> tuple[Cells, dict[str, Any]]:
    """(cells, what was found); arguments as in `Codebook.fit`."""
    count = len(values[0])
    ends = integers("offsets", [0, count] if offsets is None else offsets, np.int64)
    if len(ends) < 2 or ends[0] != 0 or ends[-1] != count or (np.diff(ends) < 1).any():
        raise ValueError(
            f"offsets rise from 0 to the number of rows, {count}; given {ends[:5]} … {ends[-1:]}"
        )
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
        None if rewards is None else floats("rewards", rewards)[rows],
        None if actions is None else np.unique(actions, return_inverse=True)[1][rows],
    )
    seen = np.stack([feature.of(values) for feature in features], axis=1)
    if all(map(_few_values, columns, values)):
        distinct = np.unique(np.nan_to_num(seen, nan=-1.0), axis=0, return_index=True)[1]
        enough = ENOUGH_OCCURRENCES if all(one.kind == "category" for one in columns) else STEPS_PER_CELL
        if len(distinct) <= min(max_codes, max(FEW, count // enough)):
            return separated(columns, features, seen[np.sort(distinct)], seed), {"every combination": True}
    most = int(min(max_codes, max(2, count // STEPS_PER_CELL)))
    shown = appearance(columns, values)
    steps = with_successor(ends)
    targets = None if paid is None or len(steps) == 0 else returns_by_action(paid, ends, taken)
    if targets is None or not targets.any():  # rewards that are all alike tell nothing
        return grown(columns, features, seen, shown, most, seed), {}
    size, judged = _best_size(seen[steps], targets, _halves(ends, steps, seed), most, seed)
    return grown(columns, features, seen[steps], targets, size, seed), {"judged": judged}


def _few_values(column: Column, values: NDArray[Any]) -> bool:
    """Whether values can be told apart one by one: names, or whole numbers between which there is no cut to choose."""
    if column.kind == "category":
        return True
    present = values[np.isfinite(values)]
    return bool((present == np.floor(present)).all()) and len(np.unique(present)) <= MAX_CUTS


def _spread(offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(rows, offsets) of every n-th episode, such that about `MAX_ROWS` rows are left."""
    every = -(-int(offsets[-1]) // MAX_ROWS)
    starts = offsets[:-1][::every]
    lengths = np.minimum(np.diff(offsets)[::every], MAX_ROWS)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths), ends


def _halves(offsets: NDArray[np.int64], steps: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The number of the episode of every step, from 1 on, negative if it is held out.

    Few episodes are cut into blocks that judge one another.
    """
    if len(offsets) <= BLOCKS:
        offsets = np.unique(np.linspace(0, offsets[-1], BLOCKS + 1).astype(np.int64))
    episodes = np.repeat(np.arange(1, len(offsets)), np.diff(offsets))[steps]
    sign = np.where(np.random.default_rng(seed).permutation(len(offsets)) % 2, 1, -1)
    halves: NDArray[np.int64] = episodes * sign[episodes]
    return halves


def _best_size(
    seen: NDArray[Any],
    targets: FloatArray,
    episodes: NDArray[np.int64],
    most: int,
    seed: int,
) -> tuple[int, dict[str, float]]:
    """The smallest number of cells that is within a standard error of the best, and the losses of all."""
    taught, judging = episodes > 0, episodes < 0
    if not taught.any() or not judging.any():
        return most, {}
    losses: dict[int, FloatArray] = {}
    sizes = [size for exponent in range(2, 18) if (size := round(2 ** (exponent / 2))) <= most]
    _, places = np.unique(episodes[judging], return_inverse=True)
    for size in sizes or [most]:
        tree = grown_tree(seen[taught], targets[taught], size, seed)
        errors = ((targets[judging] - tree.predict(seen[judging]).reshape(targets[judging].shape)) ** 2).sum(
            axis=1
        )
        losses[size] = np.bincount(places, errors).astype(np.float64)
    best = min(losses, key=lambda size: losses[size].sum())
    near = (one for one, loss in losses.items() if _is_near(loss - losses[best]))
    return next(near), {
        str(one): float(1 - loss.sum() / (targets[judging] ** 2).sum()) for one, loss in losses.items()
    }


def _is_near(worse: FloatArray) -> bool:
    """Whether the sum of differences, one for each episode, is within a standard error of zero or below."""
    return bool(worse.sum() <= worse.std() * np.sqrt(len(worse)))
