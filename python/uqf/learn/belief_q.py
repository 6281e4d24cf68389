"""BeliefQ: beliefs of cloned hidden Markov models, and advantages that are linear in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Self, cast

import numpy as np

from uqf import _core
from uqf.episodes.checks import positive
from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.trajectories import Trajectories
from uqf.estimator import clone
from uqf.learn.improve.discounts import (
    MIN_EPISODES,
    Halves,
    LearningDiscount,
    learning_discounts,
    longest_as_good,
)
from uqf.learn.improve.on_beliefs import improved_on_beliefs, uninformed
from uqf.learn.improve.regression import Regression, Softmax
from uqf.learn.improve.values import improved
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.models import Models, Trainer
from uqf.learn.memory.sample import Sample
from uqf.learn.memory.training import Training
from uqf.policies.policy import BeliefPolicy
from uqf.reading.overview import Overview
from uqf.reading.parallel import single_blas
from uqf.reading.progress import Callback
from uqf.reading.reader import Reader
from uqf.reading.shards import Data, Workers, checked_data


@dataclass(frozen=True)
class Begun:
    """What a learner goes on from: models that know some episodes, and the learning discount chosen with them."""

    models: Models
    discount: LearningDiscount
    finished: bool = False
    """Whether the models are taken as they are, and only the policy is learned from the episodes."""


@dataclass(eq=False, repr=False)
class BeliefQ(Learner):
    """Learns a belief state, the value of the logging policy on it, and the advantage of every action.

    The belief is over the states of hidden Markov models, trained by Baum and Welch's method from several random
    starts. They are cloned (every state shows one observation) or, where held-out episodes are likelier that way,
    noisy (a state may show anything). Values are linear in the beliefs of all models: one
    least-squares temporal-difference solve and one ridge regression per action. The best learner from a fixed log
    on every aliased world of ours.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    states : int
        Hidden states of the largest models. A quarter and a fifteenth are tried as well; simple worlds are learned
        better by small models. See `uqf.learn.memory.models` for how the sizes are chosen on held-out episodes.
    models : int
        Number of models whose beliefs stand side by side.
    learning_discount : float, optional
        Discount of the learned advantages, at most `discount`. By default the one whose improvement is most
        significant on held-out episodes: short horizons have less noise, long ones less bias.
    temperature : float, optional
        0 acts greedily, more draws actions from softmax(q_values / temperature). By default in proportion to the
        standard error of the learned values.
    seed : int
        Of the random starts; the same seed gives the same bits.
    threads : int, optional
        All cores by default.

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("tiger")
    >>> learner = uqf.BeliefQ(0.95, states=4, models=2).fit(uqf.rollout(env, episodes=1000, seed=0))
    >>> uqf.estimate_return(env, learner.policy_, episodes=1000, seed=1).mean > 0
    True
    """

    policy_: BeliefPolicy = field(init=False)
    discount: float = 0.99
    _: KW_ONLY
    states: int = 60
    models: int = 4
    learning_discount: float | None = None
    temperature: float | None = None
    seed: int = 0
    threads: int | None = None

    def _check(self) -> None:
        """Refuses parameters before anything is read."""
        checked_temperature(self.temperature)
        positive("models", self.models)
        positive("states", self.states)

    def _fit(self, data: Data, kept: Begun | None, executor: Workers, progress: Callback | None) -> Self:
        self._check()
        reader = Reader(data, threads=self.threads, executor=executor, progress=progress)
        with single_blas():
            (overview,) = self._learn_tasks([self], [reader], kept)
        return self._keep_origin(reader.fingerprint, overview.sample)

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
                f"tasks of {sorted(sizes)} actions and observations: one world has but one number of each"
            )
        self._check()
        learners: list[BeliefQ] = [clone(self) for _ in tasks]
        readers = [Reader(data, threads=self.threads) for data in tasks]
        with single_blas():
            self._learn_tasks(learners, readers, None)
        return [one._keep_origin(fingerprint(data), data) for one, data in zip(learners, tasks, strict=True)]

    def go_on(
        self, begun: Begun, data: Data, *, executor: Workers = None, progress: Callback | None = None
    ) -> Self:
        """A new learner like this one whose models go on with these episodes; nothing is chosen anew."""
        learner: Self = clone(self)
        return learner._fit(data, begun, executor, progress)

    def improve(self, data: Trajectories, base: BeliefPolicy | None, temperature: float) -> BeliefPolicy:
        """One step of policy iteration: the policy `base` that collected `data`, improved on its own beliefs.

        The advantages of every action, linear in the beliefs, are added to the values of `base`, in units of
        `temperature` times the spread of the returns. None is the uniform policy: models are then trained on `data`.
        The learner itself is not changed.
        """
        checked_data(data)
        base = clone(self).fit(data).uninformed() if base is None else base
        if base.temperature == 0.0:
            raise ValueError("base acts greedily: give base.with_temperature(…), the unit of its values")
        with single_blas():
            return improved_on_beliefs(base, data, self.discount, temperature, self.threads)

    def uninformed(self) -> BeliefPolicy:
        """The uniform policy on the beliefs of the fitted models: what `improve` begins with."""
        return uninformed(cast(BeliefPolicy, self._fitted()))

    def _learn_tasks(
        self, learners: list[BeliefQ], readers: list[Reader], kept: Begun | None
    ) -> list[Overview]:
        """One belief state for all tasks, and a policy for each learner."""
        settings, (overviews, trainer) = Regression(), self._begun(readers)
        if kept is not None:
            models, discounts = kept.models, [kept.discount]
        else:
            models, halves = self._compared(trainer)
            discounts = [LearningDiscount(self._discounts()[-1], {})] * len(learners)
            if halves:
                discounts = chosen_discounts(models, *halves, self._discounts(), settings, self.threads)
        models = models if kept is not None and kept.finished else trainer.finished(models)
        observations, actions = trainer.layouts[-1].shared
        for task, (learner, reader, overview) in enumerate(zip(learners, readers, overviews, strict=True)):
            memory = models.memory(reader.source.n_actions, task)
            first = trainer.sample.first(settings.value_steps).of_task(task)
            learner.policy_ = learner._policy(memory, first, overview, reader, discounts[task].value)
            learner._kept = Begun(models, discounts[task])
            learner.diagnostics_ = learner._diagnostics(overview) | {
                "steps_for_models": trainer.sample.data.n_steps,
                "rare_observations": observations,
                "rare_actions": actions,
            }
        readers[0].reporter.finish()
        return overviews

    def models_of(self, data: Data) -> list[_core.CloneModels]:
        """What `families_` is after `fit`, to whoever wants neither values nor a policy."""
        self._check()
        _, trainer = self._begun([Reader(data, threads=self.threads)])
        with single_blas():
            return trainer.finished(self._compared(trainer)[0]).trained

    def _begun(self, readers: list[Reader]) -> tuple[list[Overview], Trainer]:
        """What was read of each task, and who trains models of all."""
        training = Training(self.states, self.models)
        overviews = [Overview.read(one, training.max_steps // len(readers), self.seed) for one in readers]
        parts, first = [overview.known(overview.sample) for overview in overviews], readers[0]
        sample = Sample.of(parts, [overview.priorities for overview in overviews])
        return overviews, Trainer(sample, training, self.seed, self.threads, first.executor, first.reporter)

    def _compared(self, trainer: Trainer) -> tuple[Models, tuple[Sample, Sample] | None]:
        """Models of the likeliest size, and the halves that showed it; none in short logs."""
        if min(np.bincount(trainer.sample.tasks)) < 2 * MIN_EPISODES:
            return trainer.largest(), None
        train, test = (half.first(trainer.training.compared_steps) for half in trainer.sample.halves)
        return trainer.compared(train, test), (train, test)

    def _discounts(self) -> list[float]:
        return learning_discounts(self.discount, self.learning_discount)

    @property
    def families_(self) -> list[_core.CloneModels]:
        """The trained models, those of one size together."""
        self._fitted()
        return cast(Begun, self._kept).models.trained

    @property
    def noisy_(self) -> bool:
        """Whether the states of the models may show anything."""
        return self.families_[0].noisy

    def _policy(
        self,
        memory: BeliefMemory,
        sample: Trajectories,
        overview: Overview,
        reader: Reader,
        learning_discount: float,
    ) -> BeliefPolicy:
        """What is decided on the beliefs: the policy of the log, improved."""
        softmax = improved(memory, sample, overview, reader, learning_discount, Regression())
        return belief_policy(memory, softmax, self.temperature)

    def _diagnostics(self, overview: Overview) -> dict[str, object]:
        models, discount = self._kept.models, self._kept.discount
        return {
            "learner": type(self).__name__,
            "episodes": overview.episodes,
            "steps": overview.steps,
            "models": {family.states: family.wanted for family in models.families},
            "states_evidence": models.likelihoods,
            "noisy": models.noisy,
            "noisy_evidence": models.noisy_likelihood,
            "learning_discount": discount.value,
            "learning_discount_evidence": discount.gains,
            "temperature": self.policy_.temperature,
            "notes": [],
        }


def belief_policy(
    memory: BeliefMemory, softmax: Softmax, temperature: float | None, noisy_share: float = 0.25
) -> BeliefPolicy:
    """The policy with these values on the beliefs, at `temperature` or by default at that of `softmax`.

    Of that, noisy models need only the share `noisy_share`: chance in what they show leads out of the circles that a
    policy without chance of its own runs into.
    """
    usual = softmax.temperature * (noisy_share if memory.families[0].noisy else 1.0)
    return memory.policy(softmax.weights, usual if temperature is None else temperature)


def chosen_discounts(
    models: Models,
    train: Sample,
    test: Sample,
    discounts: list[float],
    settings: Regression,
    threads: int | None,
    cells: int = 4_000_000,
) -> list[LearningDiscount]:
    """For every task, the learning discount whose improvement is most significant on `test`; learned from `train`.

    On noisy models the longest that is about as good. Feature matrices have `cells` numbers at most.
    """
    n_actions, tasks = train.data.n_actions, range(1 + max(train.tasks.max(), test.tasks.max()))
    if len(discounts) == 1:
        return [LearningDiscount(discounts[0], {}) for _ in tasks]
    width = 1 + sum(family.n_features for family in models.trained)
    halves = [half.first(cells // max(width, n_actions)) for half in (train, test)]
    chosen = []
    for task in tasks:
        one, other = (half.of_task(task) for half in halves)
        gains = Halves(models.memory(n_actions, task), one, other, settings, threads).gains(discounts)
        best = longest_as_good(gains) if models.noisy else max(gains, key=gains.__getitem__)
        chosen.append(LearningDiscount(best, gains))
    return chosen
