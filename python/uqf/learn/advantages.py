"""Values and advantages that are linear in what a memory keeps of a history: two regressions, each one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.data.along import advantages, cut_before, discounted_backward, goes_on
from uqf.data.checks import FloatArray
from uqf.data.propensities import propensities
from uqf.data.trajectories import Trajectories

#: Numbers of a feature matrix that are held at once.
MAX_CELLS = 30_000_000

#: λ and penalty of the regression for the value of the logging policy, and penalty of the one for advantages.
VALUE_TRACE = 0.9
VALUE_RIDGE = 10.0
RIDGE = 400.0


@dataclass(frozen=True)
class Features:
    """A memory as numbers: ``along(data)`` are rows (n_steps + n_episodes, width), the first column constant 1."""

    width: int
    along: Callable[[Trajectories], NDArray[np.float32]]


@dataclass(frozen=True)
class LearnedValues:
    """Weights on the features.

    advantages : (width, actions)
    value : (width,), of the logging policy
    noise : standard error of the advantages, in units of reward
    """

    advantages: FloatArray
    value: FloatArray
    noise: float


def trace(episodes: int) -> float:
    """λ of the advantages: 1 − 1/√episodes.

    Below 1 they lean on the learned value, which has less noise than what was earned, but is wrong where the memory
    is. The noise falls with the episodes, the error does not.
    """
    return 1.0 - 1.0 / float(np.sqrt(episodes))


def learn_values(features: Features, data: Trajectories, discount: float) -> LearnedValues:
    """The value by temporal differences, then the advantage of every action by ridge regression."""
    width, n_actions = features.width, data.n_actions
    value = _value(features, data, discount)
    grams, moments = np.zeros((n_actions, width, width)), np.zeros((n_actions, width))
    squares, examples = 0.0, []
    for part in _parts(data, width):
        rows, before = features.along(part), cut_before(part)
        targets = advantages(part, rows @ value, discount, trace(len(data)))
        weights = 1.0 / (n_actions * propensities(part))
        squares += float((targets**2).sum())
        for action in range(n_actions):
            taken = part.actions == action
            chosen = rows[before[taken]]
            weighted = chosen * weights[taken, np.newaxis].astype(np.float32)
            grams[action] += chosen.T @ weighted
            moments[action] += weighted.T @ targets[taken]
        examples.append(rows[before[:: max(1, part.n_steps // 400)]])
    solved, spread = [], 0.0
    shown = np.concatenate(examples).astype(np.float64)
    for gram, moment in zip(grams, moments, strict=True):
        inverse = np.linalg.inv(gram + RIDGE * np.eye(width))
        solved.append(inverse @ moment)
        spread += float(((shown @ inverse) * shown).sum(axis=1).mean()) / n_actions
    noise = np.sqrt(squares / data.n_steps * spread)
    return LearnedValues(np.stack(solved, axis=1), value, float(max(noise, np.finfo(float).tiny)))


def _value(features: Features, data: Trajectories, discount: float) -> FloatArray:
    """Weights of V by least-squares temporal differences: Σ x_t z_tᵀ w = Σ x_t ρ_t.

    z and ρ are (discount·λ)-discounted sums of x_t − discount x_{t+1} and of the rewards.
    """
    left = VALUE_RIDGE * np.eye(features.width)
    left[0, 0] = 1e-6
    right = np.zeros(features.width)
    decay = discount * VALUE_TRACE
    for part in _parts(data, features.width):
        rows, before = features.along(part), cut_before(part)
        here = rows[before]
        differences = here - np.float32(discount) * rows[before + 1] * goes_on(part)[:, np.newaxis]
        rewards = part.rewards.copy()
        discounted_backward(differences, part.offsets, decay)
        discounted_backward(rewards, part.offsets, decay)
        left += here.T @ differences
        right += here.T @ rewards
    return np.asarray(np.linalg.solve(left, right), np.float64)


def _parts(data: Trajectories, width: int) -> Iterator[Trajectories]:
    """The data, so much at a time that the features fit into memory."""
    size = max(1, int(MAX_CELLS / width / (data.n_steps / len(data) + 1)))
    for first in range(0, len(data), size):
        yield data[first : first + size]
