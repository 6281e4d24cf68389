"""Which vectors are the largest somewhere in the simplex of beliefs: linear programs, many at a time."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, hstack, kron

from uqf.baselines.alpha_vectors import undominated
from uqf.errors import NumericalError
from uqf.plans import Floats

#: A vector must exceed all others by this part of their spread; the solver's own tolerance is of this size.
MARGIN = 1e-7

#: Vectors questioned in one linear program. The solver's start costs more than a small program.
BATCH = 64

#: Random beliefs of each kind tried first; whatever is best at one needs no linear program to be kept.
PROBES = 200


def useful(vectors: Floats) -> NDArray[np.intp]:
    """Rows of `vectors` (V, S) that are needed to attain max_v v·b at every belief b, in increasing order.

    Lark's method: a vector that no mixture of the kept ones dominates has a witness belief, and the best
    vector at a witness is needed. All vectors in question are asked at once, each in a block of its own.
    """
    open_rows = undominated(vectors)
    spread = float(np.ptp(vectors)) or 1.0
    kept = _best(vectors, open_rows, _probes(vectors.shape[1]))
    open_rows = np.setdiff1d(open_rows, kept)
    while len(open_rows):
        asked = open_rows[:BATCH]
        margins, witnesses = _witnesses(vectors[asked] / spread, vectors[kept] / spread)
        needed = margins > MARGIN
        kept = np.union1d(kept, _best(vectors, open_rows, witnesses[needed]))
        open_rows = np.setdiff1d(open_rows, np.concatenate([asked[~needed], kept]))
    return kept


@cache
def _probes(n_states: int) -> Floats:
    """Beliefs to try before any linear program: corners, and a fixed random sample near faces and inside."""
    rng = np.random.default_rng(0)
    samples = [rng.dirichlet(np.full(n_states, weight), size=PROBES) for weight in (0.2, 1.0, 5.0)]
    return np.vstack([np.eye(n_states), *samples])


def _best(vectors: Floats, rows: NDArray[np.intp], beliefs: Floats) -> NDArray[np.intp]:
    """The rows that are best at some of the beliefs (N, S), each once.

    Of ties the lexicographically greatest is taken: it alone is sure to be needed.
    """
    values = beliefs @ vectors[rows].T
    top = values.max(axis=1, keepdims=True)
    tied = values >= top - 1e-12 * (1.0 + np.abs(top))
    ranks = np.empty(len(rows), np.intp)
    ranks[np.lexsort(vectors[rows].T[::-1])] = np.arange(len(rows))
    return np.unique(rows[np.where(tied, ranks, -1).argmax(axis=1)])


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
