"""How compiled policies come back from pickles, which refer to these names."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from uqf.types import Raw, Record

Kind = TypeVar("Kind")


def aligned(value: Raw) -> Raw:
    """The same with every array where the core can read it: after a network it may begin anywhere in memory."""
    return np.require(value, requirements=["C", "A"]) if isinstance(value, np.ndarray) else value


def rebuilt(kind: type[Kind], parts: Record) -> Kind:
    """A compiled policy from its `parts()`."""
    return kind(**{name: aligned(part) for name, part in parts.items()})
