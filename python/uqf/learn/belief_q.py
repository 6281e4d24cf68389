"""BeliefQ: beliefs of cloned hidden Markov models, and advantages that are linear in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Self

from sklearn.base import clone

from uqf import _core
from uqf.episodes.checks import positive
from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.advantages import (
    TEMPERATURE,
    VALUE_STEPS,
    Equations,
    Regression,
    Softmax,
    advantage_sums,
    learned_value,
    swept_again,
    trace,
)
from uqf.learn.improve.belief_choice import Choice, choose
from uqf.learn.improve.discounts import learning_discounts
from uqf.learn.learner import Learner, checked_temperature
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.clones import (
    MAX_STEPS,
    CloneTrainer,
    Codes,
)
from uqf.learn.memory.features import Parts
from uqf.learn.memory.sample import Sample
from uqf.policies.policy import BeliefPolicy
from uqf.reading.overview import Overview
from uqf.reading.parallel import single_blas
from uqf.reading.progress import Callback
from uqf.reading.reader import Reader
from uqf.reading.shards import Data, Workers

#: Of the usual temperature, where models are noisy: chance in what is shown leads out of the circles that a policy
#: without chance of its own runs into.
NOISY_SHARE = 0.25


@dataclass(frozen=True)
class Kept:
    """What a learner that goes on with more episodes keeps."""

    families: list[_core.CloneModels]
    codes: Codes
    choice: Choice
    counts: list[int]
    """How many models of every family shall be trained."""


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
        better by small models. See `uqf.learn.memory.clones` for how the sizes are chosen on held-out episodes.
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

    def _fit(self, data: Data, kept: Kept | None, executor: Workers, progress: Callback | None) -> Self:
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

    def _learn_tasks(
        self, learners: list[BeliefQ], readers: list[Reader], kept: Kept | None
    ) -> list[Overview]:
        """One belief state for all tasks, and a policy for each learner."""
        discounts = self._discounts()
        reporter, executor = readers[0].reporter, readers[0].executor
        overviews = [Overview.read(reader, MAX_STEPS // len(readers), self.seed) for reader in readers]
        parts = [overview.known(overview.sample) for overview in overviews]
        sample = Sample.of(parts, [overview.priorities for overview in overviews])
        trainer = CloneTrainer(sample, self.states, self.seed, self.threads, executor, reporter)
        if kept is None:
            plans, choices = choose(trainer, self.models, discounts)
        else:
            plans, choices = trainer.carried_on(kept.families, kept.counts, kept.codes), [kept.choice]
        counts = [plan.models for plan in plans]
        families = trainer.finished(plans)
        tasks = zip(learners, readers, overviews, choices, strict=True)
        for number, (learner, reader, overview, choice) in enumerate(tasks):
            memory = BeliefMemory([models.for_task(number) for models in families], reader.source.n_actions)
            few = sample.first(VALUE_STEPS).of_task(number)
            learner.policy_ = learner._policy(memory, few, reader, overview, choice.learning_discount)
            learner.diagnostics_ = learner._diagnostics(overview, choice, trainer)
            learner._kept = Kept(families, trainer.codes, choice, counts)
        reporter.finish()
        return overviews

    def _discounts(self) -> list[float]:
        return learning_discounts(self.discount, self.learning_discount)

    @property
    def families_(self) -> list[_core.CloneModels]:
        """The trained models, those of one size together."""
        self._fitted()
        kept: Kept = self._kept
        return kept.families

    @property
    def noisy_(self) -> bool:
        """Whether the states of the models may show anything."""
        return self.families_[0].noisy

    def _policy(
        self,
        memory: BeliefMemory,
        sample: Trajectories,
        reader: Reader,
        overview: Overview,
        learning_discount: float,
    ) -> BeliefPolicy:
        """The softmax policy of the advantages that are linear in the beliefs of the models."""
        reader.reporter.enter("values", sample.n_steps)
        few = Parts(memory, sample, self.threads)
        value = learned_value(few, learning_discount)
        regression = Regression(memory, value, learning_discount, trace(overview.episodes))
        whole = sample.n_steps == overview.steps
        if whole and reader.in_memory:
            reader.reporter.enter("advantages", sample.n_steps)
            sums = regression.sums(few)
        else:
            work = partial(advantage_sums, regression, overview.without_sample(), self.threads)
            sums = reader.sum("advantages", work)
        equations = Equations(memory, sums.grams)
        ((weights, noise),) = equations.solved([sums.moments])
        reader.reporter.enter("second sweep", sample.n_steps)
        first = Softmax(weights, noise, TEMPERATURE * noise)
        last = swept_again(few, first, equations if whole else None, learning_discount, trace(len(sample)))
        usual = last.temperature * (NOISY_SHARE if memory.families[0].noisy else 1.0)
        return memory.policy(last.weights, usual if self.temperature is None else self.temperature)

    def _diagnostics(self, overview: Overview, choice: Choice, trainer: CloneTrainer) -> dict[str, object]:
        observations, actions = trainer.layouts[-1].shared
        return {
            "learner": type(self).__name__,
            "episodes": overview.episodes,
            "steps": overview.steps,
            "steps_for_models": trainer.sample.data.n_steps,
            "models": choice.models,
            "states_evidence": choice.likelihoods,
            "noisy": choice.noisy,
            "noisy_evidence": choice.noisy_likelihood,
            "learning_discount": choice.learning_discount,
            "learning_discount_evidence": choice.gains,
            "rare_observations": observations,
            "rare_actions": actions,
            "temperature": self.policy_.temperature,
            "notes": [],
        }
