"""What one reading says of a data set of any size: how much there is, and episodes that stand for all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import seed_number
from uqf.episodes.concatenate import concatenate
from uqf.episodes.propensities import ActionShares
from uqf.episodes.trajectories import Trajectories
from uqf.reading.reader import Reader

#: Learners square rewards in single precision: the largest must lie between these, or all must be 0.
REWARDS = (1e-12, 1e12)

#: A step over its propensity and the number of actions is worth one step on average if the propensities are right.
#: By Markov's inequality right ones are refused in less than one log of so many.
WEIGHT = 1000.0


@dataclass(frozen=True)
class Scale:
    """The size of a log's numbers, with which learners must be able to reckon.

    largest : the largest reward in size; weight : Σ 1 / (propensity · actions) over the steps, 0 where none is logged
    """

    steps: int
    largest: float
    weight: float

    @classmethod
    def of(cls, data: Trajectories) -> Scale:
        probs = data.behavior_probs
        with np.errstate(over="ignore"):
            weight = 0.0 if probs is None else float((1.0 / probs).sum()) / data.n_actions
        return cls(data.n_steps, float(np.abs(data.rewards).max()), weight)

    def plus(self, other: Scale) -> Scale:
        steps, weight = self.steps + other.steps, self.weight + other.weight
        return Scale(steps, max(self.largest, other.largest), weight)

    def check(self) -> None:
        """Refuses rewards and propensities that single precision does not hold."""
        low, high = REWARDS
        if self.largest > 0.0 and not low <= self.largest <= high:
            raise ValueError(
                f"rewards: the largest in size is {self.largest:.3g}, and learners take {low:g} to {high:g}; divide "
                "all of them by a constant, which changes no choice"
            )
        if self.weight > WEIGHT * self.steps:
            raise ValueError(
                f"behavior_probs: {self.steps} steps over their probabilities are worth {self.weight:.3g} steps, and "
                "as many as there are if the probabilities are right; correct them, or leave them out: they are then "
                "estimated"
            )


@dataclass(frozen=True)
class Overview:
    """How much there is, a bounded sample of episodes, and what actions usually follow a symbol.

    The sample holds the episodes with the lowest priorities, in that order. Priorities are hashes of the content: the
    sample is the same however the episodes are spread over files and workers, and its order is as good as random.
    Only which of several copies of one episode are drawn may depend on how they are spread.
    """

    episodes: int
    steps: int
    sample: Trajectories
    priorities: NDArray[np.uint64]
    limit: int
    """The lowest priority that was left out: no episode beyond it is in the sample, even if it would fit."""
    max_steps: int
    shares: ActionShares | None
    """None if the log says how probable the actions were."""
    scale: Scale

    @classmethod
    def read(cls, reader: Reader, max_steps: int, seed: int) -> Overview:
        """Of all data, with a sample of about so many steps at most."""
        found = reader.sum("reading", partial(overview, max_steps, seed))
        found.scale.check()
        return found

    @property
    def whole(self) -> bool:
        """Whether every episode is in the sample."""
        return len(self.sample) == self.episodes

    def without_sample(self) -> Overview:
        """What workers need of it."""
        return replace(self, sample=self.sample[:1], priorities=self.priorities[:1])

    def plus(self, other: Overview) -> Overview:
        shares = [one.shares for one in (self, other) if one.shares is not None]
        both = replace(
            self,
            episodes=self.episodes + other.episodes,
            steps=self.steps + other.steps,
            sample=concatenate([self.sample, other.sample]),
            priorities=np.concatenate([self.priorities, other.priorities]),
            limit=min(self.limit, other.limit),
            shares=reduce(ActionShares.plus, shares) if shares else None,
            scale=self.scale.plus(other.scale),
        )
        return both._cut()

    def _cut(self) -> Overview:
        order = np.argsort(self.priorities, kind="stable")
        priorities, ends = self.priorities[order], np.cumsum(self.sample.lengths[order])
        fits = int(np.searchsorted(ends, self.max_steps, side="right"))
        count = max(1, min(fits, int(np.searchsorted(priorities, np.uint64(self.limit), side="right"))))
        limit = min([self.limit, *priorities[count : count + 1].tolist()])
        return replace(self, sample=self.sample[order[:count]], priorities=priorities[:count], limit=limit)

    def known(self, data: Trajectories) -> Trajectories:
        """The episodes with a probability for every logged action, estimated from all data where none was logged."""
        if self.shares is None or data.behavior_probs is not None:
            return data
        return Trajectories(**data.__getstate__() | {"behavior_probs": self.shares.probabilities(data)})


def overview(max_steps: int, seed: int, data: Trajectories) -> Overview:
    """Of some episodes in memory."""
    priorities = _core.episode_priorities(data, seed_number(seed))
    shares = ActionShares.of(data) if data.behavior_probs is None else None
    whole = Overview(len(data), data.n_steps, data, priorities, 2**64 - 1, max_steps, shares, Scale.of(data))
    return whole._cut()
