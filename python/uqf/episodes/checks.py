"""Arguments that many functions take, checked once and named in the error."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from numbers import Real
from types import UnionType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.errors import kind_of, shown
from uqf.types import AnyArray

FloatArray = NDArray[np.float64]


def integers(name: str, values: ArrayLike, dtype: type[np.int32] | type[np.int64]) -> AnyArray:
    """A one-dimensional array of integers, contiguous and aligned."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise TypeError(f"{name} cannot be read as numbers: {error}") from None
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: give a one-dimensional array")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}: give integers (encode names as 0, 1, 2, …)")
    limits = np.iinfo(dtype)
    if array.size and (array.max() > limits.max or array.min() < limits.min):
        raise ValueError(f"{name} has entries beyond {dtype.__name__}: encode them as 0, 1, 2, …")
    # Aligned as well: arrays that came over a network may begin anywhere in memory.
    return np.require(array, dtype, ["C", "A"])


def doubles(name: str, values: ArrayLike) -> FloatArray:
    """Numbers of any shape, contiguous and aligned."""
    try:
        return np.require(np.asarray(values), np.float64, ["C", "A"])
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} cannot be read as numbers: {error}") from None


def floats(name: str, values: ArrayLike) -> FloatArray:
    """One-dimensional `doubles`."""
    array = doubles(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: give a one-dimensional array")
    return array


def frozen(array: AnyArray) -> AnyArray:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def number(name: str, given: float) -> float:
    """A real number, which may be infinite or none."""
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(f"{name} = {shown(given)}: give a number")
    try:
        return float(given)
    except OverflowError:
        raise ValueError(f"{name} = {shown(given)}: give a number that floating point holds") from None


def probability(name: str, given: float) -> float:
    """A number in [0, 1]: a discount, an exploration rate, a share."""
    if not 0.0 <= number(name, given) <= 1.0:
        raise ValueError(f"{name} = {given}: give a number in [0, 1]")
    return float(given)


def not_negative(name: str, given: float) -> float:
    """A number from 0 on."""
    if not number(name, given) >= 0.0:
        raise ValueError(f"{name} = {given}: give 0 or a positive number")
    return float(given)


def above_zero(name: str, given: float) -> float:
    """A number above 0."""
    if not number(name, given) > 0.0:
        raise ValueError(f"{name} = {given}: give a positive number")
    return float(given)


def whole(name: str, given: int, least: int = 0, bits: int = 63) -> int:
    """A whole number from `least` on that so many bits hold."""
    try:
        count = operator.index(given)
    except TypeError:
        count = None
    if count is None or isinstance(given, bool):
        raise TypeError(f"{name} = {shown(given)}: give a whole number of at least {least}")
    if count < least:
        raise ValueError(f"{name} = {shown(count)}: give at least {least}")
    if count >= 2**bits:
        raise ValueError(f"{name} = {shown(count)}: give at most 2**{bits} - 1")
    return count


def seed_number(given: int, name: str = "seed") -> int:
    """The number that a stream of random numbers begins with: 0 to 2**64 - 1 everywhere in the package."""
    return whole(name, given, bits=64)


def positive(name: str, given: int) -> int:
    """A count of at least one."""
    return whole(name, given, 1)


def one_of(name: str, given: str, options: Sequence[str]) -> str:
    """One of some words."""
    if not isinstance(given, str) or given not in options:
        raise ValueError(f"{name} = {shown(given)}: choose {' or '.join(map(repr, options))}")
    return given


def instance(name: str, given: object, wanted: type | tuple[type, ...] | UnionType, remedy: str) -> None:
    """Refuses an argument of another kind; the remedy says what to give."""
    if not isinstance(given, wanted):
        raise TypeError(f"{name} is {kind_of(given)}: give {remedy}")


def function(name: str, given: object, arguments: str) -> None:
    """Refuses what cannot be called."""
    if not callable(given):
        raise TypeError(f"{name} is {kind_of(given)}: give a function of {arguments}")


def joined_episodes(episodes: Sequence[tuple[ArrayLike, ...]]) -> tuple[list[AnyArray], NDArray[np.int64]]:
    """The parts of all episodes, each as one array, and where episodes begin; episodes have 3 or 4 parts."""
    instance("episodes", episodes, Sequence, "a list of (actions, observations, rewards)")
    if len(episodes) == 0:
        raise ValueError("episodes is empty: give at least one episode")
    lengths = []
    for index, episode in enumerate(episodes):
        instance(f"episodes[{index}]", episode, Sequence, "(actions, observations, rewards)")
        sizes = {len(np.atleast_1d(np.asarray(part))) for part in episode}
        if len(episode) not in (3, 4) or len(episode) != len(episodes[0]):
            raise ValueError(
                f"episode {index} has {len(episode)} parts: every episode is (actions, observations, "
                "rewards), or every one has behavior_probs as a fourth part"
            )
        if len(sizes) != 1 or 0 in sizes:
            raise ValueError(
                f"episode {index}: its parts have lengths {sorted(sizes)}, all must be equal and positive"
            )
        lengths.append(sizes.pop())
    joined = [
        np.concatenate([np.atleast_1d(np.asarray(part)) for part in same])
        for same in zip(*episodes, strict=True)
    ]
    return joined, np.concatenate([[0], np.cumsum(lengths)])
