"""Finite Gymnasium spaces as codes 0, 1, 2, …"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces


@dataclass(frozen=True)
class Coding:
    """A one-to-one map between the elements of a finite space and 0 … n - 1."""

    n: int
    encode: Callable[[Any], int]
    decode: Callable[[int], Any]


def _mixed_radix(sizes: Sequence[int]) -> Coding:
    """Lists of digits, digit i below sizes[i]; the last digit counts fastest."""

    def encode(digits: Sequence[int]) -> int:
        code = 0
        for digit, size in zip(digits, sizes, strict=True):
            code = code * size + int(digit)
        return code

    def decode(code: int) -> list[int]:
        digits = []
        for size in reversed(sizes):
            code, digit = divmod(code, size)
            digits.append(digit)
        return digits[::-1]

    return Coding(math.prod(sizes), encode, decode)


def _array_coding(shape: tuple[int, ...], sizes: Sequence[int], start: Any, dtype: Any) -> Coding:
    radix = _mixed_radix(sizes)
    return Coding(
        radix.n,
        lambda value: radix.encode((np.asarray(value) - start).ravel().tolist()),
        lambda code: (np.reshape(radix.decode(code), shape) + start).astype(dtype),
    )


def _product_coding(parts: Sequence[Coding]) -> Coding:
    radix = _mixed_radix([part.n for part in parts])
    return Coding(
        radix.n,
        lambda values: radix.encode([part.encode(value) for part, value in zip(parts, values, strict=True)]),
        lambda code: tuple(part.decode(digit) for part, digit in zip(parts, radix.decode(code), strict=True)),
    )


def coding(space: spaces.Space[Any], role: str) -> Coding:
    """Codes of a Discrete, MultiDiscrete or MultiBinary space, or of a Tuple or Dict of such.

    `role` is "observation" or "action", for the message that refuses any other space.
    """
    match space:
        case spaces.Discrete():
            start = int(space.start)
            return Coding(int(space.n), lambda value: int(value) - start, lambda code: code + start)
        case spaces.MultiDiscrete():
            return _array_coding(space.nvec.shape, space.nvec.ravel().tolist(), space.start, space.dtype)
        case spaces.MultiBinary():
            return _array_coding(space.shape, [2] * math.prod(space.shape), 0, space.dtype)
        case spaces.Tuple():
            return _product_coding([coding(part, role) for part in space.spaces])
        case spaces.Dict():
            names = list(space.spaces)
            product = _product_coding([coding(part, role) for part in space.spaces.values()])
            return Coding(
                product.n,
                lambda value: product.encode([value[name] for name in names]),
                lambda code: dict(zip(names, product.decode(code), strict=True)),
            )
    wrapper = "TransformObservation" if role == "observation" else "TransformAction"
    raise TypeError(
        f"the {role} space holds {space}, not a finite space: make it Discrete, MultiDiscrete or MultiBinary "
        f"(or a Tuple or Dict of those), for example by binning it in a gymnasium.wrappers.{wrapper}"
    )
