"""BeliefQ: beliefs of cloned hidden Markov models, and advantages that are linear in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from uqf import _core
from uqf.data.along import advantages, cut_before
from uqf.data.checks import positive
from uqf.data.progress import Progress, Reporter
from uqf.data.trajectories import Trajectories
from uqf.data.reader import Reader
from uqf.learn.advantages import (
    Grams,
    Moments,
    ValueSums,
    advantage_sums,
    learned_value,
    solved_advantages,
    trace,
)
from uqf.learn.belief_memory import BeliefMemory
from uqf.learn.clones import FINAL_SETTLE, MAX_COMPARED, STEPS_PER_SETTLING, CloneTrainer, drawn_sample
from uqf.learn.discounts import learning_discounts
from uqf.learn.gain import gain
from uqf.learn.learner import Learner, checked_data, checked_temperature
from uqf.policies import BeliefPolicy, softmax

#: Data with fewer episodes on either side are not split to choose a size or a learning discount.
MIN_EPISODES = 10

#: Numbers on which learning discounts are compared at most, on either side, and steps that the value rests on at most.
GAIN_CELLS = 8_000_000
VALUE_STEPS = 150_000

#: Temperature in units of the standard error of the learned values.
TEMPERATURE = 0.6


@dataclass(frozen=True)
class Choice:
    """What was chosen on held-out episodes, and the evidence: {} where nothing was to choose or too few episodes.

    models : how many there are, by number of states
    likelihoods : mean log-likelihood of a step by number of states, expected of models trained on all episodes
    gains : significance of the improvement by learning discount
    """

    models: dict[int, int]
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
        Hidden states of the largest models. A quarter and a fifteenth are tried as well; simple worlds are learned
        better by small models. See `uqf.learn.clones` for how the sizes are chosen on held-out episodes.
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
        discounts = learning_discounts(self.discount, self.learning_discount)
        positive("models", self.models)
        sample = drawn_sample(tasks, self.seed)
        reporter = Reporter(progress, 0)
        trainer = CloneTrainer(sample, positive("states", self.states), self.seed, self.threads, reporter)
        families, choices = self._models(trainer, discounts)
        reporter.enter("values", f"of {len(tasks)} tasks" if len(tasks) > 1 else "of every action")
        for number, (learner, data, choice) in enumerate(zip(learners, tasks, choices, strict=True)):
            own = [models.for_task(number) for models in families]
            learner.policy_ = learner._policy(own, sample.first(VALUE_STEPS).of_task(number), data, choice.learning_discount)
            learner.diagnostics_ = learner._diagnostics(data, choice, trainer)

    def _models(
        self, trainer: CloneTrainer, discounts: list[float]
    ) -> tuple[list[_core.CloneModels], list[Choice]]:
        """Models by size, and what was chosen for every task on the half of the episodes that did not train."""
        sample, n_tasks = trainer.sample, int(trainer.sample.tasks.max()) + 1
        settle = max(FINAL_SETTLE, sample.data.n_steps // STEPS_PER_SETTLING)
        if min(np.bincount(sample.tasks)) < 2 * MIN_EPISODES:
            layout = trainer.layouts[-1]
            models = trainer.fresh(sample, layout, range(trainer.n_models(self.models, layout)), settle)
            choice = Choice({layout.n_states: len(models)}, discounts[-1], {}, {})
            return [models], [choice] * n_tasks
        train, test = (half.first(MAX_COMPARED) for half in sample.halves)
        sizes, likelihoods, halves = trainer.compare(train, test, min(2, self.models))
        families = trainer.finished(sizes, halves, self.models, settle)
        numbers = {trainer.layouts[size].n_states: len(models) for size, models in zip(sizes, families, strict=True)}
        width = 1 + sum(halves[size].n_features for size in sizes)
        few = [half.first(GAIN_CELLS // width) for half in (train, test)]
        choices = []
        for task in range(n_tasks):
            known = [halves[size].for_task(task) for size in sizes]
            gains = self._gains(known, few[0].of_task(task), few[1].of_task(task), discounts)
            choices.append(Choice(numbers, max(gains, key=gains.__getitem__), likelihoods, gains))
        return families, choices

    def _gains(
        self,
        families: list[_core.CloneModels],
        train: Trajectories,
        test: Trajectories,
        discounts: list[float],
    ) -> dict[float, float]:
        """By learning discount: what its policy gains on the test episodes, in standard errors."""
        memory, decay, gains = BeliefMemory(families, train.n_actions), trace(len(train)), {}
        rows, before = memory.rows(test, self.threads), cut_before(test)
        taught = memory.rows(train, self.threads)
        grams = Grams.of(memory, taught, train)
        values = [ValueSums.of(taught, train, discount).value() for discount in discounts]
        pairs = list(zip(values, discounts, strict=True))
        moments = [Moments.of(taught, train, value, discount, decay) for value, discount in pairs]
        learned = solved_advantages(memory, grams, moments)
        for (value, discount), (weights, noise) in zip(pairs, learned, strict=True):
            probs = softmax(rows[before] @ weights, TEMPERATURE * noise)
            targets = advantages(test, rows @ value, discount, decay)
            gains[discount] = gain(probs[np.arange(test.n_steps), test.actions], targets, test).evidence
        return gains

    def _policy(
        self,
        families: list[_core.CloneModels],
        sample: Trajectories,
        data: Trajectories,
        learning_discount: float,
    ) -> BeliefPolicy:
        """The softmax policy of the advantages that are linear in the beliefs of the models."""
        memory = BeliefMemory(families, data.n_actions)
        value = learned_value(memory, sample, learning_discount, self.threads)
        reader = Reader(data, passes=1, threads=self.threads)
        work = partial(advantage_sums, memory, value, learning_discount, trace(len(data)), self.threads)
        sums = reader.sum("advantages", work)
        ((weights, noise),) = solved_advantages(memory, sums.grams, [sums.moments])
        return memory.policy(weights, TEMPERATURE * noise if self.temperature is None else self.temperature)

    def _diagnostics(self, data: Trajectories, choice: Choice, trainer: CloneTrainer) -> dict[str, Any]:
        observations, actions = trainer.layouts[-1].shared
        return {
            "learner": "BeliefQ",
            "episodes": len(data),
            "steps": data.n_steps,
            "models": choice.models,
            "states_evidence": choice.likelihoods,
            "learning_discount": choice.learning_discount,
            "learning_discount_evidence": choice.gains,
            "rare_observations": observations,
            "rare_actions": actions,
            "temperature": self.policy_.temperature,
            "notes": [],
        }
