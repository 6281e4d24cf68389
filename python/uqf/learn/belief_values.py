"""Values and advantages that are linear in beliefs: two regressions, each one pass over the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.learn.along import advantages, cut_before, discounted_backward, goes_on, propensities
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]

#: Beliefs are multiplied by this before the ridge regressions, whose penalty it divides by ten.
SCALE = float(np.sqrt(10.0))

#: Numbers of a feature matrix that are held at once.
MOST_CELLS = 30_000_000


@dataclass(frozen=True)
class LearnedValues:
    """Weights on the features [1, √10 · beliefs].

    advantages : (features, actions)
    value : (features,), of the logging policy
    noise : standard error of the advantages, in units of reward
    """

    advantages: FloatArray
    value: FloatArray
    noise: float

    def on_beliefs(self) -> tuple[FloatArray, FloatArray]:
        """(weights (states, actions) on the beliefs themselves, and what is added to them (actions,))."""
        return np.ascontiguousarray(SCALE * self.advantages[1:]), np.ascontiguousarray(self.advantages[0])


def features(models: _core.CloneModels, data: Trajectories, threads: int | None) -> NDArray[np.float32]:
    """[1, √10 · beliefs] at every cut: (n_steps + n_episodes, 1 + states of all models)."""
    beliefs = models.beliefs_along(data, threads=threads)
    rows = np.empty((len(beliefs), 1 + beliefs.shape[1]), np.float32)
    rows[:, 0] = 1.0
    np.multiply(beliefs, np.float32(SCALE), out=rows[:, 1:])
    return rows


def trace(episodes: int) -> float:
    """λ of the advantages: 1 − 1/√episodes.

    Below 1 they lean on the learned value, which has less noise than what was earned, but is wrong where beliefs
    are. The noise falls with the episodes, the error does not.
    """
    return 1.0 - 1.0 / float(np.sqrt(episodes))


@dataclass(frozen=True)
class BeliefValues:
    """How values are learned.

    value_trace, value_ridge : λ and penalty of the logging policy's value
    ridge : penalty of the advantages, whose λ is `trace`
    """

    value_trace: float = 0.9
    value_ridge: float = 10.0
    ridge: float = 400.0

    def learn(
        self, models: _core.CloneModels, data: Trajectories, discount: float, threads: int | None
    ) -> LearnedValues:
        """The value by temporal differences, then the advantage of every action by ridge regression."""
        width = 1 + models.n_features
        value_weights = self._value(models, data, discount, threads)
        grams = np.zeros((data.n_actions, width, width))
        moments = np.zeros((data.n_actions, width))
        squares, examples = 0.0, []
        for part in _parts(data, width):
            rows = features(models, part, threads)
            before = cut_before(part)
            targets = advantages(part, rows @ value_weights, discount, trace(len(data)))
            weights = 1.0 / (part.n_actions * propensities(part))
            squares += float((targets**2).sum())
            for action in range(part.n_actions):
                taken = part.actions == action
                chosen = rows[before[taken]]
                weighted = chosen * weights[taken, np.newaxis].astype(np.float32)
                grams[action] += chosen.T @ weighted
                moments[action] += weighted.T @ targets[taken]
            examples.append(rows[before[:: max(1, part.n_steps // 400)]])
        solved, spread = [], 0.0
        shown = np.concatenate(examples).astype(np.float64)
        for gram, moment in zip(grams, moments, strict=True):
            inverse = np.linalg.inv(gram + self.ridge * np.eye(width))
            solved.append(inverse @ moment)
            spread += float(((shown @ inverse) * shown).sum(axis=1).mean()) / data.n_actions
        noise = np.sqrt(squares / data.n_steps * spread)
        return LearnedValues(np.stack(solved, axis=1), value_weights, float(max(noise, np.finfo(float).tiny)))

    def _value(
        self, models: _core.CloneModels, data: Trajectories, discount: float, threads: int | None
    ) -> FloatArray:
        """Weights of V by least-squares temporal differences: Σ x_t z_tᵀ w = Σ x_t ρ_t.

        z and ρ are (discount·λ)-discounted sums of x_t − discount x_{t+1} and of the rewards.
        """
        width = 1 + models.n_features
        left = self.value_ridge * np.eye(width)
        left[0, 0] = 1e-6
        right = np.zeros(width)
        decay = discount * self.value_trace
        for part in _parts(data, width):
            rows = features(models, part, threads)
            before = cut_before(part)
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
    size = max(1, int(MOST_CELLS / width / (data.n_steps / len(data) + 1)))
    for first in range(0, len(data), size):
        yield data[first : first + size]
