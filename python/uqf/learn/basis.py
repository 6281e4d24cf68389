"""Which words index a Hankel matrix, and which function of histories it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uqf import _core
from uqf.trajectories import Trajectories

#: Lists of prefixes and suffixes; a word is a sequence of symbols.
Words = tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]]


@dataclass(frozen=True)
class Target:
    """A function of histories: "reward", "return" (from there on, plus `offset`) or "probability"."""

    name: str
    discount: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Basis:
    """Which words index the Hankel matrix, and how it is compressed.

    occurrences : "start" (prefixes begin at the first step) or "anywhere"
    max_prefix, max_suffix : longest words, in symbols
    n_prefixes, n_suffixes : keep only so many of the most frequent; None keeps all
    projection : None (exact), "gaussian", "rademacher", "sparse" or "hashed"
    prefix_dim, suffix_dim : dimensions after projection
    """

    occurrences: str = "anywhere"
    max_prefix: int = 3
    max_suffix: int = 3
    n_prefixes: int | None = None
    n_suffixes: int | None = None
    projection: str | None = None
    prefix_dim: int = 200
    suffix_dim: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("max_prefix", "max_suffix"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} = {getattr(self, name)}: give 0 or more symbols")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed = {self.seed}: give an integer from 0 to 2**63 - 1")
        for name in ("n_prefixes", "n_suffixes"):
            limit = getattr(self, name)
            if limit is not None and limit < 1:
                raise ValueError(
                    f"{name} = {limit}: the basis would be empty; give at least 1, or None for all"
                )

    def settings(self, data: Trajectories, targets: list[Target]) -> _core.HankelSettings:
        """What the core needs to know; counts the words of the data if they are to be listed."""
        reward_size = float(np.abs(data.rewards).max())
        return Counting(self, tuple(targets), reward_size, self.listed(data)).settings()

    def listed(self, data: Trajectories) -> Words | None:
        """The words of the basis, the most frequent first; None if words are projected instead of listed."""
        if self.projection is not None:
            return None
        prefixes, _ = _core.most_frequent(
            data, occurrences=self.occurrences, max_length=self.max_prefix, limit=self.n_prefixes
        )
        suffixes, _ = _core.most_frequent(
            data, occurrences="anywhere", max_length=self.max_suffix, limit=self.n_suffixes
        )
        return prefixes, suffixes


@dataclass(frozen=True)
class Counting:
    """All that a worker must know to count a shard; unlike the core's own settings it can be sent around."""

    basis: Basis
    targets: tuple[Target, ...]
    reward_size: float
    words: Words | None

    def settings(self) -> _core.HankelSettings:
        """The same for the core."""
        basis, offsets = self.basis, [abs(target.offset) for target in self.targets]
        mixed = self.reward_size > 0 and any(target.name == "probability" for target in self.targets)
        what: dict[str, Any] = {
            "occurrences": basis.occurrences,
            "targets": [(one.name, float(one.discount), float(one.offset)) for one in self.targets],
            "reward_size": max([self.reward_size, *offsets, *([1.0] if mixed else [])]),
        }
        if self.words is not None:
            return _core.HankelSettings(words=self.words, **what)
        return _core.HankelSettings(
            max_prefix=basis.max_prefix,
            max_suffix=basis.max_suffix,
            projection=(str(basis.projection), basis.prefix_dim, basis.suffix_dim, basis.seed),
            **what,
        )
