"""What a policy is, and the simplest ones."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf._core import Automaton
from uqf._core import AutomatonPolicy as AutomatonPolicy
from uqf._core import ContextPolicy as ContextPolicy
from uqf._core import ForestPolicy as ForestPolicy
from uqf._core import SumPolicy as SumPolicy
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
    normalised: NDArray[np.float64] = array / array.sum()
    return normalised


def checked_action(action: Any, n_actions: int) -> int:
    """An action that a policy returned, or an error that shows it."""
    if not isinstance(action, (int, np.integer)) or isinstance(action, bool):
        raise TypeError(f"policy.action returned {action!r}: give an integer action")
    if not 0 <= action < n_actions:
        raise ValueError(f"policy.action returned {action}: choose 0 to {n_actions - 1}")
    return int(action)


def chooser(policy: Any, n_actions: int) -> Callable[[Any, np.random.Generator], NDArray[np.float64]]:
    """How this policy gives its action probabilities: ``choose(state, rng)``, checked at every call."""
    for method in ("initial_state", "update"):
        if not callable(getattr(policy, method, None)):
            raise TypeError(f"policy is a {type(policy).__name__} without {method}(); see uqf.Policy")
    if callable(getattr(policy, "action_probs", None)):
        return lambda state, rng: checked_probs(policy.action_probs(state), n_actions)
    if callable(getattr(policy, "action", None)):
        one_hot = np.eye(n_actions)
        return lambda state, rng: one_hot[checked_action(policy.action(state, rng), n_actions)]
    raise TypeError(f"policy is a {type(policy).__name__} without action_probs() or action(); see uqf.Policy")


def aligned(value: Any) -> Any:
    """The same with every array where the core can read it: after a network it may begin anywhere in memory."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["C", "A"])
    if isinstance(value, dict):
        return {name: aligned(part) for name, part in value.items()}
    return type(value)(map(aligned, value)) if isinstance(value, (list, tuple)) else value


def rebuild_sum_policy(parts: dict[str, Any]) -> SumPolicy:
    """A `SumPolicy` from what its `parts()` gave; pickles refer to this function."""
    return SumPolicy.from_parts(**aligned(parts))


def rebuild_automaton_policy(parts: dict[str, Any]) -> AutomatonPolicy:
    """An `AutomatonPolicy` from its parts; pickles refer to this function."""
    parts = aligned(parts)
    automaton = Automaton(parts.pop("symbols"), parts.pop("operators"), parts.pop("n_symbols"))
    return AutomatonPolicy(automaton, **parts)


def _reduce_automaton_policy(policy: AutomatonPolicy) -> tuple[Any, ...]:
    names = ["symbols", "operators", "n_actions", "n_observations", "start", "anchor", "weights", "table"]
    names += ["normaliser", "window", "temperature", "behavior"]
    parts = {name: getattr(policy, name) for name in names}
    return rebuild_automaton_policy, (parts | {"n_symbols": policy.n_actions * policy.n_observations},)


copyreg.pickle(AutomatonPolicy, _reduce_automaton_policy)
