"""Learning discounts: what may be learned with, where a task has a discount of its own; policies judged held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from uqf.episodes.checks import FloatArray, probability
from uqf.episodes.sums import advantages
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.advantages import Equations, Moments, Softmax, ValueSums
from uqf.learn.improve.gain import gain
from uqf.learn.improve.grams import Grams
from uqf.learn.memory.features import Memory, Rows

#: Data with fewer episodes on either side are not split to choose a learning discount.
MIN_EPISODES = 10

#: Candidates where none is given, each cut to the discount of the task.
CANDIDATES = (0.85, 0.95, 0.99)

#: Gains that differ by less, in standard errors, are taken for the same.
CHANCE = 0.75


def learning_discounts(discount: float, given: float | None) -> list[float]:
    """The one that was given, or the candidates in increasing order.

    A learning discount above that of the task would count rewards for more than they are worth, and is refused.
    """
    task = probability("discount", discount)
    if given is None:
        return sorted({min(candidate, task) for candidate in CANDIDATES})
    if probability("learning_discount", given) > task:
        raise ValueError(
            f"learning_discount = {given}: above discount = {task:g}, which rewards are worth; give that or less"
        )
    return [float(given)]


def longest_as_good(gains: dict[float, float]) -> float:
    """The longest learning discount whose gain is the best up to chance.

    What is as good up to chance is decided by bias: gains of single steps say nothing of what follows them.
    """
    return max(discount for discount, gain in gains.items() if gain > max(gains.values()) - CHANCE)


@dataclass(frozen=True)
class Halves:
    """Policies that are learned from some episodes and judged on others, with rows and sums that all of them share.

    decay : λ of the advantages; temperature : of the policies, in standard errors of the learned values
    """

    memory: Memory
    train: Trajectories
    test: Trajectories
    decay: float
    temperature: float
    threads: int | None
    _learned: dict[float, tuple[FloatArray, Moments]] = field(default_factory=dict)

    @cached_property
    def taught(self) -> Rows:
        """What the memory keeps of the episodes that teach."""
        return self.memory.rows(self.train, self.threads)

    @cached_property
    def rows(self) -> Rows:
        """What it keeps of those that judge."""
        return self.memory.rows(self.test, self.threads)

    @cached_property
    def grams(self) -> Grams:
        """Of the episodes that teach."""
        return Grams.of(self.memory, self.taught, self.train)

    def learned(self, discount: float) -> tuple[FloatArray, Moments]:
        """The value of the logging policy at a learning discount, and what advantages are learned from."""
        if discount not in self._learned:
            value = ValueSums.of(self.taught, self.train, discount).value()
            moments = Moments.of(self.taught, self.train, value, discount, self.decay)
            self._learned[discount] = value, moments
        return self._learned[discount]

    def gains(self, discounts: list[float]) -> dict[float, float]:
        """By learning discount: what its policy gains by single steps on the test episodes, in standard errors."""
        pairs = [self.learned(discount) for discount in discounts]
        solved = Equations(self.memory, self.grams).solved([moments for _, moments in pairs])
        gains = {}
        for discount, (value, _), (weights, noise) in zip(discounts, pairs, solved, strict=True):
            policy = Softmax(weights, noise, self.temperature * noise)
            earned = (self.rows @ value.astype(np.float32)).astype(np.float64)
            targets = advantages(self.test, earned, discount, self.decay)
            gains[discount] = gain(policy.taken(self.rows, self.test), targets, self.test).evidence
        return gains

    def worths(self, discount: float, ridges: Sequence[float]) -> dict[float, float]:
        """By penalty of the advantages: the value of the whole policy before the first step, off-policy."""
        (_, moments), found = self.learned(discount), {}
        for ridge in ridges:
            ((weights, noise),) = Equations(self.memory, self.grams, ridge).solved([moments])
            policy = Softmax(weights, noise, self.temperature * noise)
            ratios = policy.ratios(self.rows, self.test, 1.0)
            value = ValueSums.of(self.rows, self.test, discount, ratios).value()
            found[ridge] = float(self.memory.start @ value)
        return found
