"""BeliefQ: beliefs of cloned hidden Markov models, and advantages that are linear in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from uqf import _core
from uqf.data.along import advantages, cut_before
from uqf.data.checks import positive
from uqf.data.progress import Progress, Reporter
from uqf.data.trajectories import Trajectories
from uqf.learn.advantages import Features, learn_values, trace
from uqf.learn.clones import CloneTraining, with_all_episodes
from uqf.learn.discounts import learning_discounts
from uqf.learn.gain import gain
from uqf.learn.learner import Learner, checked_data, checked_temperature
from uqf.policies import BeliefPolicy, softmax

#: Data with fewer episodes on either side are not split to choose a size or a learning discount.
MIN_EPISODES = 10

#: Temperature in units of the standard error of the learned values.
TEMPERATURE = 0.6

#: Beliefs are multiplied by this before the ridge regressions, whose penalty it divides by ten.
SCALE = float(np.sqrt(10.0))


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


class BeliefQ(Learner):
    """Learns a belief state, the value of the logging policy on it, and the advantage of every action.

    The belief is over the states of cloned hidden Markov models (every state shows one observation), trained by
    Baum and Welch's method from several random starts. Values are linear in the beliefs of all models: one least-
    squares temporal-difference solve and one ridge regression per action. The best learner from a fixed log on
    every aliased world of ours.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    states : int
        Hidden states of a model. A quarter and a fifteenth are tried as well, and the size that makes held-out
        episodes likeliest is taken: simple worlds are learned better by small models.
    models : int
        Number of models whose beliefs stand side by side.
    learning_discount : float, optional
        Discount of the learned advantages, at most `discount`. By default the one whose improvement is most
        significant on held-out episodes: short horizons have less noise, long ones less bias.
    temperature : float, optional
        0 acts greedily, more draws actions from softmax(q_values / temperature). By default in proportion to the
        standard error of the learned values.
    """

    def __init__(
        self,
        discount: float = 0.99,
        *,
        states: int = 60,
        models: int = 4,
        learning_discount: float | None = None,
        temperature: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.discount = discount
        self.states = states
        self.models = models
        self.learning_discount = learning_discount
        self.temperature = temperature
        self.seed = seed
        self.threads = threads

    def fit_tasks(self, tasks: Sequence[Trajectories]) -> list[BeliefQ]:
        """Learns several tasks of one world together; returns a fitted learner for each, in the same order.

        Tasks share actions, observations and dynamics and differ in rewards and ends. They are given one belief
        state, learned from the episodes of all, and each its own rewards, values and policy: many tasks with few
        episodes each know the world as well as one with many.
        """
        if len(tasks) == 0 or not all(isinstance(data, Trajectories) for data in tasks):
            kinds = ", ".join(sorted({type(data).__name__ for data in tasks}))
            raise ValueError(
                f"tasks has {len(tasks)} entries ({kinds}): give a list of uqf.Trajectories, one for every task"
            )
        sizes = {(data.n_actions, data.n_observations) for data in tasks}
        if len(sizes) > 1:
            raise ValueError(
                f"tasks of {sorted(sizes)} actions and observations: all must have the same, being of one world"
            )
        learners: list[BeliefQ] = [clone(self) for _ in tasks]
        self._learn_tasks(learners, list(tasks), None)
        return [learner._keep_origin(data) for learner, data in zip(learners, tasks, strict=True)]

    def _learn(self, data: Trajectories, progress: Callable[[Progress], object] | None) -> None:
        self._learn_tasks([self], [checked_data(data)], progress)

    def _learn_tasks(
        self,
        learners: list[BeliefQ],
        tasks: list[Trajectories],
        progress: Callable[[Progress], object] | None,
    ) -> None:
        """One belief state for all tasks, and a policy for each learner."""
        checked_temperature(self.temperature)
        training = CloneTraining(
            positive("states", self.states), self.seed, self.threads, Reporter(progress, 0)
        )
        training.reporter.total = self._work(training, tasks)
        choices = self._choose(training, tasks)
        states, models = choices[0].states, positive("models", self.models)
        training.reporter.total = training.reporter.done + training.steps(tasks, states, models)
        training.reporter.enter("training", f"{models} models of {states} states")
        shared = training.train(tasks, states, models)
        training.reporter.enter("values", f"of {len(tasks)} tasks" if len(tasks) > 1 else "of every action")
        for number, (learner, data, choice) in enumerate(zip(learners, tasks, choices, strict=True)):
            trained = shared.for_task(number)
            learner.policy_ = learner._policy(trained, data, choice.learning_discount)
            learner.diagnostics_ = learner._diagnostics(trained, data, choice)

    def _choose(self, training: CloneTraining, tasks: list[Trajectories]) -> list[Choice]:
        """Size and learning discount of every task: half of the episodes train, the other half judges."""
        discounts = learning_discounts(self.discount, self.learning_discount)
        if min(map(len, tasks)) < 2 * MIN_EPISODES:
            return [Choice(self.states, discounts[-1], {}, {}) for _ in tasks]
        train = [data[: len(data) // 2] for data in tasks]
        test = [data[len(data) // 2 :] for data in tasks]
        likelihoods, trained = {}, {}
        for states in training.sizes(tasks):
            training.reporter.enter("choosing", f"{states} states on half of the episodes")
            trained[states] = models = training.train(train, states, min(2, self.models))
            scores = [models.for_task(number).score(data) for number, data in enumerate(test)]
            likelihoods[states] = with_all_episodes(
                float(np.mean(models.log_likelihoods)), float(np.mean(scores))
            )
        states = max(likelihoods, key=likelihoods.__getitem__)
        choices = []
        for number in range(len(tasks)):
            models = trained[states].for_task(number)
            gains = self._gains(models, train[number], test[number], discounts)
            choices.append(Choice(states, max(gains, key=gains.__getitem__), likelihoods, gains))
        return choices

    def _gains(
        self, models: _core.CloneModels, train: Trajectories, test: Trajectories, discounts: list[float]
    ) -> dict[float, float]:
        """By learning discount: what its policy gains on the test episodes, in standard errors."""
        features = belief_features(models, self.threads)
        rows, before, gains = features.along(test), cut_before(test), {}
        for discount in discounts:
            learned = learn_values(features, train, discount)
            probs = softmax(rows[before] @ learned.advantages, TEMPERATURE * learned.noise)
            targets = advantages(test, rows @ learned.value, discount, trace(len(train)))
            gains[discount] = gain(probs[np.arange(test.n_steps), test.actions], targets, test).evidence
        return gains

    def _policy(
        self, models: _core.CloneModels, data: Trajectories, learning_discount: float
    ) -> BeliefPolicy:
        """The softmax policy of the advantages that are linear in the beliefs of the models."""
        learned = learn_values(belief_features(models, self.threads), data, learning_discount)
        usual = TEMPERATURE * learned.noise
        return BeliefPolicy(
            **models.filters(),
            weights=np.ascontiguousarray(SCALE * learned.advantages[1:]),
            bias=np.ascontiguousarray(learned.advantages[0]),
            temperature=usual if self.temperature is None else self.temperature,
        )

    def _diagnostics(self, models: _core.CloneModels, data: Trajectories, choice: Choice) -> dict[str, Any]:
        return {
            "learner": "BeliefQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "models": len(models),
            "log_likelihoods": models.log_likelihoods,
            "states": choice.states,
            "states_evidence": choice.likelihoods,
            "learning_discount": choice.learning_discount,
            "learning_discount_evidence": choice.gains,
            "temperature": self.policy_.temperature,
            "notes": [],
        }

    def _work(self, training: CloneTraining, tasks: list[Trajectories]) -> int:
        """Steps that a fit reads while it trains, which takes most of its time."""
        chosen = training.steps(tasks, self.states, self.models)
        if min(map(len, tasks)) < 2 * MIN_EPISODES:
            return chosen
        halves = [data[: len(data) // 2] for data in tasks]
        tried = (training.steps(halves, states, min(2, self.models)) for states in training.sizes(tasks))
        return chosen + sum(tried)


def belief_features(models: _core.CloneModels, threads: int | None) -> Features:
    """[1, √10 · beliefs] at every cut."""

    def along(data: Trajectories) -> NDArray[np.float32]:
        beliefs = models.beliefs_along(data, threads=threads)
        rows = np.empty((len(beliefs), 1 + beliefs.shape[1]), np.float32)
        rows[:, 0] = 1.0
        np.multiply(beliefs, np.float32(SCALE), out=rows[:, 1:])
        return rows

    return Features(1 + models.n_features, along)
