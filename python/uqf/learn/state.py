"""Learning a spectral state: two passes over the data with one singular value decomposition between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from uqf import _core
from uqf.learn.automata import WFA
from uqf.learn.basis import Basis as Basis
from uqf.learn.basis import Counting
from uqf.learn.basis import Target as Target
from uqf.learn.map_reduce import map_reduce
from uqf.learn.passes import (
    Marks,
    OperatorSums,
    check_marks,
    count_words,
    first_pass,
    plus,
    reduced_blocks,
    second_pass,
)
from uqf.learn.progress import LOG, Progress, Reporter
from uqf.learn.shards import Blocks, source_of
from uqf.learn.spectral import FULL_SVD_SIZE, Decomposition, decompose, numerical_rank
from uqf.learn.tally import Tally

FloatArray = NDArray[np.float64]


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
    data: Any,
    basis: Basis,
    targets: list[Target],
    rank: int | None,
    *,
    threads: int | None = None,
    executor: Any = None,
    progress: Callable[[Progress], object] | None = None,
) -> SpectralState:
    """Algorithms 1 and 2 of the paper, for any number of targets side by side.

    1. Hankel block C = Σ left ⊗ right over all cuts of all episodes (compressed if `basis` projects).
    2. C ≈ U D Vᵀ with `rank` columns.
    3. α = (row λ) V, ω = D⁻¹Uᵀ (column λ), A_σ = Σ (D⁻¹Uᵀ left) ⊗ (Vᵀ right) over the cuts before σ.

    α is estimated directly from row λ at the start of the episodes. The paper's e with eᵀΦᵀ = (1, 0, …)
    does not exist when the projection is narrower than the basis.

    `data` are `Trajectories`, or anything that `source_of` makes shards of: those are read twice, a batch at a
    time. The bits of the result depend on the shards, not on `threads` nor on `executor`.
    """
    return learn_state_and_tally(data, basis, targets, rank, threads, executor, progress)[0]


def learn_state_and_tally(
    data: Any,
    basis: Basis,
    targets: list[Target],
    rank: int | None,
    threads: int | None,
    executor: Any,
    progress: Callable[[Progress], object] | None,
) -> tuple[SpectralState, Tally]:
    """`learn_state`, and what else there is to know of the data."""
    source = source_of(data)
    steps = sum(source[index].n_steps for index in range(len(source)))
    reporter = Reporter(progress, 2 * steps)
    where = f"{len(source)} shards, {steps:,} steps"
    threads = 1 if threads is None and executor is not None else threads

    def over_shards(work: Any) -> Any:
        return map_reduce(work, source, plus, executor=executor, tick=reporter.add)

    marks: Marks = ()
    # Where reading is dear, a block by symbol spares the third reading: the first has gone into listing words.
    by_symbol = basis.projection is None and not source.in_memory
    if isinstance(source, Blocks):
        words = basis.listed(source.data)
    elif basis.projection is None:
        reporter.enter("counting words", where)
        found = over_shards(partial(count_words, basis))
        words, marks = found.listed(basis), found.marks
    else:
        words = None
    counting = Counting(basis, tuple(targets), source.reward_size, words)
    reporter.enter("second pass" if by_symbol else "first pass", where)
    first = over_shards(partial(first_pass, counting, by_symbol, threads))
    check_marks(source, marks or first.marks, first.marks)
    block = block_matrix(first.sums)
    reporter.enter("decomposition", f"{block.shape[0]} × {block.shape[1]} for rank {rank}")
    parts = decompose(block / first.tally.episodes, rank, seed=basis.seed)
    if by_symbol:
        operators = reduced_blocks(first.sums, parts.prefix_map, parts.suffix_map)
    else:
        reporter.enter("second pass", where)
        operators = over_shards(partial(second_pass, counting, parts.prefix_map, parts.suffix_map, threads))
        check_marks(source, first.marks, operators.marks)
    LOG.info("state of rank %d learned in %.1f s", parts.rank, reporter.seconds)
    (known_prefixes, seen_prefixes), (known_suffixes, seen_suffixes) = first.sums.coverage
    coverage = known_prefixes / max(seen_prefixes, 1), known_suffixes / max(seen_suffixes, 1)
    return spectral_state(first.sums, first.tally, parts, operators, coverage), first.tally


def spectral_state(
    sums: _core.HankelStatistics,
    tally: Tally,
    parts: Decomposition,
    operators: OperatorSums,
    coverage: tuple[float, float],
) -> SpectralState:
    """The state that these sums make."""
    return SpectralState(
        alpha=sums.start() / tally.episodes @ parts.suffix_map,
        anchor=sums.average() / (tally.steps + tally.episodes) @ parts.suffix_map,
        symbols=operators.symbols,
        operators=operators.operators / tally.episodes,
        omegas=parts.prefix_map.T @ (sums.columns() / tally.episodes),
        n_symbols=tally.n_symbols,
        decomposition=parts,
        numerical_rank=numerical_rank(parts.spectrum, sums.shape[:2]),
        coverage=coverage,
    )


def block_matrix(sums: _core.HankelStatistics) -> Any:
    """The summed block, dense unless that would be large."""
    rows, columns, values = sums.block()
    shape = sums.shape[:2]
    made = scipy.sparse.csr_array((values, (rows, columns)), shape=shape)
    return made if min(shape) > FULL_SVD_SIZE else made.toarray()
