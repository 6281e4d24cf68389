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
from uqf.trajectories import Trajectories, concatenate

FloatArray = NDArray[np.float64]

#: Beliefs are multiplied by this before the ridge regressions, whose penalty it divides by ten.
SCALE = float(np.sqrt(10.0))

#: Numbers of a feature matrix that are held at once.
MOST_CELLS = 30_000_000


#: Sizes that are tried, in parts of `states`; smaller models are trained longer, at most so many times as long.
FRACTIONS = (1, 4, 15)
MOST_TIMES = 2

#: Fewer models are trained where each has many states: the regressions cost the square of their sum.
MOST_FEATURES = 320

#: Data with fewer episodes on either side are not split to choose a learning discount.
LEAST_EPISODES = 10


@dataclass(frozen=True)
class Choice:
    """What was chosen on held-out episodes, and the evidence: {} where nothing was to choose or too few episodes.

    likelihoods : mean log-likelihood of a step by number of states, expected of models trained on all episodes
    gains : significance of the improvement by learning discount
    """

    states: int
    learning_discount: float
    likelihoods: dict[int, float]
    gains: dict[float, float]


@dataclass(frozen=True)
class FittedClones:
    """A policy on beliefs and how it came about."""

    policy: SumPolicy
    models: _core.CloneModels
    choice: Choice


@dataclass(frozen=True)
class CloneLearner:
    """Learns a belief state, the value of the logging policy on it (LSTD), and the advantage of every action.

    states, models, iterations, most_steps : of the hidden Markov models and their training. A quarter and a
        fifteenth of the states are tried as well, and the size that makes held-out episodes likeliest is taken:
        simple worlds are learned better by small models
    learning_discounts : candidates for the discount of the learned advantages; the one whose improvement is
        most significant on held-out episodes is taken. Short horizons have less noise, long ones less bias
    value_trace, value_ridge, ridge : λ of the value, penalty of the value and of the advantages, whose own λ
        comes closer to 1 the more episodes there are (`trace`)
    temperature : in units of the standard error of the learned values
    """

    states: int = 60
    models: int = 4
    iterations: int = 200
    most_steps: int = 150_000
    learning_discounts: tuple[float, ...] = (0.85, 0.95, 0.99)
    value_trace: float = 0.9
    value_ridge: float = 10.0
    ridge: float = 400.0
    temperature: float = 0.6
    seed: int = 0
    threads: int | None = None

    def fit(self, data: Trajectories, discount: float) -> FittedClones:
        """Two passes over the data after the training of the models."""
        return self.fit_tasks([data], discount)[0]

    def fit_tasks(self, tasks: list[Trajectories], discount: float) -> list[FittedClones]:
        """Learns several tasks of one world together: one belief state, but rewards and a policy for each."""
        choices = self.choose(tasks, discount)
        shared = self.train(tasks, choices[0].states, self.models)
        fitted = []
        for number, (data, choice) in enumerate(zip(tasks, choices, strict=True)):
            models = shared.for_task(number)
            policy = self.policy(models, data, choice.learning_discount)
            fitted.append(FittedClones(policy, models, choice))
        return fitted

    def policy(self, models: _core.CloneModels, data: Trajectories, learning_discount: float) -> SumPolicy:
        """The softmax policy of the advantages that are linear in the beliefs of the models."""
        weights, noise, _ = self.regress(models, data, learning_discount)
        return SumPolicy(
            n_actions=data.n_actions,
            n_observations=data.n_observations,
            contexts=[],
            beliefs=[(models, np.ascontiguousarray(SCALE * weights[1:]), np.ascontiguousarray(weights[0]))],
            temperature=self.temperature * noise,
        )

    def with_discount(self, learning_discount: float) -> CloneLearner:
        """The same learner with one learning discount and nothing to choose."""
        if not 0.0 <= learning_discount <= 1.0:
            raise ValueError(f"learning_discount = {learning_discount}: give a number in [0, 1]")
        return replace(self, learning_discounts=(learning_discount,))

    def choose(self, tasks: list[Trajectories], discount: float) -> list[Choice]:
        """Size and learning discount of every task: half of the episodes train, the other half judges."""
        discounts = sorted({min(candidate, discount) for candidate in self.learning_discounts})
        if min(map(len, tasks)) < 2 * LEAST_EPISODES:
            return [Choice(self.states, discounts[-1], {}, {}) for _ in tasks]
        train = [data[: len(data) // 2] for data in tasks]
        test = [data[len(data) // 2 :] for data in tasks]
        likelihoods, trained = {}, {}
        for states in self._sizes(tasks):
            models = self.train(train, states, min(2, self.models))
            scores = [models.for_task(i).score(data, data.terminated) for i, data in enumerate(test)]
            likelihoods[states] = with_all_episodes(np.mean(models.log_likelihoods), np.mean(scores))
            trained[states] = models
        states = max(likelihoods, key=likelihoods.__getitem__)
        choices = []
        for number in range(len(tasks)):
            models = trained[states].for_task(number)
            gains = self._gains(models, train[number], test[number], discounts)
            choices.append(Choice(states, max(gains, key=gains.__getitem__), likelihoods, gains))
        return choices

    def _sizes(self, tasks: list[Trajectories]) -> list[int]:
        """Numbers of states to try: each at most half of the one before, counting at least one a sight."""
        sizes = [self.states]
        for states in (max(1, self.states // fraction) for fraction in FRACTIONS):
            if 2 * _states(tasks, states) <= _states(tasks, sizes[-1]):
                sizes.append(states)
        return sizes

    def _gains(
        self, models: _core.CloneModels, train: Trajectories, test: Trajectories, discounts: list[float]
    ) -> dict[float, float]:
        """By learning discount: what its policy gains on the test episodes, in standard errors."""
        rows = self.features(models, test)
        before = cut_before(test)
        gains = {}
        for discount in discounts:
            weights, noise, value_weights = self.regress(models, train, discount)
            probs = softmax(rows[before] @ weights / (self.temperature * noise))
            targets = advantages(test, rows @ value_weights, discount, trace(len(train)))
            gains[discount] = gain(probs[np.arange(test.n_steps), test.actions], targets, test).evidence
        return gains

    def train(self, tasks: list[Trajectories], states: int, models: int) -> _core.CloneModels:
        """Hidden Markov models of all tasks together, from several random starts."""
        data = tasks[0] if len(tasks) == 1 else concatenate(tasks)
        return _core.CloneModels.train(
            data,
            data.terminated,
            states=states,
            models=min(models, max(1, MOST_FEATURES // _states(tasks, states))),
            iterations=self.iterations * min(MOST_TIMES, max(1, self.states // states)),
            episodes=max(1, int(self.most_steps / (data.n_steps / len(data)))),
            seed=self.seed,
            tasks=np.repeat(np.arange(len(tasks), dtype=np.uint32), [len(task) for task in tasks]),
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


def trace(episodes: int) -> float:
    """λ of the advantages: 1 − 1/√episodes.

    Below 1 they lean on the learned value, which has less noise than what was earned, but is wrong where beliefs
    are. The noise falls with the episodes, the error does not.
    """
    return 1.0 - 1.0 / float(np.sqrt(episodes))


def with_all_episodes(trained: float, judged: float) -> float:
    """Held-out log-likelihood to be expected after training on all episodes, from training on half of them.

    What a model gains on its own episodes it loses about as much on others, and both halve when the episodes
    double: without this, large models would be judged by too few data.
    """
    return float(judged + (trained - judged) / 4.0)


def _states(tasks: list[Trajectories], states: int) -> int:
    """States that a model will have: at least one for every observation that occurs."""
    by_task = [np.bincount(data.observations, minlength=data.n_observations) for data in tasks]
    counts = np.sum(by_task, axis=0)
    shares = np.round(states * counts[counts > 0] / counts.sum())
    return int(np.maximum(shares, 1).sum())
