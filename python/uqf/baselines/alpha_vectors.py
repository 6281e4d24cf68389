"""A lower bound of the optimal value: the best of finitely many plans, each linear in the belief."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from uqf.plans import BeliefModel, Floats

#: Numbers in one block of successor beliefs; bounds the memory of a backup of many beliefs.
BLOCK = 1 << 20


def undominated(vectors: Floats) -> NDArray[np.intp]:
    """Rows that no single other row matches or exceeds in every state; of equal rows the first."""
    order = np.argsort(-vectors.sum(axis=1), kind="stable")  # a row can only be dominated by one before it
    ranked = vectors[order]
    kept: list[int] = []
    for row in range(len(ranked)):
        if not (ranked[kept] >= ranked[row]).all(axis=1).any():
            kept.append(row)
    return np.sort(order[kept])


class AlphaVectors:
    """Plans as `vectors` (V, S), each with its first action in `actions` (V,).

    The value of a belief is that of the best plan there. If every plan can be carried out, so can the policy
    that looks for the best plan anew at each step, and it earns at least that much.
    """

    def __init__(self, vectors: Floats, actions: NDArray[np.int64]) -> None:
        kept = undominated(vectors)
        self.vectors = vectors[kept]
        self.actions = actions[kept]

    def values(self, beliefs: Floats) -> Floats:
        """Values (...) of beliefs (..., S), which need not be normalised."""
        return np.asarray((beliefs @ self.vectors.T).max(axis=-1))

    def backup(self, model: BeliefModel, beliefs: Floats) -> AlphaVectors:
        """The best plans at `beliefs` (N, S): an action, then one of the present plans per observation."""
        size = max(1, BLOCK // (model.n_actions * model.n_observations * model.n_states))
        starts = range(0, len(beliefs), size)
        blocks = [self._backup(model, beliefs[start : start + size]) for start in starts]
        return AlphaVectors(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))

    def _backup(self, model: BeliefModel, beliefs: Floats) -> tuple[Floats, NDArray[np.int64]]:
        best = (model.successors(beliefs) @ self.vectors.T).argmax(axis=-1)  # (N, A, O)
        following = np.einsum("ato,naot->nat", model.observations, self.vectors[best])
        plans = model.rewards + model.discount * (model.transitions @ following[..., np.newaxis])[..., 0]
        actions = np.einsum("nas,ns->na", plans, beliefs).argmax(axis=1)
        return plans[np.arange(len(beliefs)), actions], actions

    def merged(self, other: AlphaVectors) -> AlphaVectors:
        """Both sets of plans, without those that one other plan dominates."""
        vectors, actions = self.vectors, self.actions
        for plan, action in zip(other.vectors, other.actions, strict=True):
            if not (vectors >= plan).all(axis=1).any():
                kept = ~(vectors <= plan).all(axis=1)
                vectors, actions = np.vstack([vectors[kept], plan]), np.append(actions[kept], action)
        return AlphaVectors._undominated(vectors, actions)

    @classmethod
    def _undominated(cls, vectors: Floats, actions: NDArray[np.int64]) -> Self:
        """A set that is known to need no pruning."""
        plans = cls.__new__(cls)
        plans.vectors, plans.actions = vectors, actions
        return plans
