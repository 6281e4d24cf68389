"""`BeliefQ` of either half of some episodes: settings are chosen once, and the models go on together."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache, cached_property

from sklearn.base import clone

from uqf import _core
from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.trajectories import Trajectories
from uqf.learn.belief_q import Begun, BeliefQ, chosen_discounts
from uqf.learn.improve.discounts import LearningDiscount, learning_discounts
from uqf.learn.improve.regression import Regression
from uqf.learn.memory.models import Models, Trainer
from uqf.learn.memory.sample import Sample
from uqf.learn.memory.training import Training
from uqf.reading.overview import Overview, overview
from uqf.reading.parallel import single_blas
from uqf.reading.progress import Callback, Reporter
from uqf.reading.reader import Reader
from uqf.reading.shards import Workers


class BeliefHalves:
    """Learners of either half, with one choice of sizes and learning discount: the second half judges the first.

    All else, models and values, is learned from one half alone, when it is first asked for; only how often observations
    and rewards occur is counted in both.

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
        self._of, self.taught = cache(self._begun), cache(self._taught)
        self._reader, self._second = cache(self._reading), False

    def models(self, half: int) -> list[_core.CloneModels]:
        """Those of one half, of one size together."""
        return self._of(half).trained

    def longer(self) -> BeliefHalves:
        """The same learners with models that were trained as long as those of `BeliefQ.fit`, and are as many."""
        other = copy(self)
        other._of, other.taught = cache(self._finished), cache(other._taught)
        return other

    def _finished(self, half: int) -> Models:
        """Trained on one half of the episodes first: plans of models that saw all at once were worse."""
        self._trainer.reporter, sample = Reporter(None), self._samples[half]
        with single_blas():
            begun = self._trainer.fresh(self._chosen, sample.halves[0])
            return self._trainer.on(sample).finished(begun)

    def _begun(self, half: int) -> Models:
        """Those that chose, or as many new ones."""
        self._trainer.reporter = self._reader(half).reporter
        chosen = self._chosen
        if half == 0:
            return chosen
        self._second = True
        with single_blas():
            return self._trainer.fresh(chosen, self._samples[1])

    def _taught(self, half: int) -> BeliefQ:
        """The learner of one half."""
        models, view, data = self._of(half), self._overviews[half], self._halves[half]
        learner: BeliefQ = clone(self.learner)
        few = self._samples[half].first(Regression().value_steps).data
        with single_blas():
            learner.policy_ = learner._policy(
                models.memory(data.n_actions), few, view, self._reader(half), self._discount.value
            )
        learner._kept = Begun(models, self._discount)
        learner.diagnostics_ = learner._diagnostics(view)
        return learner._keep_origin(fingerprint(data), view.sample)

    def joined(self, learner: BeliefQ) -> BeliefQ:
        """The same learner; `refit` goes on with the models of both halves, if the second has any."""
        models = self._of(0).joined(self._of(1)) if self._second else self._of(0)
        learner._kept = Begun(models, self._discount)
        return learner

    @cached_property
    def _overviews(self) -> list[Overview]:
        return [overview(Training().max_steps // 2, self.learner.seed, half) for half in self._halves]

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
    def _trainer(self) -> Trainer:
        learner, both = self.learner, Sample.joined(self._samples)
        threads = 1 if learner.threads is None and self._executor is not None else learner.threads
        training = Training(learner.states, learner.models)
        return Trainer(both, training, learner.seed, threads, self._executor)

    @cached_property
    def _chosen(self) -> Models:
        halves = [half.first(Training().compared_steps) for half in self._samples]
        with single_blas():
            return self._trainer.compared(*halves)

    @cached_property
    def _discount(self) -> LearningDiscount:
        learner, halves = self.learner, [half.first(Training().compared_steps) for half in self._samples]
        discounts = learning_discounts(learner.discount, learner.learning_discount)
        with single_blas():
            (chosen,) = chosen_discounts(
                self._chosen, *halves, discounts, Regression(), self._trainer.threads
            )
        return chosen
