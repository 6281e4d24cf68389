"""Learning discounts: which may be learned with where a task has a discount of its own, and which is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from uqf.episodes.checks import FloatArray, probability
from uqf.episodes.sums import advantages
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.gain import gain
from uqf.learn.improve.grams import Grams
from uqf.learn.improve.regression import Equations, Moments, Regression, ValueSums
from uqf.learn.memory.features import Memory, Rows

#: Data with fewer episodes on either side are not split to choose anything.
MIN_EPISODES = 10


def learning_discounts(
    discount: float, given: float | None, candidates: Sequence[float] = (0.85, 0.95, 0.99)
) -> list[float]:
    """The one that was given, or the candidates in increasing order, each cut to the discount of the task.

    A learning discount above that of the task would count rewards for more than they are worth, and is refused.
    """
    task = probability("discount", discount)
    if given is None:
        return sorted({min(candidate, task) for candidate in candidates})
    if probability("learning_discount", given) > task:
        raise ValueError(
            f"learning_discount = {given}: above discount = {task:g}, which rewards are worth; give that or less"
        )
    return [float(given)]


@dataclass(frozen=True)
class LearningDiscount:
    """The one that was chosen, and the evidence: gains in standard errors by discount; {} where none was compared."""

    value: float
    gains: dict[float, float]


def longest_as_good(gains: dict[float, float], margin: float = 0.75) -> float:
    """The longest discount whose gain is within `margin` standard errors of the best.

    Among equals bias decides: gains of single steps say nothing of what follows them.
    """
    return max(discount for discount, gain in gains.items() if gain >= max(gains.values()) - margin)


@dataclass(frozen=True)
class Halves:
    """Policies that are learned from `train` and evaluated on `test`, with rows and sums that all of them share."""

    memory: Memory
    train: Trajectories
    test: Trajectories
    settings: Regression
    threads: int | None
    _learned: dict[float, tuple[FloatArray, Moments]] = field(default_factory=dict)

    @cached_property
    def train_rows(self) -> Rows:
        """(cuts of `train`, width)."""
        return self.memory.rows(self.train, self.threads)

    @cached_property
    def test_rows(self) -> Rows:
        """(cuts of `test`, width)."""
        return self.memory.rows(self.test, self.threads)

    @cached_property
    def grams(self) -> Grams:
        """Of the episodes of `train`."""
        return Grams.of(self.memory, self.train_rows, self.train)

    @property
    def decay(self) -> float:
        """λ of the advantages."""
        return self.settings.decay(len(self.train))

    def learned(self, discount: float) -> tuple[FloatArray, Moments]:
        """The value of the logging policy at a learning discount, and what advantages are learned from."""
        if discount not in self._learned:
            settings, rows = self.settings, self.train_rows
            value = ValueSums.of(rows, self.train, discount, settings.value_trace).value(settings.value_ridge)
            self._learned[discount] = value, Moments.of(rows, self.train, value, discount, self.decay)
        return self._learned[discount]

    def gains(self, discounts: Sequence[float]) -> dict[float, float]:
        """By learning discount: what its policy gains by single steps on the test episodes, in standard errors."""
        pairs = [self.learned(discount) for discount in discounts]
        solved = Equations(self.memory, self.grams, self.settings).solved([moments for _, moments in pairs])
        gains = {}
        for discount, (value, _), (weights, noise) in zip(discounts, pairs, solved, strict=True):
            policy = self.settings.softmax(weights, noise, len(self.train))
            earned = (self.test_rows @ value.astype(np.float32)).astype(np.float64)
            targets = advantages(self.test, earned, discount, self.decay)
            gains[discount] = gain(policy.taken(self.test_rows, self.test), targets, self.test).evidence
        return gains

    def worths(self, discount: float, ridges: Sequence[float]) -> dict[float, float]:
        """By penalty of the advantages: the value of the whole policy before the first step, off-policy."""
        (_, moments), worths = self.learned(discount), {}
        for ridge in ridges:
            settings = replace(self.settings, ridge=ridge)
            ((weights, noise),) = Equations(self.memory, self.grams, settings).solved([moments])
            ratios = settings.softmax(weights, noise, len(self.train)).ratios(self.test_rows, self.test, 1.0)
            sums = ValueSums.of(self.test_rows, self.test, discount, settings.value_trace, ratios)
            worths[ridge] = float(self.memory.start @ sums.value(settings.value_ridge))
        return worths
