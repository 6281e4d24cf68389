"""How probable the logged actions were under the policy that took them, as learning and its judges take it.

What the log says is believed. Where it says nothing, the behaviour is taken to look at the last symbol only: the
frequencies of actions after each symbol, drawn towards the overall ones where there are few steps. If the behaviour
looked further back these are wrong, and so is whatever rests on them; `uqf.ope` looks for such a memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories

#: Steps of evidence that the frequencies after a symbol need to weigh as much as the overall ones.
PRIOR_STEPS = 5.0


def last_symbols(data: Trajectories) -> NDArray[np.int64]:
    """The symbol before every step.

    Before the first of an episode it is n_symbols + o where o was shown first, and else `start_symbol`.
    """
    symbols = np.empty(data.n_steps, np.int64)
    symbols[1:] = data.symbols[:-1]
    first = data.first_observations
    symbols[data.offsets[:-1]] = (
        start_symbol(data.n_actions, data.n_observations) if first is None else data.n_symbols + first
    )
    return symbols


def start_symbol(n_actions: int, n_observations: int) -> int:
    """What stands for the symbol before the first step of an episode that showed nothing."""
    return (n_actions + 1) * n_observations


def last_observations(data: Trajectories) -> NDArray[np.int64]:
    """The observation before every step; `n_observations` before the first of an episode that showed nothing."""
    seen = np.empty(data.n_steps, np.int64)
    seen[1:] = data.observations[:-1]
    shown = data.first_observations
    seen[data.offsets[:-1]] = data.n_observations if shown is None else shown
    return seen


def shrunk_frequencies(counts: FloatArray, overall: FloatArray) -> FloatArray:
    """Share of every action (rows, actions) from counts of the same shape, drawn towards `overall` (actions,)."""
    return np.asarray((counts + PRIOR_STEPS * overall) / (counts.sum(axis=1, keepdims=True) + PRIOR_STEPS))


def propensities(data: Trajectories) -> FloatArray:
    """Probability of every logged action, (n_steps,): as logged, or else estimated from the last symbol."""
    return ActionShares.of(data).probabilities(data) if data.behavior_probs is None else data.behavior_probs


def behaviour(data: Trajectories) -> Callable[[Trajectories], FloatArray]:
    """What gives the probability of every action, (n_steps, n_actions), before the steps of a part of the episodes.

    As logged if that leaves no choice: every logged action was as probable as any that was allowed. Else as estimated
    from the last symbol, for the log says nothing of actions that were not taken.
    """
    open_to_it = data.n_actions if data.allowed is None else data.allowed.sum(axis=1)
    if data.behavior_probs is not None and np.allclose(data.behavior_probs * open_to_it, 1.0):
        return lambda part: among_allowed(np.full((part.n_steps, part.n_actions), 1.0 / part.n_actions), part)
    shares = ActionShares.of(data)
    return lambda part: among_allowed(shares.frequencies(part), part)


def among_allowed(probs: FloatArray, data: Trajectories) -> FloatArray:
    """The same among the allowed actions, where the log says which were."""
    if data.allowed is None:
        return probs
    masked = np.where(data.allowed, probs, 0.0)
    return np.asarray(masked / masked.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class ActionShares:
    """How often every action followed every symbol; additive, so that it can be estimated from shards.

    choices : ``last_symbol * n_actions + action`` of all that occurred, in increasing order; counts : of each
    """

    n_actions: int
    choices: NDArray[np.int64]
    counts: NDArray[np.int64] | FloatArray

    @classmethod
    def of(cls, data: Trajectories) -> ActionShares:
        # By pairs that occur, not by a table of all: symbols and actions may be many.
        return cls(data.n_actions, *np.unique(_choices(data), return_counts=True))

    @property
    def taken(self) -> FloatArray:
        """In how many steps every action was taken, (n_actions,)."""
        actions = self.choices % self.n_actions
        return np.bincount(actions, self.counts, self.n_actions).astype(np.float64, copy=False)

    def plus(self, other: ActionShares) -> ActionShares:
        choices, place = np.unique(np.concatenate([self.choices, other.choices]), return_inverse=True)
        counts = np.zeros(len(choices), np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return ActionShares(self.n_actions, choices, counts)

    def frequencies(self, data: Trajectories) -> FloatArray:
        """Probability of every action before every step, (n_steps, n_actions), whether it was allowed or not."""
        symbols, place = np.unique(last_symbols(data), return_inverse=True)
        counts, owner = np.zeros((len(symbols), self.n_actions)), self.choices // self.n_actions
        row = np.minimum(np.searchsorted(symbols, owner), len(symbols) - 1)
        here = symbols[row] == owner
        counts[row[here], self.choices[here] % self.n_actions] = self.counts[here]
        return shrunk_frequencies(counts, self.taken / self.counts.sum())[place]

    def probabilities(self, data: Trajectories) -> FloatArray:
        """Probability of every logged action, (n_steps,), as if the behaviour had looked at the last symbol only.

        It is that among the allowed actions, where the log says which were. The episodes must be among those that were
        counted.
        """
        _, symbol = np.unique(self.choices // self.n_actions, return_inverse=True)
        after = np.bincount(symbol, self.counts)[symbol]
        overall = self.taken / self.counts.sum()
        shares = (self.counts + PRIOR_STEPS * overall[self.choices % self.n_actions]) / (after + PRIOR_STEPS)
        taken = np.searchsorted(self.choices, _choices(data))
        if data.allowed is None:
            return np.asarray(shares[taken])
        mass, symbols = np.zeros(data.n_steps), last_symbols(data) * self.n_actions
        for action in range(self.n_actions):
            place = np.minimum(np.searchsorted(self.choices, symbols + action), len(self.choices) - 1)
            count = np.where(self.choices[place] == symbols + action, self.counts[place], 0)
            mass += (
                data.allowed[:, action]
                * (count + PRIOR_STEPS * overall[action])
                / (after[taken] + PRIOR_STEPS)
            )
        return np.asarray(shares[taken] / mass)


def _choices(data: Trajectories) -> NDArray[np.int64]:
    return np.asarray(last_symbols(data) * data.n_actions + data.actions)
