"""Finite spaces as codes 0, 1, 2, …, and a Box of actions cut into values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from uqf.coding.action_bins import MAX_BINS, MAX_PARTS, ActionBins, Bins
from uqf.coding.codebook import Codebook
from uqf.coding.names import whole_within
from uqf.types import Raw
from uqf.worlds.gymnasium.spaces import Space, leaves

#: More actions than this are refused.
MAX_ACTIONS = 4096


@dataclass(frozen=True)
class Coding:
    """A one-to-one map between the elements of a space and 0 … n − 1; of its numbers the last counts fastest."""

    space: Space
    levels: tuple[range | Bins, ...]
    """The values of every number of an element."""

    @property
    def n(self) -> int:
        return math.prod(self._sizes)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(one.values if isinstance(one, Bins) else one) for one in self.levels)

    def encode(self, elements: Sequence[Raw]) -> NDArray[np.int64]:
        """Codes of some elements; numbers of a Box go to the nearest value."""
        return np.array([self._code(one) for one in elements], np.int64)

    def _code(self, element: Raw) -> int:
        numbers = np.concatenate([np.ravel(leaf) for leaf in leaves(self.space, element)])
        digits = [
            int(np.searchsorted(level.cuts, number, side="right"))
            if isinstance(level, Bins)
            else level.index(int(number))
            for level, number in zip(self.levels, numbers, strict=True)
        ]
        return int(np.ravel_multi_index(digits, self._sizes))

    def decode(self, code: int) -> Raw:
        digits = np.unravel_index(code, self._sizes)
        pairs = zip(self.levels, digits, strict=True)
        return _element(
            self.space, (one.values[place] if isinstance(one, Bins) else one[place] for one, place in pairs)
        )


def coding(space: Space, role: str, bins: int | None = None) -> Coding:
    """Codes of a Discrete, MultiDiscrete or MultiBinary space, or of a Tuple or Dict of such.

    `role` is "observation" or "action", for the message that refuses any other space. With `bins` every number of a
    Box has so many values.
    """
    return Coding(space, tuple(_levels(space, role, bins)))


def _levels(space: Space, role: str, bins: int | None) -> Iterator[range | Bins]:
    match space:
        case spaces.Box() if bins is not None:
            yield from box_bins(space, bins).parts
        case spaces.Discrete():
            yield range(int(space.start), int(space.start + space.n))
        case spaces.MultiDiscrete():
            yield from map(range, space.start.ravel().tolist(), (space.start + space.nvec).ravel().tolist())
        case spaces.MultiBinary():
            yield from [range(2)] * math.prod(space.shape)
        case spaces.Tuple() | spaces.Dict():
            parts = space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces
            for part in parts:
                yield from _levels(part, role, bins)
        case _:
            way_out = "offer a finite space in a gymnasium.wrappers.TransformAction"
            if role == "action" and isinstance(space, spaces.Box):
                way_out = (
                    "cut every number of it into some values, as in uqf.GymnasiumWorld(env, action_bins=5), or offer "
                    "a few actions in a gymnasium.wrappers.TransformAction"
                )
            elif role != "action":
                way_out = "make numbers of it in a gymnasium.wrappers.TransformObservation"
            raise TypeError(
                f"the {role} space holds {space}, not Discrete, MultiDiscrete, MultiBinary or a Tuple or Dict of "
                f"those: {way_out}"
            )


def _element(space: Space, numbers: Iterator[float]) -> Raw:
    match space:
        case spaces.Tuple():
            return tuple(_element(part, numbers) for part in space.spaces)
        case spaces.Dict():
            return {name: _element(part, numbers) for name, part in space.spaces.items()}
        case spaces.Discrete():
            return next(numbers)
    return np.array([*islice(numbers, math.prod(space.shape or ()))], space.dtype).reshape(space.shape)


def codes_shown(space: Space) -> int:
    """How many codes the elements of a space are as they come; 0 if they are no codes."""
    return int(space.n) if isinstance(space, spaces.Discrete) and space.start == 0 else 0


def box_bins(space: spaces.Box, count: int) -> ActionBins:
    """Every number of an action as `count` values at equal distances, the bounds among them; others to the nearest."""
    whole_within("action_bins", count, 2, MAX_BINS)
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
    values = np.linspace(low, high, count, axis=1)
    if space.dtype.kind in "iu":
        values = np.round(values)
    # As the environment knows them, so that what is stored is what is done.
    rows = [np.unique(row).tolist() for row in values.astype(space.dtype)]
    parts = tuple(Bins.spread(f"action.{place}", row) for place, row in enumerate(rows))
    return ActionBins(parts, space.shape, np.dtype(space.dtype).name)


def whole_bins(space: Space) -> ActionBins | None:
    """The numbers or arrays of a finite space whose elements are not their own codes; None for any other."""
    if not isinstance(space, (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)) or codes_shown(
        space
    ):
        return None
    levels = [one for one in coding(space, "action").levels if isinstance(one, range)]
    if len(levels) > MAX_PARTS or max(map(len, levels)) > MAX_BINS:
        return None
    alone = isinstance(space, spaces.Discrete)
    names = ["action"] if alone else [f"action.{place}" for place in range(len(levels))]
    bins = tuple(map(Bins.spread, names, levels))
    return ActionBins(bins, None if alone else space.shape, np.dtype(space.dtype).name)


def known_bins(space: Space, count: int | None, codebook: Codebook | None) -> ActionBins | None:
    """Actions that are numbers or arrays; a Box is cut as a codebook says, or into `count` values a number.

    None if actions are their own codes, tuples or mappings.
    """
    kept = None if codebook is None else codebook.action_bins
    if count is not None and kept is not None:
        raise ValueError(f"action_bins = {count}, but the codebook has the actions: leave out action_bins")
    if count is not None and not any(isinstance(one, Bins) for one in coding(space, "action", count).levels):
        raise ValueError(f"action_bins = {count}, but the actions are {space} already: leave out action_bins")
    own = box_bins(space, count) if isinstance(space, spaces.Box) and count is not None else whole_bins(space)
    if kept is None or kept == own:
        return own
    if not isinstance(space, spaces.Box) or kept.shape != space.shape:
        shown = "numbers" if kept.shape is None else f"arrays of shape {kept.shape}"
        raise ValueError(f"the actions of the codebook are {shown}, those of the environment {space}")
    return kept
