"""Episodes of one or several tasks that models are trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.concatenate import concatenate
from uqf.episodes.sums import episodes_within
from uqf.episodes.trajectories import Trajectories


@dataclass(frozen=True)
class Sample:
    """Episodes to train on, in an order that is as good as random, and the task of each."""

    data: Trajectories
    tasks: NDArray[np.uint32]

    @classmethod
    def of(cls, parts: Sequence[Trajectories], priorities: Sequence[NDArray[np.uint64]]) -> Sample:
        """The episodes of every task, mixed by their priorities."""
        numbers = np.repeat(np.arange(len(parts), dtype=np.uint32), [len(part) for part in parts])
        order = np.argsort(np.concatenate(priorities), kind="stable")
        data = parts[0] if len(parts) == 1 else concatenate(parts)
        return cls(data[order], numbers[order])

    @classmethod
    def joined(cls, samples: Sequence[Sample]) -> Sample:
        """The episodes of several samples, one after another."""
        return cls(concatenate([one.data for one in samples]), np.concatenate([one.tasks for one in samples]))

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
        return self[: episodes_within(self.data, steps)]
