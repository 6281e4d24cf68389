"""Which words index a Hankel matrix, and which function of histories it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from uqf.episodes.checks import instance, one_of, seed_number, whole

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

    @classmethod
    def of(cls, learner: object) -> Basis:
        """By those parameters of a learner that have the same names."""
        return cls(
            **{one.name: getattr(learner, one.name) for one in fields(cls) if hasattr(learner, one.name)}
        )

    def __post_init__(self) -> None:
        one_of("occurrences", self.occurrences, ("start", "anywhere"))
        instance("projection", self.projection, str | None, "gaussian, rademacher, sparse, hashed or None")
        for name in ("max_prefix", "max_suffix"):
            whole(name, getattr(self, name))
        # The hash of suffixes takes twice the seed, and one more.
        if seed_number(self.seed) >= 2**63:
            raise ValueError(f"seed = {self.seed}: a basis takes seeds below 2⁶³")
        for name in ("n_prefixes", "n_suffixes"):
            limit = getattr(self, name)
            if limit is not None and whole(name, limit, -1) < 1:
                raise ValueError(
                    f"{name} = {limit}: the basis would be empty; give at least 1, or None for all"
                )


@dataclass(frozen=True)
class Counting:
    """All that a worker and the core must know to count episodes.

    words : the words of the basis, the most frequent first; None if words are projected instead of listed
    reward_size : the largest absolute reward, which fixes how finely sums are kept
    """

    basis: Basis
    target: Target
    reward_size: float
    words: Words | None

    @property
    def term_size(self) -> float:
        """About how large the terms of sums are, which are exact for such terms; shards must share it."""
        size = 1.0 if self.target.name == "probability" else self.reward_size
        return max(size, abs(self.target.offset))
