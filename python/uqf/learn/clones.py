"""Cloned hidden Markov models of one or several tasks: how large, how many, how long they are trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf import _core
from uqf.data.concatenate import concatenate
from uqf.data.progress import Reporter
from uqf.data.trajectories import Trajectories

#: Sizes that are tried, in parts of the largest. Smaller models are trained longer, at most so many times as long,
#: and so are all models where there are more data than training sees: then it pays to come closer to the maximum.
FRACTIONS = (1, 4, 15)
MAX_TIMES = 2

#: Passes of the training, and steps that it sees at most.
ITERATIONS = 200
MAX_STEPS = 150_000

#: Fewer models are trained where each has many states: the regressions cost the square of their sum.
MAX_FEATURES = 320


@dataclass(frozen=True)
class CloneTraining:
    """Trains models of up to `states` states on the episodes of all tasks together, from several random starts."""

    states: int
    seed: int
    threads: int | None
    reporter: Reporter

    def train(self, tasks: list[Trajectories], states: int, models: int) -> _core.CloneModels:
        """`models` models of `states` states."""
        data = tasks[0] if len(tasks) == 1 else concatenate(tasks)
        before, share = self.reporter.done, states / self.states
        trained = _core.CloneModels.train(
            data,
            states=states,
            seed=self.seed,
            tasks=np.repeat(np.arange(len(tasks), dtype=np.uint32), [len(task) for task in tasks]),
            threads=self.threads,
            progress=lambda done: self.reporter.reach(before + int(share * done)),
            **self._amount(tasks, states, models),
        )
        self.reporter.reach(before + self.steps(tasks, states, models))
        return trained

    def sizes(self, tasks: list[Trajectories]) -> list[int]:
        """Numbers of states to try, each at most half of the one before."""
        sizes = [self.states]
        for states in (max(1, self.states // fraction) for fraction in FRACTIONS):
            if 2 * _all_states(tasks, states) <= _all_states(tasks, sizes[-1]):
                sizes.append(states)
        return sizes

    def _amount(self, tasks: list[Trajectories], states: int, models: int) -> dict[str, int]:
        """How many models of so many states are trained, for how long, and on how much."""
        steps, episodes = sum(data.n_steps for data in tasks), sum(map(len, tasks))
        times = max(1, self.states // states, steps // MAX_STEPS)
        return {
            "models": min(models, max(1, MAX_FEATURES // _all_states(tasks, states))),
            "iterations": ITERATIONS * min(MAX_TIMES, times),
            "episodes": max(1, int(MAX_STEPS / (steps / episodes))),
        }

    def steps(self, tasks: list[Trajectories], states: int, models: int) -> int:
        """Steps that such a training reads; those of a smaller model count less, as they take less."""
        size = sum(data.n_steps for data in tasks), sum(map(len, tasks))
        work = _core.CloneModels.work(*size, **self._amount(tasks, states, models))
        return int(states / self.states * work)


def with_all_episodes(trained: float, judged: float) -> float:
    """Held-out log-likelihood to be expected after training on all episodes, from training on half of them.

    What a model gains on its own episodes it loses about as much on others, and both halve when the episodes
    double: without this, large models would be judged by too few data.
    """
    return judged + (trained - judged) / 4.0


def _all_states(tasks: list[Trajectories], states: int) -> int:
    """States that a model will have: at least one for every observation that occurs."""
    by_task = [np.bincount(data.observations, minlength=data.n_observations) for data in tasks]
    counts = np.sum(by_task, axis=0)
    shares = np.round(states * counts[counts > 0] / counts.sum())
    return int(np.maximum(shares, 1).sum())
