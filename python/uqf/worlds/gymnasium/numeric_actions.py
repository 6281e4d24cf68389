"""Spaces of actions that are numbers or arrays: as they are, or a Box cut into some values."""

from __future__ import annotations

import math

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike

from uqf.coding.action_bins import MAX_BINS, MAX_PARTS, ActionBins, Bins, checked_bins
from uqf.coding.codebook import Codebook
from uqf.types import Raw

#: More actions than this are refused.
MAX_ACTIONS = 4096


def box_bins(space: spaces.Box, count: int) -> ActionBins:
    """Every number of an action as `count` values at equal distances, the bounds among them; others to the nearest."""
    checked_bins(count)
    low, high = space.low.ravel().astype(float), space.high.ravel().astype(float)
    if not (np.isfinite(low) & np.isfinite(high)).all():
        raise ValueError(
            f"the action space {space} has no bounds: offer a bounded one in a gymnasium.wrappers.TransformAction"
        )
    if count ** len(low) > MAX_ACTIONS:
        raise ValueError(
            f"action_bins = {count}: {len(low)} numbers of so many values are {count ** len(low):,} actions, at most "
            f"{MAX_ACTIONS} are sensible; give fewer, or offer a few actions in a gymnasium.wrappers.TransformAction"
        )
    return ActionBins(
        tuple(
            _spread(f"action.{place}", *ends, count, space.dtype)
            for place, ends in enumerate(zip(low, high, strict=True))
        ),
        space.shape,
        np.dtype(space.dtype).name,
    )


def _spread(column: str, low: float, high: float, count: int, dtype: DTypeLike) -> Bins:
    values = np.linspace(low, high, count)
    if np.dtype(dtype).kind in "iu":
        values = np.round(values)
    # As the environment knows them, so that what is stored is what is done.
    return Bins.spread(column, np.unique(values.astype(dtype)).tolist())


def whole_bins(space: spaces.Space[Raw]) -> ActionBins | None:
    """The numbers or arrays of a finite space whose elements are not their own codes; None for any other."""
    match space:
        case spaces.Discrete() if space.start != 0:
            starts, sizes, shape = [int(space.start)], [int(space.n)], None
        case spaces.MultiDiscrete():
            starts, sizes, shape = space.start.ravel().tolist(), space.nvec.ravel().tolist(), space.nvec.shape
        case spaces.MultiBinary():
            starts, sizes, shape = [0] * math.prod(space.shape), [2] * math.prod(space.shape), space.shape
        case _:
            return None
    if max(sizes) > MAX_BINS or len(sizes) > MAX_PARTS:
        return None
    columns = ["action"] if shape is None else [f"action.{place}" for place in range(len(sizes))]
    parts = zip(columns, starts, sizes, strict=True)
    bins = tuple(Bins.spread(column, range(start, start + size)) for column, start, size in parts)
    return ActionBins(bins, shape, np.dtype(space.dtype).name)


def holds_box(space: spaces.Space[Raw]) -> bool:
    """Whether a space is a Box, or a Tuple or Dict that holds one."""
    match space:
        case spaces.Tuple():
            return any(map(holds_box, space.spaces))
        case spaces.Dict():
            return any(map(holds_box, space.spaces.values()))
    return isinstance(space, spaces.Box)


def known_bins(space: spaces.Space[Raw], count: int | None, codebook: Codebook | None) -> ActionBins | None:
    """Actions that are numbers or arrays; a Box is cut as a codebook says, or into `count` values a number.

    None if actions are their own codes, tuples or mappings.
    """
    kept = None if codebook is None else codebook.action_bins
    if count is not None and (kept is not None or not holds_box(space)):
        reason = "the codebook has the actions" if kept else f"the actions are {space} already"
        raise ValueError(f"action_bins = {count}, but {reason}: leave out action_bins")
    own = box_bins(space, count) if isinstance(space, spaces.Box) and count is not None else whole_bins(space)
    if kept is None or kept == own:
        return own
    if not isinstance(space, spaces.Box) or kept.shape != space.shape:
        shown = "numbers" if kept.shape is None else f"arrays of shape {kept.shape}"
        raise ValueError(f"the actions of the codebook are {shown}, those of the environment {space}")
    return kept
