"""Compressed predictive state representations (Hamilton, Fard & Pineau 2014)."""

from __future__ import annotations

from uqf.baselines.tpsr import TPSR
from uqf.learn.spectral.basis import Basis


class CPSR(TPSR):
    """A `TPSR` learned from randomly projected statistics, which are never formed in full.

    Parameters are those of `TPSR` (without limits on the number of words: all are projected), and

    projection : "gaussian", "rademacher", "sparse" or "hashed"
    prefix_dim, suffix_dim : int
        Dimensions after projection; the wider, the nearer to `TPSR`.
    """

    def __init__(
        self,
        rank: int | None = None,
        discount: float = 0.99,
        *,
        projection: str = "hashed",
        prefix_dim: int = 200,
        suffix_dim: int = 200,
        occurrences: str = "anywhere",
        max_prefix: int = 3,
        max_suffix: int = 3,
        ridge: float = 1e-3,
        temperature: float = 0.0,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        super().__init__(
            rank,
            discount,
            occurrences=occurrences,
            max_prefix=max_prefix,
            max_suffix=max_suffix,
            ridge=ridge,
            temperature=temperature,
            seed=seed,
            threads=threads,
        )
        self.projection = projection
        self.prefix_dim = prefix_dim
        self.suffix_dim = suffix_dim

    def _basis(self) -> Basis:
        return Basis(
            occurrences=self.occurrences,
            max_prefix=self.max_prefix,
            max_suffix=self.max_suffix,
            projection=self.projection,
            prefix_dim=self.prefix_dim,
            suffix_dim=self.suffix_dim,
            seed=self.seed,
        )
