"""Memory as beliefs: cloned hidden Markov models, and linear advantages on their states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.learn.along import advantages, cut_before, discounted_backward, goes_on, propensities
from uqf.learn.contexts import softmax
from uqf.learn.gain import gain
from uqf.policies import SumPolicy
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]

#: Beliefs are multiplied by this before the ridge regressions, whose penalty it divides by ten.
SCALE = float(np.sqrt(10.0))

#: Numbers of a feature matrix that are held at once.
MOST_CELLS = 30_000_000


#: Fewer models are trained where each has many states: the regressions cost the square of their sum.
MOST_FEATURES = 320

#: Data with fewer episodes on either side are not split to choose a learning discount.
LEAST_EPISODES = 10


@dataclass(frozen=True)
class FittedClones:
    """A policy on beliefs and how it came about."""

    policy: SumPolicy
    models: _core.CloneModels
    learning_discount: float
    evidence: dict[float, float]


@dataclass(frozen=True)
class CloneLearner:
    """Learns a belief state, the value of the logging policy on it (LSTD), and the advantage of every action.

    states, models, iterations, most_steps : of the hidden Markov models and their training
    learning_discounts : candidates for the discount of the learned advantages; the one whose improvement is
        most significant on held-out episodes is taken. Short horizons have less noise, long ones less bias
    value_trace, value_ridge, trace, ridge : λ and penalty of the value, and of the advantages
    temperature : in units of the standard error of the learned values
    """

    states: int = 60
    models: int = 4
    iterations: int = 60
    most_steps: int = 150_000
    learning_discounts: tuple[float, ...] = (0.85, 0.95, 0.98)
    value_trace: float = 0.9
    value_ridge: float = 10.0
    trace: float = 0.95
    ridge: float = 400.0
    temperature: float = 0.3
    seed: int = 0
    threads: int | None = None

    def fit(self, data: Trajectories, discount: float) -> FittedClones:
        """Two passes over the data after the training of the models."""
        learning_discount, evidence = self.choose_discount(data, discount)
        models = self.train(data, min(self.models, max(1, MOST_FEATURES // _states(data, self.states))))
        weights, noise, _ = self.regress(models, data, learning_discount)
        policy = SumPolicy(
            n_actions=data.n_actions,
            n_observations=data.n_observations,
            contexts=[],
            beliefs=[(models, np.ascontiguousarray(SCALE * weights[1:]), np.ascontiguousarray(weights[0]))],
            temperature=self.temperature * noise,
        )
        return FittedClones(policy, models, learning_discount, evidence)

    def with_discount(self, learning_discount: float) -> CloneLearner:
        """The same learner with one learning discount and nothing to choose."""
        if not 0.0 <= learning_discount <= 1.0:
            raise ValueError(f"learning_discount = {learning_discount}: give a number in [0, 1]")
        return replace(self, learning_discounts=(learning_discount,))

    def choose_discount(self, data: Trajectories, discount: float) -> tuple[float, dict[float, float]]:
        """The learning discount with the most significant held-out improvement, and the evidence for each.

        Half of the episodes train a policy; on the other half its gain is measured, in standard errors.
        """
        candidates = sorted({min(candidate, discount) for candidate in self.learning_discounts})
        if len(candidates) == 1 or len(data) < 2 * LEAST_EPISODES:
            return candidates[-1], {}
        train, test = data[: len(data) // 2], data[len(data) // 2 :]
        models = self.train(train, min(2, self.models))
        rows = self.features(models, test)
        before = cut_before(test)
        evidence = {}
        for candidate in candidates:
            weights, noise, value_weights = self.regress(models, train, candidate)
            values = rows @ value_weights
            probs = softmax(rows[before] @ weights / (self.temperature * noise))[
                np.arange(test.n_steps), test.actions
            ]
            evidence[candidate] = gain(probs, advantages(test, values, candidate, self.trace), test).evidence
        return max(evidence, key=evidence.__getitem__), evidence

    def train(self, data: Trajectories, models: int) -> _core.CloneModels:
        """Hidden Markov models of the data, from several random starts."""
        episodes = max(1, int(self.most_steps / (data.n_steps / len(data))))
        return _core.CloneModels.train(
            data,
            data.terminated,
            states=self.states,
            models=models,
            iterations=self.iterations,
            episodes=episodes,
            seed=self.seed,
            threads=self.threads,
        )

    def features(self, models: _core.CloneModels, data: Trajectories) -> NDArray[np.float32]:
        """[1, √10 · beliefs] at every cut: (n_steps + n_episodes, 1 + states of all models)."""
        beliefs = models.beliefs_along(data, threads=self.threads)
        rows = np.empty((len(beliefs), 1 + beliefs.shape[1]), np.float32)
        rows[:, 0] = 1.0
        np.multiply(beliefs, np.float32(SCALE), out=rows[:, 1:])
        return rows

    def regress(
        self, models: _core.CloneModels, data: Trajectories, discount: float
    ) -> tuple[FloatArray, float, FloatArray]:
        """(weights (features, actions), noise, value weights (features,)), all linear in the features.

        The weights give the advantage of every action, the noise is their standard error in units of reward.
        """
        width = 1 + models.n_features
        value_weights = self._value(models, data, discount, width)
        grams = np.zeros((data.n_actions, width, width))
        moments = np.zeros((data.n_actions, width))
        squares, examples = 0.0, []
        for part in self._parts(data, width):
            rows = self.features(models, part)
            before = cut_before(part)
            targets = advantages(part, rows @ value_weights, discount, self.trace)
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
        return np.stack(solved, axis=1), float(max(noise, np.finfo(float).tiny)), value_weights

    def _value(
        self, models: _core.CloneModels, data: Trajectories, discount: float, width: int
    ) -> FloatArray:
        """Weights of V by least-squares temporal differences: Σ x_t z_tᵀ w = Σ x_t ρ_t.

        z and ρ are (discount·λ)-discounted sums of x_t − discount x_{t+1} and of the rewards.
        """
        left = self.value_ridge * np.eye(width)
        left[0, 0] = 1e-6
        right = np.zeros(width)
        decay = discount * self.value_trace
        for part in self._parts(data, width):
            rows = self.features(models, part)
            before = cut_before(part)
            here = rows[before]
            differences = here - np.float32(discount) * rows[before + 1] * goes_on(part)[:, np.newaxis]
            rewards = part.rewards.copy()
            discounted_backward(differences, part.offsets, decay)
            discounted_backward(rewards, part.offsets, decay)
            left += here.T @ differences
            right += here.T @ rewards
        return np.asarray(np.linalg.solve(left, right), np.float64)

    def _parts(self, data: Trajectories, width: int) -> Iterator[Trajectories]:
        size = max(1, int(MOST_CELLS / width / (data.n_steps / len(data) + 1)))
        for first in range(0, len(data), size):
            yield data[first : first + size]


def _states(data: Trajectories, states: int) -> int:
    """States that a model will have: at least one for every observation that occurs."""
    counts = np.bincount(data.observations, minlength=data.n_observations)
    shares = np.round(states * counts[counts > 0] / data.n_steps)
    return int(np.maximum(shares, 1).sum())
