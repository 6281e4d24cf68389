"""Events that logs hold too few of, or none: how far they may move a mean.

The shape of a tail is read between the tenth and the thirtieth largest deviation and carried on beyond. What lies
beyond the tenth does not change it: a rule that looked at the largest deviations would refuse the logs that hold them
and pass those that lack them, whose means are the most wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from uqf.episodes.checks import FloatArray
from uqf.ope.ratios import ROUNDING


@dataclass(frozen=True)
class TailSettings:
    """How tails are read; the evidence is in docs/evaluation.md."""

    rank: int = 10
    """The largest deviation that shapes a tail is of this rank: the usual ten of the rarer outcome."""
    last: int = 30
    """The smallest one is of this rank: farther down, rewards that most episodes lack would look like a heavy tail."""
    gap: float = 0.5
    """A tail ends where one step between ranks makes up this part of its fall: what lies below is another outcome."""
    heaviest: float = 0.9
    """Tail index that the allowance is worked out with at most; it would be infinite at 1."""
    no_mean: float = 1.0
    """From this tail index on there is no mean to estimate."""
    alien: float = 3.0
    """A deviation of more than so many times what the tail leads to expect of its rank is no part of that tail."""


SETTINGS = TailSettings()


@dataclass(frozen=True)
class Tail:
    """One side of a distribution, as the deviations from its median show it."""

    index: float
    """ξ: deviations beyond fall off like a power −1/ξ of their size; 0 if they do not reach beyond."""
    allowance: float
    """What values beyond the largest expected one add to the mean, if ξ is one standard error larger."""
    aliens: int
    """How many of the largest deviations are no part of this tail."""

    @classmethod
    def of(cls, deviations: FloatArray, settings: TailSettings = SETTINGS) -> Tail:
        """Of deviations (n,) from the median; those to the other side are negative."""
        n, rank, last = len(deviations), settings.rank, settings.last
        if n < last:
            return cls(math.inf, math.inf, 0)
        largest = -np.partition(-deviations, last - 1)[:last]
        largest = np.sort(largest)[::-1]
        begins = float(largest[rank - 1])
        if begins <= 0.0:
            return cls(0.0, 0.0, int(np.count_nonzero(largest[:rank] > 0.0)))
        falls = np.log(np.maximum(largest[rank - 1 :] / begins, 1e-300))
        steps = -np.diff(falls)
        if steps.max() > -settings.gap * falls[-1]:
            last = rank + int(steps.argmax())
        index = float(-falls[last - rank]) / math.log(last / rank) if last > rank else 0.0
        # One standard error more: a tail that seems lighter than it is must not be what lets a log pass.
        error = math.sqrt(1.0 / rank - 1.0 / last) / math.log(last / rank) if last > rank else 0.0
        cautious = index * (1.0 + error)
        expected = begins * (rank / np.arange(1, rank + 1)) ** cautious
        bounded = min(cautious, settings.heaviest)
        return cls(
            index,
            begins * rank**bounded * bounded / (1.0 - bounded) / n,
            int(np.count_nonzero(largest[:rank] > settings.alien * expected)),
        )


@dataclass(frozen=True)
class Tails:
    """Both sides of what episodes contribute to an estimate."""

    below: Tail
    above: Tail

    @classmethod
    def of(cls, contributions: FloatArray) -> Tails:
        """Of contributions to a mean, (n,)."""
        deviations = contributions - np.median(contributions)
        # What is as small as rounding beside the largest is nothing: it has no tail of its own.
        deviations[np.abs(deviations) <= ROUNDING * np.abs(deviations).max()] = 0.0
        return cls(Tail.of(-deviations), Tail.of(deviations))

    @property
    def aliens(self) -> int:
        """How many contributions are no part of either tail."""
        return max(self.below.aliens, self.above.aliens)

    @property
    def has_mean(self) -> bool:
        """Whether the tails are light enough for a mean."""
        return max(self.below.index, self.above.index) < SETTINGS.no_mean


#: Of an estimate whose noise is rounding.
NO_TAILS = Tails(Tail(0.0, 0.0, 0), Tail(0.0, 0.0, 0))


def unseen_share(level: float, episodes: float) -> float:
    """What occurs in a smaller share of the episodes may not have occurred in so many: the rule of three."""
    return min(1.0, -math.log(1.0 - level) / max(episodes, 1e-9))
