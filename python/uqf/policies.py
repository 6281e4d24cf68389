"""What a policy is, and the simplest ones."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf._core import AutomatonPolicy as AutomatonPolicy
from uqf._core import TablePolicy as TablePolicy


@runtime_checkable
class Policy(Protocol):
    """A rule for choosing actions, separate from its memory (`state`) of one episode.

    A policy must offer `initial_state` and `update`, and either `action_probs` (preferred: the probability of
    every action is then recorded in rollouts) or `action`, which is taken to be deterministic.
    """

    def initial_state(self) -> Any:
        """Memory at the start of an episode."""

    def update(self, state: Any, action: int, observation: int) -> Any:
        """Memory after one more step; must not change `state` in place."""


def checked_probs(probs: ArrayLike, n_actions: int) -> NDArray[np.float64]:
    """Probabilities that a policy returned, or an error that shows them."""
    array = np.ascontiguousarray(probs, np.float64)
    if array.shape != (n_actions,):
        raise ValueError(f"policy.action_probs returned shape {array.shape}: there are {n_actions} actions")
    if not np.all(array >= 0.0) or not abs(array.sum() - 1.0) <= 1e-6:
        raise ValueError(f"policy.action_probs returned {array.tolist()}: not a probability distribution")
    return array / array.sum()


def checked_action(action: Any, n_actions: int) -> int:
    """An action that a policy returned, or an error that shows it."""
    if not isinstance(action, (int, np.integer)) or isinstance(action, bool):
        raise TypeError(f"policy.action returned {action!r}: give an integer action")
    if not 0 <= action < n_actions:
        raise ValueError(f"policy.action returned {action}: choose 0 to {n_actions - 1}")
    return int(action)
