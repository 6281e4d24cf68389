"""Hidden Markov models, cloned or noisy: which sizes suit some episodes, and their training.

A *family* is the models of one size. `Trainer.compared` chooses sizes on held-out episodes, `Trainer.fresh` begins
models of the same sizes on other episodes, and `Trainer.finished` goes on with whatever has begun.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.moments import Start
from uqf.learn.memory.sample import Sample
from uqf.learn.memory.training import Schedule, Training
from uqf.reading.map_reduce import map_reduce
from uqf.reading.progress import Reporter
from uqf.reading.shards import Workers

#: ("action" or "observation", code) of all that occurs in some episodes.
Codes = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Family:
    """Models of one size: how many states each has, how many models there shall be, and those that have begun."""

    states: int
    noisy: bool
    wanted: int
    models: _core.CloneModels | None


@dataclass(frozen=True)
class Models:
    """Models of the chosen sizes, and why these were chosen; enough to go on with other episodes.

    families : by increasing size; codes : all that occurs in the episodes that chose
    likelihoods : mean log-likelihood of a held-out step by number of states, expected of models that are trained on all
        episodes; {} where nothing was compared. noisy_likelihood : that of noisy models, if there were any
    """

    families: list[Family]
    codes: Codes
    likelihoods: dict[int, float]
    noisy_likelihood: float | None = None

    @property
    def trained(self) -> list[_core.CloneModels]:
        """The models of every family that has begun."""
        return [family.models for family in self.families if family.models is not None]

    @property
    def noisy(self) -> bool:
        """Whether a state may show anything."""
        return self.families[0].noisy

    def memory(self, n_actions: int, task: int = 0) -> BeliefMemory:
        """The beliefs of all models as numbers for regressions."""
        return BeliefMemory([models.for_task(task) for models in self.trained], n_actions)

    def joined(self, other: Models) -> Models:
        """About as many models of these as of others that the same trainer began."""
        pairs = zip(self.families, other.families, strict=True)
        return replace(self, families=[_both(one, two) for one, two in pairs])


def _both(one: Family, other: Family) -> Family:
    second = one.wanted // 2
    if one.models is None or other.models is None or second == 0:
        return one
    return replace(one, models=one.models.cut(0, one.wanted - second).plus(other.models.cut(0, second)))


class Trainer:
    """Trains models of the episodes of a sample, of one task or several, and chooses their sizes.

    With an executor, every model is trained by a worker of its own; the models are the same. `layouts` are those of all
    episodes of the sample, so that models of its parts can be joined.
    """

    def __init__(
        self,
        sample: Sample,
        training: Training,
        seed: int,
        threads: int | None = None,
        executor: Workers = None,
        reporter: Reporter | None = None,
    ) -> None:
        self.sample, self.training, self.seed, self.threads = sample, training, seed, threads
        self.executor, self.reporter = executor, reporter or Reporter(None)
        self._start: Start | None = None
        states = training.states
        layouts = [
            _core.CloneLayout(sample.data, states=max(1, states // part), tasks=sample.tasks)
            for part in training.fractions
        ]
        #: By increasing size; a smaller one that hardly differs is left out. Noisy ones come last.
        self.layouts = [layouts[-1]]
        for layout in layouts[-2::-1]:
            if 2 * layout.n_states <= self.layouts[0].n_states:
                self.layouts.insert(0, layout)
        shown = len(np.unique(sample.data.observations))
        if training.min_noisy <= shown <= states // 2:
            self.layouts.append(_core.CloneLayout(sample.data, states=states, tasks=sample.tasks, noisy=True))

    def on(self, sample: Sample) -> Trainer:
        """Trains models of the same layouts on other episodes."""
        other = copy(self)
        other.sample, other._start = sample, None
        return other

    @property
    def codes(self) -> Codes:
        """Actions and observations that occur."""
        listed = (("action", self.sample.data.actions), ("observation", self.sample.data.observations))
        return frozenset((kind, int(code)) for kind, codes in listed for code in np.unique(codes))

    def largest(self) -> Models:
        """Families for too few episodes to compare: the largest clones, of which none has begun."""
        layout = next(one for one in reversed(self.layouts) if not one.noisy)
        wanted = self.training.n_models(self.training.models, layout.n_states)
        return Models([Family(layout.n_states, False, wanted, None)], self.codes, {})

    def compared(self, train: Sample, test: Sample) -> Models:
        """Models of `train`, of those sizes that suit `test`.

        Likelihoods are those to be expected of models trained on all episodes. A size is adequate if no larger one is
        likelier by `evidence` standard errors. If even the smallest is, that is the world. Otherwise the next larger
        size is taken as well: regressions on beliefs suffer less from states that are too many than the likelihood
        does. Noisy models are taken alone, if they are likelier than clones.
        """
        training, several = self.training, len(self.layouts) > 1
        groups = [part for part in np.array_split(np.arange(len(test.data)), training.groups) if len(part)]
        weights = np.array([test.data[part].n_steps for part in groups])
        start = Start.of(train, self.layouts[-1])
        if start.reusable:
            self._start = replace(start, sample=self.sample)
        settle = training.settle if several else training.single_settle
        begun, likelihoods = [], []
        for layout in self.layouts:
            numbers = range(
                training.n_models(min(training.compared_models, training.models), layout.n_states)
            )
            models = self._fresh(start, layout, numbers, settle, "choosing")
            begun.append(models)
            if several:
                scores = [np.mean(models.score(test.data[part], tasks=test.tasks[part])) for part in groups]
                own = float(np.mean(models.score(train.data, tasks=train.tasks)))
                likelihoods.append(with_all_episodes(own, np.array(scores) * weights, weights))
        adequate = 0
        for number in range(1, len(self.layouts)):
            more = likelihoods[number] - likelihoods[adequate]
            spread = float(more.std(ddof=1)) / np.sqrt(len(more)) if len(more) > 1 else np.inf
            if more.mean() > training.evidence * spread:
                adequate = number
        noisy = self.layouts[-1].noisy
        sizes = [adequate, adequate + 1] if 0 < adequate < len(self.layouts) - noisy - 1 else [adequate]
        families = []
        for size in sizes:
            states = self.layouts[size].n_states
            wanted = max(1, training.n_models(training.models, states) // len(sizes))
            families.append(Family(states, self.layouts[size].noisy, wanted, begun[size]))
        means = [float(one.sum() / weights.sum()) for one in likelihoods]
        by_states = {
            layout.n_states: mean
            for layout, mean in zip(self.layouts, means, strict=False)
            if not layout.noisy
        }
        return Models(families, self.codes, by_states, means[-1] if noisy else None)

    def fresh(self, models: Models, sample: Sample) -> Models:
        """As many new models of the same sizes as have begun, trained on other episodes as long as those."""
        start, families = Start.of(sample, self.layouts[-1]), []
        for family in models.families:
            numbers = range(len(family.models or ()))
            new = self._fresh(start, self._layout(family), numbers, self.training.settle, "training")
            families.append(replace(family, models=new))
        return replace(models, families=families)

    def finished(self, models: Models) -> Models:
        """The models after going on with all episodes of the sample; new ones join those that have begun.

        All begin anew if the sample has actions or observations that the models do not know. No new ones join models of
        other layouts than those of this sample.
        """
        families, settle = [], self.training.settling(self.sample.data.n_steps)
        known = self.codes <= models.codes
        for family in models.families:
            layout = self._layout(family)
            trained = None
            if family.models is not None and known and family.noisy == layout.noisy:
                schedule = Schedule(self.sample, self.training.go_on, settle, self.seed)
                trained = self._trained(family.models.cut(0, family.wanted), schedule, 0, "training")
            have = len(trained or ())
            if have < family.wanted:
                self._start = self._start or Start.of(self.sample, self.layouts[-1])
                new = self._start.models(layout, range(have, family.wanted), self.seed)
                if trained is None or _same_layout(trained, new):
                    schedule = Schedule(self._start.sample, self.training.explore, settle, self.seed)
                    new = self._trained(new, schedule, have, "training new models")
                    trained = new if trained is None else trained.plus(new)
            families.append(replace(family, models=trained))
        return replace(models, families=families, codes=models.codes if known else self.codes)

    def _layout(self, family: Family) -> _core.CloneLayout:
        """That of this sample which is nearest in size."""
        alike = [one for one in self.layouts if one.noisy == family.noisy]
        return min(alike or self.layouts, key=lambda one: abs(one.n_states - family.states))

    def _fresh(
        self, start: Start, layout: _core.CloneLayout, numbers: range, settle: int, stage: str
    ) -> _core.CloneModels:
        """New models, numbered for their random streams."""
        schedule = Schedule(start.sample, self.training.explore, settle, self.seed)
        return self._trained(start.models(layout, numbers, self.seed), schedule, numbers.start, stage)

    def _trained(
        self, models: _core.CloneModels, schedule: Schedule, first: int, stage: str
    ) -> _core.CloneModels:
        states, count = models.n_features // len(models), len(models)
        stage = f"{stage}, {states} {'noisy ' if models.noisy else ''}states"
        if self.executor is None:
            steps = schedule.sample.data.n_steps
            each = _core.CloneLayout.work(states, steps, schedule.explore, schedule.settle)
            self.reporter.enter(stage, count * each)
            return schedule((first, models), self.reporter.reach, self.threads)
        self.reporter.enter(stage, count)
        alone = [(first + number, models.cut(number, number + 1)) for number in range(count)]
        return map_reduce(
            schedule,
            alone,
            _core.CloneModels.plus,
            executor=self.executor,
            tick=lambda _: self.reporter.advance(1),
        )


def _same_layout(one: _core.CloneModels, other: _core.CloneModels) -> bool:
    try:
        one.plus(other)
    except ValueError:
        return False
    return True


def with_all_episodes(
    own: float, held_out: NDArray[np.float64], steps: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Held-out log-likelihood by group to be expected after training on all episodes, from training on half.

    What a model gains on its own episodes it loses about as much on others, and both halve when the episodes
    double: without this, large models would be compared as if half the data were all.
    """
    mean = held_out.sum() / steps.sum()
    return np.asarray(held_out + steps * (own - mean) / 4.0)
