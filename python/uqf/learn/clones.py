"""Memory as beliefs: cloned hidden Markov models, and linear advantages on their states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from uqf import _core
from uqf.learn.along import advantages, cut_before
from uqf.learn.belief_values import BeliefValues, features, trace
from uqf.learn.contexts import softmax
from uqf.learn.gain import gain
from uqf.learn.progress import Progress, Reporter
from uqf.policies import SumPolicy
from uqf.trajectories import Trajectories, concatenate

#: Sizes that are tried, in parts of `states`. Smaller models are trained longer, at most so many times as long, and
#: so are all models where there are more data than training sees: then it pays to come closer to the maximum.
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
    values : the regressions on the beliefs
    temperature : in units of the standard error of the learned values
    """

    states: int = 60
    models: int = 4
    iterations: int = 200
    most_steps: int = 150_000
    learning_discounts: tuple[float, ...] = (0.85, 0.95, 0.99)
    values: BeliefValues = field(default_factory=BeliefValues)
    temperature: float = 0.6
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("states", "models", "iterations", "most_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: give at least 1")

    def fit(
        self,
        data: Trajectories,
        discount: float,
        progress: Callable[[Progress], object] | None = None,
    ) -> FittedClones:
        """Two passes over the data after the training of the models."""
        return self.fit_tasks([data], discount, progress)[0]

    def fit_tasks(
        self,
        tasks: list[Trajectories],
        discount: float,
        progress: Callable[[Progress], object] | None = None,
    ) -> list[FittedClones]:
        """Learns several tasks of one world together: one belief state, but rewards and a policy for each."""
        reporter = Reporter(progress, self._work(tasks))
        choices = self.choose(tasks, discount, reporter)
        reporter.total = reporter.done + self._steps(tasks, choices[0].states, self.models)
        reporter.enter("training", f"{self.models} models of {choices[0].states} states")
        shared = self.train(tasks, choices[0].states, self.models, reporter)
        reporter.enter("values", f"of {len(tasks)} tasks" if len(tasks) > 1 else "of every action")
        fitted = []
        for number, (data, choice) in enumerate(zip(tasks, choices, strict=True)):
            models = shared.for_task(number)
            policy = self.policy(models, data, choice.learning_discount)
            fitted.append(FittedClones(policy, models, choice))
        return fitted

    def policy(self, models: _core.CloneModels, data: Trajectories, learning_discount: float) -> SumPolicy:
        """The softmax policy of the advantages that are linear in the beliefs of the models."""
        learned = self.values.learn(models, data, learning_discount, self.threads)
        return SumPolicy(
            n_actions=data.n_actions,
            n_observations=data.n_observations,
            contexts=[],
            beliefs=[(models, *learned.on_beliefs())],
            temperature=self.temperature * learned.noise,
        )

    def with_discount(self, learning_discount: float) -> CloneLearner:
        """The same learner with one learning discount and nothing to choose."""
        if not 0.0 <= learning_discount <= 1.0:
            raise ValueError(f"learning_discount = {learning_discount}: give a number in [0, 1]")
        return replace(self, learning_discounts=(learning_discount,))

    def choose(
        self, tasks: list[Trajectories], discount: float, reporter: Reporter | None = None
    ) -> list[Choice]:
        """Size and learning discount of every task: half of the episodes train, the other half judges."""
        reporter = reporter or Reporter(None, 0)
        discounts = sorted({min(candidate, discount) for candidate in self.learning_discounts})
        if min(map(len, tasks)) < 2 * LEAST_EPISODES:
            return [Choice(self.states, discounts[-1], {}, {}) for _ in tasks]
        train = [data[: len(data) // 2] for data in tasks]
        test = [data[len(data) // 2 :] for data in tasks]
        likelihoods, trained = {}, {}
        for states in self._sizes(tasks):
            reporter.enter("choosing", f"{states} states on half of the episodes")
            models = self.train(train, states, min(2, self.models), reporter)
            scores = [models.for_task(i).score(data, data.terminated) for i, data in enumerate(test)]
            likelihoods[states] = with_all_episodes(
                float(np.mean(models.log_likelihoods)), float(np.mean(scores))
            )
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
        rows = features(models, test, self.threads)
        before = cut_before(test)
        gains = {}
        for discount in discounts:
            learned = self.values.learn(models, train, discount, self.threads)
            probs = softmax(rows[before] @ learned.advantages / (self.temperature * learned.noise))
            targets = advantages(test, rows @ learned.value, discount, trace(len(train)))
            gains[discount] = gain(probs[np.arange(test.n_steps), test.actions], targets, test).evidence
        return gains

    def train(
        self, tasks: list[Trajectories], states: int, models: int, reporter: Reporter | None = None
    ) -> _core.CloneModels:
        """Hidden Markov models of all tasks together, from several random starts."""
        data = tasks[0] if len(tasks) == 1 else concatenate(tasks)
        reporter = reporter or Reporter(None, 0)
        before, share = reporter.done, states / self.states
        trained = _core.CloneModels.train(
            data,
            data.terminated,
            states=states,
            seed=self.seed,
            tasks=np.repeat(np.arange(len(tasks), dtype=np.uint32), [len(task) for task in tasks]),
            threads=self.threads,
            progress=lambda done: reporter.reach(before + int(share * done)),
            **self._amount(tasks, states, models),
        )
        reporter.reach(before + self._steps(tasks, states, models))
        return trained

    def _amount(self, tasks: list[Trajectories], states: int, models: int) -> dict[str, int]:
        """How many models of so many states are trained, for how long, and on how much."""
        steps, episodes = sum(data.n_steps for data in tasks), sum(map(len, tasks))
        times = max(1, self.states // states, steps // self.most_steps)
        return {
            "models": min(models, max(1, MOST_FEATURES // _states(tasks, states))),
            "iterations": self.iterations * min(MOST_TIMES, times),
            "episodes": max(1, int(self.most_steps / (steps / episodes))),
        }

    def _steps(self, tasks: list[Trajectories], states: int, models: int) -> int:
        """Steps that such a training reads; those of a smaller model count less, as they take less."""
        size = sum(data.n_steps for data in tasks), sum(map(len, tasks))
        return int(
            states / self.states * _core.CloneModels.work(*size, **self._amount(tasks, states, models))
        )

    def _work(self, tasks: list[Trajectories]) -> int:
        """Steps that a fit reads while it trains, which takes most of its time."""
        chosen = self._steps(tasks, self.states, self.models)
        if min(map(len, tasks)) < 2 * LEAST_EPISODES:
            return chosen
        halves = [data[: len(data) // 2] for data in tasks]
        tried = (self._steps(halves, states, min(2, self.models)) for states in self._sizes(tasks))
        return chosen + sum(tried)


def with_all_episodes(trained: float, judged: float) -> float:
    """Held-out log-likelihood to be expected after training on all episodes, from training on half of them.

    What a model gains on its own episodes it loses about as much on others, and both halve when the episodes
    double: without this, large models would be judged by too few data.
    """
    return judged + (trained - judged) / 4.0


def _states(tasks: list[Trajectories], states: int) -> int:
    """States that a model will have: at least one for every observation that occurs."""
    by_task = [np.bincount(data.observations, minlength=data.n_observations) for data in tasks]
    counts = np.sum(by_task, axis=0)
    shares = np.round(states * counts[counts > 0] / counts.sum())
    return int(np.maximum(shares, 1).sum())
