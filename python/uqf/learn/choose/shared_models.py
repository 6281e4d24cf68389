"""Models of either part of some episodes, for all candidates that act on beliefs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property

from uqf.episodes.trajectories import Trajectories
from uqf.learn.belief_q import Begun, BeliefQ, chosen_discounts
from uqf.learn.improve.discounts import learning_discounts
from uqf.learn.improve.regression import Regression
from uqf.learn.memory.models import Trainer
from uqf.learn.memory.sample import Sample
from uqf.learn.memory.training import Training
from uqf.reading.overview import overview
from uqf.reading.parallel import single_blas
from uqf.reading.progress import Callback, Reporter, within
from uqf.reading.shards import Workers


class SharedModels:
    """What learners of the parts go on from; sizes and the learning discount are chosen once, as `BeliefQ.fit` does.

    They are learned from the first part and judged by the second. All else is learned from one part alone, when it is
    first needed, but for how often observations and rewards occur.
    """

    def __init__(
        self,
        learner: BeliefQ,
        parts: tuple[Trajectories, Trajectories],
        executor: Workers,
        callback: Callback | None,
    ) -> None:
        self.learner, self._callback, self._second = learner, callback, False
        self._training = Training(learner.states, learner.models)
        views = [overview(self._training.max_steps // 2, learner.seed, part) for part in parts]
        self._samples = [Sample.of([one.known(one.sample)], [one.priorities]) for one in views]
        threads = 1 if learner.threads is None and executor is not None else learner.threads
        both = Sample.joined(self._samples)
        self._trainer = Trainer(both, self._training, learner.seed, threads, executor)
        #: What a learner of a part, 0 or 1, goes on from.
        self.of = cache(self._begun)

    @property
    def of_all(self) -> Begun:
        """What a learner of all episodes goes on from."""
        first = self.of(0)
        models = first.models.joined(self.of(1).models) if self._second else first.models
        return replace(first, models=models, finished=False)

    def _begun(self, part: int) -> Begun:
        if part == 0:
            return self._first
        first, self._second = self._first, True
        self._trainer.reporter = Reporter(within(self._callback, "second models"))
        with single_blas():
            models = self._trainer.fresh(first.models, self._samples[1])
        return replace(first, models=models)

    @cached_property
    def _first(self) -> Begun:
        self._trainer.reporter = Reporter(within(self._callback, "models"))
        train, test = (sample.first(self._training.compared_steps) for sample in self._samples)
        discounts = learning_discounts(self.learner.discount, self.learner.learning_discount)
        with single_blas():
            models = self._trainer.compared(train, test)
            (discount,) = chosen_discounts(
                models, train, test, discounts, Regression(), self._trainer.threads
            )
        return Begun(models, discount, finished=True)
