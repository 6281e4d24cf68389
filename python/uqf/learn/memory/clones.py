"""Hidden Markov models, cloned or noisy: how large, how many, how long they are trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from uqf import _core
from uqf.learn.memory.moments import MIN_GUESS, Start
from uqf.learn.memory.prediction import with_all_episodes
from uqf.learn.memory.sample import Sample
from uqf.reading.map_reduce import map_reduce
from uqf.reading.progress import Reporter
from uqf.reading.shards import Workers

#: Sizes that are tried, in parts of the largest.
FRACTIONS = (15, 4, 1)

#: Steps that models see at most.
MAX_STEPS = 300_000

#: Iterations of a fresh model, of one that goes on with more episodes, and of the averages at the end: while sizes are
#: compared, where there is but one size, and finally (or one for every so many steps, if that is more).
EXPLORE = 40
GO_ON = 10
SETTLE = 16
SINGLE_SETTLE = 4
FINAL_SETTLE = 20
STEPS_PER_SETTLING = 10_000

#: Steps on which sizes are compared at most, on either side.
MAX_COMPARED = 150_000

#: Noisy models, in which a state may show anything, are tried where there are at least so many observations, and two
#: states for each: clones spend a state on every pair of a place and an observation, which is few where there are few.
MIN_NOISY = 5

#: Groups of held-out episodes, and by how many standard errors over them a larger size must be likelier.
GROUPS = 20
MIN_EVIDENCE = 2.0

#: Fewer models are trained where each has many states: the regressions cost the square of their sum.
MAX_FEATURES = 480

#: ("action" or "observation", code) of all that occurs in some episodes.
Codes = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Training:
    """How models are trained on a sample; it can be pickled."""

    sample: Sample
    explore: int
    settle: int
    seed: int

    def __call__(
        self,
        task: tuple[int, _core.CloneModels],
        tick: Callable[[int], object] | None = None,
        threads: int | None = 1,
    ) -> _core.CloneModels:
        """Trains models, numbered from the first number on."""
        first, models = task
        return models.trained(
            self.sample.data,
            explore=self.explore,
            settle=self.settle,
            first=first,
            seed=self.seed,
            tasks=self.sample.tasks,
            threads=threads,
            progress=tick,
        )


@dataclass(frozen=True)
class Plan:
    """Models that shall be trained: their layout, how many, and those that have begun on some of the episodes."""

    layout: _core.CloneLayout
    models: int
    begun: _core.CloneModels | None


class CloneTrainer:
    """Trains models of one or several tasks and chooses their size by the likelihood of held-out episodes.

    With an executor, every model is trained by a worker of its own; the models are the same.
    """

    def __init__(
        self,
        sample: Sample,
        states: int,
        seed: int,
        threads: int | None,
        executor: Workers,
        reporter: Reporter,
    ) -> None:
        self.sample, self.seed, self.threads = sample, seed, threads
        self.executor, self.reporter = executor, reporter
        self._settle = settling(sample.data.n_steps)
        self._start: Start | None = None
        layouts = [
            _core.CloneLayout(sample.data, states=max(1, states // part), tasks=sample.tasks)
            for part in FRACTIONS
        ]
        #: By increasing size; a smaller one that hardly differs is left out. Noisy ones come last.
        self.layouts = [layouts[-1]]
        for layout in layouts[-2::-1]:
            if 2 * layout.n_states <= self.layouts[0].n_states:
                self.layouts.insert(0, layout)
        shown = len(np.unique(sample.data.observations))
        if MIN_NOISY <= shown <= states // 2:
            self.layouts.append(_core.CloneLayout(sample.data, states=states, tasks=sample.tasks, noisy=True))

    def on(self, sample: Sample) -> CloneTrainer:
        """Trains models of the same layouts on other episodes."""
        other = copy(self)
        other.sample, other._settle, other._start = sample, settling(sample.data.n_steps), None
        return other

    def n_models(self, wanted: int, layout: _core.CloneLayout) -> int:
        """As many models as wanted, unless they are large."""
        return min(wanted, max(1, MAX_FEATURES // layout.n_states))

    def fresh(
        self, start: Start, layout: _core.CloneLayout, numbers: range, settle: int, stage: str
    ) -> _core.CloneModels:
        """New models, numbered for their random streams."""
        training = Training(start.sample, EXPLORE, settle, self.seed)
        return self._trained(start.models(layout, numbers, self.seed), training, numbers.start, stage)

    def _trained(
        self, models: _core.CloneModels, training: Training, first: int, stage: str
    ) -> _core.CloneModels:
        states, count = models.n_features // len(models), len(models)
        stage = f"{stage}, {states} {'noisy ' if models.noisy else ''}states"
        if self.executor is None:
            steps = training.sample.data.n_steps
            self.reporter.enter(
                stage, count * _core.CloneLayout.work(states, steps, training.explore, training.settle)
            )
            return training((first, models), self.reporter.reach, self.threads)
        self.reporter.enter(stage, count)
        alone = [(first + number, models.cut(number, number + 1)) for number in range(count)]
        return map_reduce(
            training,
            alone,
            _core.CloneModels.plus,
            executor=self.executor,
            tick=lambda _: self.reporter.advance(1),
        )

    def compare(
        self, train: Sample, test: Sample, models: int
    ) -> tuple[list[int], list[float], list[_core.CloneModels]]:
        """(layouts chosen, log-likelihood of a held-out step by layout, models of every layout).

        The likelihoods are those to be expected of models trained on all episodes. A size is adequate if no larger one
        is likelier by two standard errors. If even the smallest is, that is the world. Otherwise the next larger size
        is taken as well: regressions on beliefs suffer less from states that are too many than the likelihood does.
        Noisy models are taken alone, if they are likelier than clones.
        """
        groups = [part for part in np.array_split(np.arange(len(test.data)), GROUPS) if len(part)]
        weights = np.array([test.data[part].n_steps for part in groups])
        trained, found = [], []
        start = Start.of(train, self.layouts[-1])
        if start.guess.data.n_steps >= MIN_GUESS:
            self._start = replace(start, sample=self.sample)
        settle = SETTLE if len(self.layouts) > 1 else SINGLE_SETTLE
        for layout in self.layouts:
            fitted = self.fresh(start, layout, range(self.n_models(models, layout)), settle, "choosing")
            trained.append(fitted)
            if len(self.layouts) > 1:
                judged = [np.mean(fitted.score(test.data[part], tasks=test.tasks[part])) for part in groups]
                own = float(np.mean(fitted.score(train.data, tasks=train.tasks)))
                found.append(with_all_episodes(own, np.array(judged) * weights, weights))
        adequate = 0
        for number in range(1, len(self.layouts)):
            more = found[number] - found[adequate]
            spread = float(more.std(ddof=1)) / np.sqrt(len(more)) if len(more) > 1 else np.inf
            if more.mean() > MIN_EVIDENCE * spread:
                adequate = number
        sizes = len(self.layouts) - self.layouts[-1].noisy
        likelihoods = [float(one.sum() / weights.sum()) for one in found]
        return [adequate, adequate + 1] if 0 < adequate < sizes - 1 else [adequate], likelihoods, trained

    def finished(self, plans: Sequence[Plan]) -> list[_core.CloneModels]:
        """Models of every plan: those that know some of the episodes go on with all of them, new ones join."""
        families = []
        for plan in plans:
            have, found = len(plan.begun or ()), []
            if plan.begun is not None:
                training = Training(self.sample, GO_ON, self._settle, self.seed)
                found.append(self._trained(plan.begun, training, 0, "training"))
            if plan.models > have:
                self._start = self._start or Start.of(self.sample, self.layouts[-1])
                numbers = range(have, plan.models)
                found.append(
                    self.fresh(self._start, plan.layout, numbers, self._settle, "training new models")
                )
            families.append(reduce(_core.CloneModels.plus, found))
        return families

    def carried_on(
        self, families: list[_core.CloneModels], counts: Sequence[int], codes: Codes
    ) -> list[Plan]:
        """Plans for families that know other episodes: those that lacked some `codes` of these begin anew."""
        plans = []
        for models, count in zip(families, counts, strict=True):
            states = models.n_features // len(models)
            alike = [one for one in self.layouts if one.noisy == models.noisy]
            layout = min(alike or self.layouts, key=lambda one: abs(one.n_states - states))
            plans.append(Plan(layout, count, models if alike and self.codes <= codes else None))
        return plans

    @property
    def codes(self) -> Codes:
        """Actions and observations that occur."""
        listed = (("action", self.sample.data.actions), ("observation", self.sample.data.observations))
        return frozenset((kind, int(code)) for kind, codes in listed for code in np.unique(codes))


def settling(steps: int) -> int:
    """Iterations of the averages at the end, for so many steps."""
    return max(FINAL_SETTLE, steps // STEPS_PER_SETTLING)
