"""Learning a spectral state: two passes over the data with one singular value decomposition between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from uqf import _core
from uqf.learn.automata import WFA
from uqf.learn.spectral import FULL_SVD_SIZE, Decomposition, decompose, numerical_rank
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]
Progress = Callable[[int], object]


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
        functions = [(target.name, float(target.discount), float(target.offset)) for target in targets]
        sizes = [1.0, float(np.abs(data.rewards).max()), *(abs(target.offset) for target in targets)]
        reward_size = (
            max(sizes) if sizes[1] > 0 and any(t.name == "probability" for t in targets) else max(sizes[1:])
        )
        if self.projection is not None:
            return _core.HankelSettings(
                occurrences=self.occurrences,
                targets=functions,
                reward_size=reward_size,
                max_prefix=self.max_prefix,
                max_suffix=self.max_suffix,
                projection=(self.projection, self.prefix_dim, self.suffix_dim, self.seed),
            )
        prefixes, _ = _core.most_frequent(
            data, occurrences=self.occurrences, max_length=self.max_prefix, limit=self.n_prefixes
        )
        suffixes, _ = _core.most_frequent(
            data, occurrences="anywhere", max_length=self.max_suffix, limit=self.n_suffixes
        )
        return _core.HankelSettings(
            occurrences=self.occurrences,
            targets=functions,
            words=(prefixes, suffixes),
            reward_size=reward_size,
        )


@dataclass(frozen=True)
class SpectralState:
    """One state with an operator per seen symbol, and one read-out vector per target.

    alpha : (k,) state of the empty history; anchor : (k,) average state over all places of the data
    symbols, operators : (seen,), (seen, k, k)
    omegas : (k, targets)
    """

    alpha: FloatArray
    anchor: FloatArray
    symbols: NDArray[np.int64]
    operators: FloatArray
    omegas: FloatArray
    n_symbols: int
    decomposition: Decomposition
    numerical_rank: int
    coverage: tuple[float, float]

    @property
    def rank(self) -> int:
        """Number of entries of the state."""
        return len(self.alpha)

    def wfa(self, target: int = 0) -> WFA:
        """The automaton of one of the targets."""
        return WFA(
            self.alpha, self.operators, self.omegas[:, target], symbols=self.symbols, n_symbols=self.n_symbols
        )

    def truncated(self, rank: int) -> SpectralState:
        """The state of a lower rank: singular directions are nested, so no pass over the data is needed."""
        if not 1 <= rank <= self.rank:
            raise ValueError(f"rank = {rank}: this state has rank {self.rank}")
        parts = self.decomposition
        return replace(
            self,
            alpha=self.alpha[:rank],
            anchor=self.anchor[:rank],
            operators=np.ascontiguousarray(self.operators[:, :rank, :rank]),
            omegas=self.omegas[:rank],
            decomposition=Decomposition(
                parts.left[:, :rank], parts.singular_values[:rank], parts.right[:, :rank], parts.spectrum
            ),
        )


def learn_state(
    data: Trajectories,
    basis: Basis,
    targets: list[Target],
    rank: int | None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SpectralState:
    """Algorithms 1 and 2 of the paper, for any number of targets side by side.

    1. Hankel block C = Σ left ⊗ right over all cuts of all episodes (compressed if `basis` projects).
    2. C ≈ U D Vᵀ with `rank` columns.
    3. α = (row λ) V, ω = D⁻¹Uᵀ (column λ), A_σ = Σ (D⁻¹Uᵀ left) ⊗ (Vᵀ right) over the cuts before σ.

    α is estimated directly from row λ at the start of the episodes. The paper's e with eᵀΦᵀ = (1, 0, …)
    does not exist when the projection is narrower than the basis.
    """
    settings = basis.settings(data, targets)
    sums = _core.HankelStatistics.accumulate(data, settings, threads=threads, progress=progress)
    parts = decompose(block_matrix(sums) / len(data), rank, seed=basis.seed)
    symbols, operators = _core.sum_operators(
        data, settings, parts.prefix_map, parts.suffix_map, threads=threads, progress=progress
    )
    (known_prefixes, seen_prefixes), (known_suffixes, seen_suffixes) = sums.coverage
    return SpectralState(
        alpha=sums.start() / len(data) @ parts.suffix_map,
        anchor=sums.average() / (data.n_steps + len(data)) @ parts.suffix_map,
        symbols=symbols,
        operators=operators / len(data),
        omegas=parts.prefix_map.T @ (sums.columns() / len(data)),
        n_symbols=data.n_symbols,
        decomposition=parts,
        numerical_rank=numerical_rank(parts.spectrum, sums.shape[:2]),
        coverage=(known_prefixes / max(seen_prefixes, 1), known_suffixes / max(seen_suffixes, 1)),
    )


def block_matrix(sums: _core.HankelStatistics) -> Any:
    """The summed block, dense unless that would be large."""
    rows, columns, values = sums.block()
    shape = sums.shape[:2]
    made = scipy.sparse.csr_array((values, (rows, columns)), shape=shape)
    return made if min(shape) > FULL_SVD_SIZE else made.toarray()
