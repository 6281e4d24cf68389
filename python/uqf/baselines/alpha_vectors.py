"""A lower bound of the optimal value: the best of finitely many plans, each linear in the belief; which are needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, hstack, kron

from uqf.errors import NumericalError
from uqf.learn.plan.belief_model import BeliefModel, Floats

Places = NDArray[np.intp]
Plan = tuple[Floats, int]

#: A vector must exceed all others by this part of their spread; the solver's own tolerance is of this size.
MARGIN = 1e-7

#: Vectors questioned in one linear program. The solver's start costs more than a small program.
BATCH = 64

#: Random beliefs of each kind tried first; whatever is best at one needs no linear program to be kept.
PROBES = 200


def undominated(vectors: Floats) -> Places:
    """Rows that no single other row matches or exceeds in every state; of equal rows the first."""
    order = np.argsort(-vectors.sum(axis=1), kind="stable")  # a row can only be dominated by one before it
    ranked = vectors[order]
    kept: list[int] = []
    for row in range(len(ranked)):
        if not (ranked[kept] >= ranked[row]).all(axis=1).any():
            kept.append(row)
    return np.sort(order[kept])


@dataclass(frozen=True)
class AlphaVectors:
    """Plans as `vectors` (V, S), each with its first action in `actions` (V,).

    The value of a belief is that of the best plan there. If every plan can be carried out, so can the policy
    that looks for the best plan anew at each step, and it earns at least that much.
    """

    vectors: Floats
    actions: NDArray[np.int64]

    def values(self, beliefs: Floats) -> Floats:
        """Values (...) of beliefs (..., S), which need not be normalised."""
        return np.asarray((beliefs @ self.vectors.T).max(axis=-1))

    def backup(self, model: BeliefModel, belief: Floats, places: Places, successors: Floats) -> Plan:
        """The best plan at a belief (S,): an action, then one of the present plans per observation.

        `places` and `successors` are what `model.successors` says of the belief.
        """
        worth = successors @ self.vectors.T
        action = int(model.ahead(belief, places, worth.max(axis=1)).argmax())
        own = places // model.n_observations == action
        best = np.zeros(model.n_observations, np.intp)
        best[places[own] % model.n_observations] = worth[own].argmax(axis=1)
        after = np.einsum("to,ot->t", model.observations[action], self.vectors[best])
        return model.rewards[action] + model.discount * model.before(action, after), action

    def joined(self, plan: Plan) -> AlphaVectors:
        """These plans and one more, without those that it exceeds everywhere."""
        vector, action = plan
        kept = ~(self.vectors <= vector).all(axis=1)
        return AlphaVectors(np.vstack([self.vectors[kept], vector]), np.append(self.actions[kept], action))

    def best_at(self, beliefs: Floats) -> AlphaVectors:
        """The plans that are best at one of some beliefs (N, S)."""
        kept = np.unique((beliefs @ self.vectors.T).argmax(axis=1))
        return AlphaVectors(self.vectors[kept], self.actions[kept])


def useful(vectors: Floats) -> Places:
    """Rows of `vectors` (V, S) that are needed to attain max_v v·b at every belief b, in increasing order.

    Lark's method: a vector that no mixture of the kept ones dominates has a witness belief, and the best
    vector at a witness is needed. All vectors in question are tried at once, each in a block of its own.
    """
    open_rows = undominated(vectors)
    spread = float(np.ptp(vectors)) or 1.0
    kept = _best(vectors, open_rows, _probes(vectors.shape[1]))
    open_rows = np.setdiff1d(open_rows, kept)
    while len(open_rows):
        candidates = open_rows[:BATCH]
        margins, witnesses = _witnesses(vectors[candidates] / spread, vectors[kept] / spread)
        needed = margins > MARGIN
        kept = np.union1d(kept, _best(vectors, open_rows, witnesses[needed]))
        open_rows = np.setdiff1d(open_rows, np.concatenate([candidates[~needed], kept]))
    return kept


@cache
def _probes(n_states: int) -> Floats:
    """Beliefs to try before any linear program: corners, and a fixed random sample near faces and inside."""
    rng = np.random.default_rng(0)
    samples = [rng.dirichlet(np.full(n_states, weight), size=PROBES) for weight in (0.2, 1.0, 5.0)]
    return np.vstack([np.eye(n_states), *samples])


def _best(vectors: Floats, rows: Places, beliefs: Floats) -> Places:
    """The rows that are best at some of the beliefs (N, S), each once.

    Of ties the lexicographically greatest is taken: it alone is sure to be needed.
    """
    values = beliefs @ vectors[rows].T
    top = values.max(axis=1, keepdims=True)
    tied = values >= top - 1e-12 * (1.0 + np.abs(top))
    ranks = np.empty(len(rows), np.intp)
    ranks[np.lexsort(vectors[rows].T[::-1])] = np.arange(len(rows))
    return np.unique(rows[np.where(tied, ranks, -1).argmax(axis=1)])


def _witnesses(candidates: Floats, kept: Floats) -> tuple[Floats, Floats]:
    """For each candidate the greatest margin over all kept ones, and the belief where it has it.

    Maximises Σ d_i subject to d_i ≤ b_i·(v_i − w) for every kept w, each b_i in the simplex.
    """
    count, states = candidates.shape
    shortfalls = block_diag([kept - vector for vector in candidates], format="csr")
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
