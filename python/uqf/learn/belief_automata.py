"""A cloned hidden Markov model as two automata: of its probabilities, and of its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from uqf.learn.automata import WFA
from uqf.trajectories import Trajectories


def belief_automata(model: dict[str, Any], data: Trajectories, discount: float) -> tuple[WFA, WFA]:
    """(probability of a history, that times the value of what follows), with actions as often as logged.

    `model` are the arrays of `CloneModels.model`.
    """
    frequency = np.bincount(data.actions, minlength=data.n_actions) / data.n_steps
    moves = (
        frequency[:, np.newaxis, np.newaxis] * (1.0 - model["ends"])[:, :, np.newaxis] * model["transitions"]
    )
    symbols, operators = [], []
    for observation, (low, high) in enumerate(model["ranges"]):
        for action in range(data.n_actions) if high > low else ():
            operator = np.zeros(moves.shape[1:])
            operator[:, low:high] = moves[action, :, low:high]
            symbols.append(action * data.n_observations + observation)
            operators.append(operator)
    start = model["start"].astype(np.float64)
    ones = np.ones(len(start))
    probability = WFA(start, np.stack(operators), ones, symbols=symbols, n_symbols=data.n_symbols)
    rewards = frequency @ model["rewards"]
    step = min(discount, 0.9999) * moves.sum(axis=0)
    values = np.linalg.solve(np.eye(len(start)) - step, rewards)
    return probability, WFA(start, np.stack(operators), values, symbols=symbols, n_symbols=data.n_symbols)
