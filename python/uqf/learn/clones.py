"""Cloned hidden Markov models: how large, how many, how long they are trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.data.concatenate import concatenate
from uqf.data.progress import Reporter
from uqf.data.trajectories import Trajectories
from uqf.learn.moments import embedding, guessed_clones

#: Sizes that are tried, in parts of the largest.
FRACTIONS = (15, 4, 1)

#: Steps that models see at most, and steps on which the first guess of their clones rests.
MAX_STEPS = 300_000
GUESS_STEPS = 20_000

#: Iterations of a fresh model, of one that goes on with more episodes, and of the averages at the end: while sizes are
#: compared, and finally (or one for every so many steps, if that is more).
EXPLORE = 40
GO_ON = 10
SETTLE = 16
FINAL_SETTLE = 20
STEPS_PER_SETTLING = 10_000

#: Steps on which sizes are compared at most, on either side.
MAX_COMPARED = 150_000

#: Groups of held-out episodes, and by how many standard errors over them a larger size must be likelier.
GROUPS = 20
MIN_EVIDENCE = 2.0

#: Fewer models are trained where each has many states: the regressions cost the square of their sum.
MAX_FEATURES = 320


@dataclass(frozen=True)
class Sample:
    """Episodes to train on, in an order that is as good as random, and the task of each."""

    data: Trajectories
    tasks: NDArray[np.uint32]

    @property
    def halves(self) -> tuple[Sample, Sample]:
        """Both halves."""
        half = len(self.data) // 2
        return self[:half], self[half:]

    def __getitem__(self, episodes: slice) -> Sample:
        return Sample(self.data[episodes], self.tasks[episodes])

    def of_task(self, task: int) -> Trajectories:
        """The episodes of one task."""
        return self.data if not self.tasks.any() else self.data[self.tasks == task]

    def first(self, steps: int) -> Sample:
        """The first episodes, about so many steps of them."""
        return self[: max(1, int(np.searchsorted(self.data.offsets, steps, side="right")) - 1)]


def drawn_sample(tasks: list[Trajectories], seed: int) -> Sample:
    """At most `MAX_STEPS` steps of all tasks: the episodes whose hashes are lowest, in the order of their hashes.

    So the sample depends on the set of episodes and on the seed, not on their order nor on where they lie.
    """
    data = tasks[0] if len(tasks) == 1 else concatenate(tasks)
    order = np.argsort(_core.episode_hashes(data, seed), kind="stable")
    count = int(np.searchsorted(np.cumsum(data.lengths[order]), MAX_STEPS, side="right"))
    chosen = order[: max(count, 1)]
    numbers = np.repeat(np.arange(len(tasks), dtype=np.uint32), [len(task) for task in tasks])
    return Sample(data[chosen], numbers[chosen])


class CloneTrainer:
    """Trains models of one or several tasks and chooses their size by the likelihood of held-out episodes."""

    def __init__(self, sample: Sample, states: int, seed: int, threads: int | None, reporter: Reporter) -> None:
        self.sample, self.seed, self.threads, self.reporter = sample, seed, threads, reporter
        layouts = [
            _core.CloneLayout(sample.data, states=max(1, states // part), tasks=sample.tasks) for part in FRACTIONS
        ]
        #: By increasing size; a smaller one that hardly differs is left out.
        self.layouts = [layouts[-1]]
        for layout in layouts[-2::-1]:
            if 2 * layout.n_states <= self.layouts[0].n_states:
                self.layouts.insert(0, layout)
        self._embedded: dict[int, NDArray[np.float32]] = {}

    def n_models(self, wanted: int, layout: _core.CloneLayout) -> int:
        """As many models as wanted, unless they are large."""
        return min(wanted, max(1, MAX_FEATURES // layout.n_states))

    def fresh(self, sample: Sample, layout: _core.CloneLayout, numbers: range, settle: int) -> _core.CloneModels:
        """New models, numbered for their random streams."""
        guess = sample.first(GUESS_STEPS)
        if id(sample) not in self._embedded:
            self._embedded[id(sample)] = embedding(guess.data, self.layouts[-1])
        rows = self._embedded[id(sample)]
        streams = [np.random.default_rng([self.seed, number]) for number in numbers]
        labels = np.stack([guessed_clones(guess.data, layout, rows, rng) for rng in streams])
        started = layout.started(guess.data, labels, seed=self.seed + numbers.start, tasks=guess.tasks)
        return self._trained(started, sample, layout, EXPLORE, settle)

    def go_on(self, models: _core.CloneModels, sample: Sample, layout: _core.CloneLayout, settle: int) -> _core.CloneModels:
        """Models that know some of the episodes already."""
        return self._trained(models, sample, layout, GO_ON, settle)

    def _trained(
        self, models: _core.CloneModels, sample: Sample, layout: _core.CloneLayout, explore: int, settle: int
    ) -> _core.CloneModels:
        before = self.reporter.done
        weight = layout.n_states / self.layouts[-1].n_states
        trained = models.trained(
            sample.data,
            explore=explore,
            settle=settle,
            seed=self.seed,
            tasks=sample.tasks,
            threads=self.threads,
            progress=lambda done: self.reporter.reach(before + int(weight * done)),
        )
        self.reporter.reach(before + self.work(sample, layout, len(models), explore, settle))
        return trained

    def work(self, sample: Sample, layout: _core.CloneLayout, models: int, explore: int, settle: int) -> int:
        """Steps that such a training reads, in units of those of the largest model."""
        steps = models * layout.work(sample.data.n_steps, explore, settle)
        return int(layout.n_states / self.layouts[-1].n_states * steps)

    def compare(
        self, train: Sample, test: Sample, models: int
    ) -> tuple[list[int], dict[int, float], list[_core.CloneModels]]:
        """(layouts chosen, log-likelihood of a held-out step by size, models of every size).

        The likelihoods are those to be expected of models trained on all episodes. A size is adequate if no larger one
        is likelier by two standard errors. If even the smallest is, that is the world. Otherwise the next larger size is
        taken as well: regressions on beliefs suffer less from states that are too many than the likelihood does.
        """
        groups = [part for part in np.array_split(np.arange(len(test.data)), GROUPS) if len(part)]
        weights = np.array([test.data[part].n_steps for part in groups])
        trained, found, likelihoods = [], [], {}
        for layout in self.layouts:
            self.reporter.enter("choosing", f"{layout.n_states} states on half of the episodes")
            fitted = self.fresh(train, layout, range(models), SETTLE)
            trained.append(fitted)
            if len(self.layouts) > 1:
                judged = [np.mean(fitted.score(test.data[part], tasks=test.tasks[part])) for part in groups]
                own = float(np.mean(fitted.score(train.data, tasks=train.tasks)))
                found.append(with_all_episodes(own, np.array(judged) * weights, weights))
                likelihoods[layout.n_states] = float(found[-1].sum() / weights.sum())
        adequate = 0
        for number in range(1, len(self.layouts)):
            more = found[number] - found[adequate]
            spread = float(more.std(ddof=1)) / np.sqrt(len(more)) if len(more) > 1 else np.inf
            if more.mean() > MIN_EVIDENCE * spread:
                adequate = number
        hedged = 0 < adequate < len(self.layouts) - 1
        return [adequate, adequate + 1] if hedged else [adequate], likelihoods, trained

    def finished(
        self, sizes: list[int], halves: list[_core.CloneModels], wanted: int, settle: int
    ) -> list[_core.CloneModels]:
        """Models of the chosen sizes: those of half of the episodes go on with all of them, new ones join."""
        families = []
        for size in sizes:
            layout = self.layouts[size]
            count = max(1, self.n_models(wanted, layout) // len(sizes))
            self.reporter.enter("training", f"{count} models of {layout.n_states} states")
            models = self.go_on(halves[size].cut(0, count), self.sample, layout, settle)
            if count > len(models):
                models = models.plus(self.fresh(self.sample, layout, range(len(models), count), settle))
            families.append(models)
        return families


def with_all_episodes(
    own: float, judged: NDArray[np.float64], steps: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Held-out log-likelihood by group to be expected after training on all episodes, from training on half.

    What a model gains on its own episodes it loses about as much on others, and both halve when the episodes
    double: without this, large models would be judged by too few data.
    """
    mean = judged.sum() / steps.sum()
    return np.asarray(judged + steps * (own - mean) / 4.0)
