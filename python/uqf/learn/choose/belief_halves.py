"""`BeliefQ` taught by either half of some episodes: settings are chosen once, and the models go on together."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache, cached_property

from sklearn.base import clone

from uqf import _core
from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.trajectories import Trajectories
from uqf.learn.belief_q import BeliefQ, Kept
from uqf.learn.improve.advantages import VALUE_STEPS
from uqf.learn.improve.belief_choice import Choice, choose
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.clones import (
    MAX_STEPS,
    SETTLE,
    CloneTrainer,
    Plan,
)
from uqf.learn.memory.moments import Start
from uqf.learn.memory.sample import Sample
from uqf.reading.overview import Overview, overview
from uqf.reading.parallel import single_blas
from uqf.reading.progress import Callback, Reporter
from uqf.reading.reader import Reader
from uqf.reading.shards import Workers


class BeliefHalves:
    """Learners of either half, with one choice of sizes and learning discount: the second half judges the first.

    `BeliefQ.fit` chooses in the same way, so a learner of all episodes chooses no more: it goes on with the models
    of both halves. All else, models and values, is learned from one half alone, when it is first asked for; only
    how often observations and rewards occur is counted in both.

    tell : the callback of a half, asked for when its work begins
    """

    def __init__(
        self,
        learner: BeliefQ,
        halves: tuple[Trajectories, Trajectories],
        executor: Workers = None,
        tell: Callable[[int], Callback | None] = lambda half: None,
    ) -> None:
        self.learner, self._halves, self._executor, self._tell = learner, halves, executor, tell
        self.models, self.taught = cache(self._begun), cache(self._taught)
        self._reader, self._second = cache(self._reading), False

    def longer(self) -> BeliefHalves:
        """The same learners with models that were trained as long as those of `BeliefQ.fit`, and are as many."""
        other = copy(self)
        other.models, other.taught = cache(self._finished), cache(other._taught)
        return other

    def _finished(self, half: int) -> list[_core.CloneModels]:
        """Trained on one half of the episodes first: plans of models that saw all at once were worse."""
        self._trainer.reporter = Reporter(None)
        sample, trainer = self._samples[half], self._trainer.on(self._samples[half])
        with single_blas():
            begun = self._fresh(sample.halves[0])
            return trainer.finished(
                [replace(plan, begun=one) for plan, one in zip(self._plans, begun, strict=True)]
            )

    def _fresh(self, sample: Sample) -> list[_core.CloneModels]:
        """As many as `choose` begins with, of the sizes that it chose."""
        start, plans = Start.of(sample, self._trainer.layouts[-1]), self._plans
        return [
            self._trainer.fresh(start, plan.layout, range(len(plan.begun or ())), SETTLE, "training")
            for plan in plans
        ]

    def _begun(self, half: int) -> list[_core.CloneModels]:
        """The models of one half, those of one size together: those that chose, or as many new ones."""
        trainer = self._trainer
        trainer.reporter = self._reader(half).reporter
        plans = self._plans
        if half == 0:
            return [plan.begun for plan in plans if plan.begun is not None]
        self._second = True
        with single_blas():
            return self._fresh(self._samples[1])

    def _taught(self, half: int) -> BeliefQ:
        """The learner of one half."""
        families, overview = self.models(half), self._overviews[half]
        learner: BeliefQ = clone(self.learner)
        memory = BeliefMemory(families, self._halves[half].n_actions)
        few = self._samples[half].first(VALUE_STEPS).data
        discount = self._choice.learning_discount
        with single_blas():
            learner.policy_ = learner._policy(memory, few, self._reader(half), overview, discount)
        learner.diagnostics_ = learner._diagnostics(overview, self._choice, self._trainer)
        self._keep(learner, families)
        return learner._keep_origin(fingerprint(self._halves[half]), overview.sample)

    def joined(self, learner: BeliefQ) -> BeliefQ:
        """The same learner; `refit` goes on with the models of both halves, if the second has any."""
        families = self.models(0)
        if self._second:
            pairs = zip(self._plans, families, self.models(1), strict=True)
            families = [_both(one, other, plan.models) for plan, one, other in pairs]
        self._keep(learner, families)
        return learner

    def _keep(self, learner: BeliefQ, families: list[_core.CloneModels]) -> None:
        learner._kept = Kept(
            families, self._trainer.codes, self._choice, [plan.models for plan in self._plans]
        )

    @cached_property
    def _overviews(self) -> list[Overview]:
        return [overview(MAX_STEPS // 2, self.learner.seed, half) for half in self._halves]

    @cached_property
    def _samples(self) -> tuple[Sample, Sample]:
        first, second = (Sample.of([one.known(one.sample)], [one.priorities]) for one in self._overviews)
        return first, second

    def _reading(self, half: int) -> Reader:
        return Reader(
            self._halves[half],
            threads=self.learner.threads,
            executor=self._executor,
            progress=self._tell(half),
        )

    @cached_property
    def _trainer(self) -> CloneTrainer:
        learner, both, silent = self.learner, Sample.joined(self._samples), Reporter(None)
        threads = 1 if learner.threads is None and self._executor is not None else learner.threads
        return CloneTrainer(both, learner.states, learner.seed, threads, self._executor, silent)

    @cached_property
    def _chosen(self) -> tuple[list[Plan], Choice]:
        discounts = self.learner._discounts()
        with single_blas():
            plans, (choice,) = choose(self._trainer, self.learner.models, discounts, self._samples)
        return plans, choice

    @property
    def _plans(self) -> list[Plan]:
        return self._chosen[0]

    @property
    def _choice(self) -> Choice:
        return self._chosen[1]


def _both(one: _core.CloneModels, other: _core.CloneModels, wanted: int) -> _core.CloneModels:
    """About as many of one as of the other."""
    second = wanted // 2
    first = one.cut(0, wanted - second)
    return first.plus(other.cut(0, second)) if second else first
