"""How probable the logged actions were under the policy that took them: one rule for learning and for evaluation.

What the log says is believed. Where it says nothing, the behaviour is taken to look at the last symbol only: the
frequencies of actions after each symbol, drawn towards the overall ones where there are few steps. If the behaviour
looked further back these are wrong, and so is whatever rests on them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.data.checks import FloatArray
from uqf.data.trajectories import Trajectories

#: Steps of evidence that the frequencies after a symbol need to weigh as much as the overall ones.
PRIOR_STEPS = 5.0


def last_symbols(data: Trajectories) -> NDArray[np.int64]:
    """The symbol before every step; `n_symbols` before the first of an episode."""
    symbols = np.empty(data.n_steps, np.int64)
    symbols[1:] = data.symbols[:-1]
    symbols[data.offsets[:-1]] = data.n_symbols
    return symbols


def last_observations(data: Trajectories) -> NDArray[np.int64]:
    """The observation before every step; `n_observations` before the first of an episode."""
    seen = np.empty(data.n_steps, np.int64)
    seen[1:] = data.observations[:-1]
    seen[data.offsets[:-1]] = data.n_observations
    return seen


def shrunk_frequencies(counts: FloatArray, overall: FloatArray) -> FloatArray:
    """Share of every action (rows, actions) from counts of the same shape, drawn towards `overall` (actions,)."""
    return np.asarray((counts + PRIOR_STEPS * overall) / (counts.sum(axis=1, keepdims=True) + PRIOR_STEPS))


def propensities(data: Trajectories) -> FloatArray:
    """Probability of every logged action, (n_steps,): as logged, or else estimated from the last symbol."""
    return estimated_propensities(data) if data.behavior_probs is None else data.behavior_probs


def estimated_propensities(data: Trajectories) -> FloatArray:
    """Probability of every logged action, as if the behaviour had looked at the last symbol only."""
    # By pairs that occur, not by a table of all: symbols and actions may be many.
    _, symbol, after = np.unique(last_symbols(data), return_inverse=True, return_counts=True)
    _, pair, taken = np.unique(
        symbol * data.n_actions + data.actions, return_inverse=True, return_counts=True
    )
    overall = np.bincount(data.actions, minlength=data.n_actions)[data.actions] / data.n_steps
    return np.asarray((taken[pair] + PRIOR_STEPS * overall) / (after[symbol] + PRIOR_STEPS))
