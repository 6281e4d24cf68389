"""Probabilities along logged episodes: of the policy in question, and of the one that collected the data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.evaluate import COMPILED
from uqf.policies import chooser
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]

#: Steps of evidence that a symbol's action frequencies need to weigh as much as the overall ones.
PRIOR_STEPS = 5.0


def target_probs(policy: Any, data: Trajectories) -> FloatArray:
    """π(a | h) of every action before every logged step, shape (n_steps, n_actions).

    The policy remembers what was logged, not what it would have done. Policies in Python are called once a
    step; compiled ones are replayed in the core.
    """
    if isinstance(policy, COMPILED):
        return _core.action_probabilities(data, policy)
    choose = chooser(policy, data.n_actions)
    rng = np.random.default_rng(0)
    rows = []
    for episode in data:
        state = policy.initial_state()
        history = episode.history
        for step, (action, observation) in enumerate(history, start=1):
            rows.append(choose(state, rng))
            if step < len(history):
                state = policy.update(state, action, observation)
    return np.stack(rows)


def last_symbols(data: Trajectories) -> NDArray[np.int64]:
    """The symbol before every step; `n_symbols` before the first of an episode."""
    symbols = np.empty(data.n_steps, np.int64)
    symbols[1:] = data.symbols[:-1]
    symbols[data.offsets[:-1]] = data.n_symbols
    return symbols


def by_steps_to_go(data: Trajectories, horizon: int) -> Iterator[NDArray[np.int64]]:
    """The steps that have 1, 2, …, `horizon` steps to go until `horizon`: the last ones first."""
    steps = np.arange(data.n_steps) - np.repeat(data.offsets[:-1], data.lengths)
    order = np.argsort(-steps, kind="stable")
    cuts = np.searchsorted(-steps[order], np.arange(-horizon + 1, 2))
    return (order[first:last] for first, last in pairwise(cuts))


def estimated_propensities(data: Trajectories) -> FloatArray:
    """Probability of every logged action, as if the behaviour had looked at the last symbol only.

    Frequencies after each symbol, drawn towards the overall ones where there are few steps. If the behaviour
    looked further back these are wrong, and so is whatever rests on them.
    """
    seen, symbol = np.unique(last_symbols(data), return_inverse=True)
    pairs = symbol * data.n_actions + data.actions
    counts = np.bincount(pairs, minlength=len(seen) * data.n_actions).reshape(len(seen), data.n_actions)
    overall = counts.sum(0) / data.n_steps
    probs = (counts + PRIOR_STEPS * overall) / (counts.sum(1, keepdims=True) + PRIOR_STEPS)
    logged: FloatArray = probs.ravel()[pairs]
    return logged
