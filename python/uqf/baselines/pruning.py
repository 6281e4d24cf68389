"""Which vectors are the largest somewhere in the simplex of beliefs: linear programs, many at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, hstack, kron

from uqf.baselines.alpha_vectors import undominated
from uqf.baselines.belief import Floats
from uqf.errors import NumericalError

#: A vector must exceed all others by this part of their spread; the solver's own tolerance is of this size.
MARGIN = 1e-7

#: Vectors questioned in one linear program. The solver's start costs more than a small program.
BATCH = 64


def useful(vectors: Floats) -> NDArray[np.intp]:
    """Rows of `vectors` (V, S) that are needed to attain max_v v·b at every belief b, in increasing order.

    Lark's method: a vector that no mixture of the kept ones dominates has a witness belief, and the best
    vector at a witness is needed. All vectors in question are asked at once, each in a block of its own.
    """
    open_rows = undominated(vectors)
    spread = float(np.ptp(vectors)) or 1.0
    witnesses = np.vstack([np.eye(vectors.shape[1]), np.full(vectors.shape[1], 1.0 / vectors.shape[1])])
    kept = np.array(sorted({_best(vectors, open_rows, belief) for belief in witnesses}), np.intp)
    open_rows = np.setdiff1d(open_rows, kept)
    while len(open_rows):
        asked = open_rows[:BATCH]
        margins, witnesses = _witnesses(vectors[asked] / spread, vectors[kept] / spread)
        needed = margins > MARGIN
        found = {_best(vectors, open_rows, belief) for belief in witnesses[needed]}
        kept = np.union1d(kept, np.array(sorted(found), np.intp))
        open_rows = np.setdiff1d(open_rows, np.concatenate([asked[~needed], kept]))
    return kept


def _best(vectors: Floats, rows: NDArray[np.intp], belief: Floats) -> int:
    """The best row at a belief; of ties the lexicographically greatest, which alone is sure to be needed."""
    values = vectors[rows] @ belief
    tied = rows[values >= values.max() - 1e-12 * (1.0 + abs(values.max()))]
    return int(max(tied, key=lambda row: tuple(vectors[row])))


def _witnesses(asked: Floats, kept: Floats) -> tuple[Floats, Floats]:
    """For each asked vector the greatest margin over all kept ones, and the belief where it has it.

    Maximises Σ d_i subject to d_i ≤ b_i·(v_i − w) for every kept w, each b_i in the simplex.
    """
    count, states = asked.shape
    shortfalls = block_diag([kept - vector for vector in asked], format="csr")
    identity = csr_array(np.eye(count))
    margins = kron(identity, np.ones((len(kept), 1)), format="csr")
    masses = kron(identity, np.ones((1, states)), format="csr")
    result = linprog(
        np.concatenate([np.zeros(count * states), -np.ones(count)]),
        A_ub=hstack([shortfalls, margins], format="csr"),
        b_ub=np.zeros(count * len(kept)),
        A_eq=hstack([masses, csr_array((count, count))], format="csr"),
        b_eq=np.ones(count),
        bounds=[(0.0, 1.0)] * (count * states) + [(None, None)] * count,
        method="highs",
    )
    if result.x is None:
        raise NumericalError(f"pruning {count} vectors over {states} states: {result.message}")
    beliefs = result.x[: count * states].reshape(count, states)
    return result.x[count * states :], beliefs / beliefs.sum(axis=1, keepdims=True)
