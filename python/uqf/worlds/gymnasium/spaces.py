"""Observations of Gymnasium spaces as named columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from uqf.coding.raw_columns import OBSERVATION
from uqf.types import AnyArray, Raw

#: Observations of more numbers than this are pictures.
MAX_COLUMNS = 256

# Any: what a space holds is what its own methods say.
Space = spaces.Space[Any]


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
