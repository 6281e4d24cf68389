"""Gymnasium spaces: finite ones as codes 0, 1, 2, …, observations of all as named columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike

from uqf.coding.action_bins import ActionBins
from uqf.coding.raw_columns import OBSERVATION
from uqf.types import AnyArray, Raw
from uqf.worlds.gymnasium.numeric_actions import box_bins

#: Observations of more numbers than this are pictures.
MAX_COLUMNS = 256

# Any: what a space holds is what its own methods say.
Space = spaces.Space[Any]


@dataclass(frozen=True)
class Coding:
    """A one-to-one map between the elements of a finite space and 0 … n - 1."""

    n: int
    encode: Callable[[Raw], int]
    decode: Callable[[int], Raw]


def _mixed_radix(sizes: Sequence[int]) -> Coding:
    """Lists of digits, digit i below sizes[i]; the last digit counts fastest."""
    return Coding(
        math.prod(sizes),
        lambda digits: int(np.ravel_multi_index(tuple(map(int, digits)), tuple(sizes))),
        lambda code: [int(digit) for digit in np.unravel_index(code, tuple(sizes))],
    )


def _array_coding(
    shape: tuple[int, ...], sizes: Sequence[int], start: int | AnyArray, dtype: DTypeLike
) -> Coding:
    radix = _mixed_radix(sizes)
    return Coding(
        radix.n,
        lambda value: radix.encode((np.asarray(value) - start).ravel().tolist()),
        lambda code: (np.reshape(radix.decode(code), shape) + start).astype(dtype),
    )


def bins_coding(bins: ActionBins) -> Coding:
    """Actions of a Box by their nearest values."""
    return Coding(bins.n, lambda value: int(bins.encode([value])[0]), bins.decode)


def _product_coding(parts: Sequence[Coding]) -> Coding:
    radix = _mixed_radix([part.n for part in parts])
    return Coding(
        radix.n,
        lambda values: radix.encode([part.encode(value) for part, value in zip(parts, values, strict=True)]),
        lambda code: tuple(part.decode(digit) for part, digit in zip(parts, radix.decode(code), strict=True)),
    )


def coding(space: Space, role: str, bins: int | None = None) -> Coding:
    """Codes of a Discrete, MultiDiscrete or MultiBinary space, or of a Tuple or Dict of such.

    `role` is "observation" or "action", for the message that refuses any other space. With `bins` every number of a
    Box has so many values.
    """
    match space:
        case spaces.Box() if bins is not None:
            return bins_coding(box_bins(space, bins))
        case spaces.Discrete():
            start = int(space.start)
            return Coding(int(space.n), lambda value: int(value) - start, lambda code: code + start)
        case spaces.MultiDiscrete():
            return _array_coding(space.nvec.shape, space.nvec.ravel().tolist(), space.start, space.dtype)
        case spaces.MultiBinary():
            return _array_coding(space.shape, [2] * math.prod(space.shape), 0, space.dtype)
        case spaces.Tuple():
            return _product_coding([coding(part, role, bins) for part in space.spaces])
        case spaces.Dict():
            names = list(space.spaces)
            product = _product_coding([coding(part, role, bins) for part in space.spaces.values()])
            return Coding(
                product.n,
                lambda value: product.encode([value[name] for name in names]),
                lambda code: dict(zip(names, product.decode(code), strict=True)),
            )
    if role == "action" and isinstance(space, spaces.Box):
        way_out = (
            "cut every number of it into some values, as in uqf.GymnasiumWorld(env, action_bins=5), or offer a few "
            "actions in a gymnasium.wrappers.TransformAction"
        )
    elif role == "action":
        way_out = "offer a finite space in a gymnasium.wrappers.TransformAction"
    else:
        way_out = "make numbers of it in a gymnasium.wrappers.TransformObservation"
    raise TypeError(
        f"the {role} space holds {space}, not Discrete, MultiDiscrete, MultiBinary or a Tuple or Dict of those: "
        f"{way_out}"
    )


def named_parts(space: Space, name: str = "") -> Iterator[tuple[str, Space]]:
    """The parts of an observation that are no Tuple or Dict, named after their keys or places."""
    match space:
        case spaces.Dict():
            for key, part in space.spaces.items():
                yield from named_parts(part, f"{name}.{key}" if name else str(key))
        case spaces.Tuple():
            for place, part in enumerate(space.spaces):
                yield from named_parts(part, f"{name or OBSERVATION}.{place}")
        case spaces.Discrete() | spaces.MultiDiscrete() | spaces.MultiBinary() | spaces.Box() | spaces.Text():
            yield name or OBSERVATION, space
        case _:
            raise TypeError(
                f"the observation space holds {space}, of which no columns can be made: "
                "make numbers of it in a gymnasium.wrappers.TransformObservation"
            )


def checked_observations(space: Space) -> Space:
    """A space whose observations are a moderate number of columns, or an error with the way out."""
    columns = sum(math.prod(part.shape or ()) for _, part in named_parts(space))
    if columns > MAX_COLUMNS:
        raise ValueError(
            f"an observation has {columns:,} numbers, as pictures do: make at most {MAX_COLUMNS} of them in a "
            "gymnasium.wrappers.TransformObservation"
        )
    return space


def table(space: Space, observations: Sequence[Raw]) -> dict[str, AnyArray]:
    """Observations of a space as columns, in the order in which a codebook reads a single one."""
    columns: dict[str, AnyArray] = {}
    for (name, part), values in zip(
        named_parts(space), zip(*(leaves(space, one) for one in observations), strict=True), strict=True
    ):
        array = np.array(values)
        if part.shape:
            flat = array.reshape(len(array), -1)
            columns |= {f"{name}.{place}": flat[:, place] for place in range(flat.shape[1])}
        else:
            columns[name] = array.reshape(len(array))
    return columns


def leaves(space: Space, observation: Raw) -> Iterator[Raw]:
    """The parts of an observation that are no tuples or mappings, in the order of its space, not of its own keys."""
    match space:
        case spaces.Dict():
            for key, part in space.spaces.items():
                yield from leaves(part, observation[key])
        case spaces.Tuple():
            for part, inner in zip(space.spaces, observation, strict=True):
                yield from leaves(part, inner)
        case _:
            yield observation
