"""Events that logs hold too few of, or none: how far they reach, and when nothing else is left to chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Spreads this small against the numbers that made them are rounding.
ROUNDING = 1e-12


def informative_share(returns: FloatArray) -> float:
    """About which share of the episodes tells good returns from bad ones: 1 / (kurtosis - 1).

    For two outcomes that is p / (1 - p) times a number near 1, where p is the share of the rarer one: the figure of the
    usual rule for trusting a proportion. Squared skewness alone, its lower bound, does not see rare events that are as
    often good as bad. 0 if all returns are the same.
    """
    reach = float(np.abs(returns).max())
    if reach == 0.0 or float(np.ptp(returns / reach)) <= ROUNDING:
        return 0.0
    deviations = returns / reach - (returns / reach).mean()
    deviations /= np.abs(deviations).max()
    squares, fourths = float((deviations**2).mean()), float((deviations**4).mean())
    # Two outcomes of equal frequency have a kurtosis of one: every episode tells.
    return 1.0 / max(fourths / squares**2 - 1.0, 1.0)


def unseen_share(level: float, episodes: float) -> float:
    """What occurs in a smaller share of the episodes may not have occurred in so many: the rule of three."""
    return min(1.0, -math.log(1.0 - level) / max(episodes, 1e-9))


@dataclass(frozen=True)
class Unseen:
    """How far events that are too rare to be in the log may move the mean return."""

    below: float
    above: float
    noise: float
    """Half the width of an interval that holds nothing but what the world leaves to chance."""
    bounded: bool
    """Whether `below` and `above` rest on what an episode can earn, and not on what the logged ones earned."""

    @property
    def decides(self) -> bool:
        """Whether the log shows less chance than it may hide, and nobody says how much that can be.

        Where all is explained without chance the interval would have no width, and the first rare event would leave it.
        """
        return not self.bounded and self.noise < max(self.below, self.above)

    def times(self, scale: float) -> Unseen:
        """In other units of reward."""
        return Unseen(scale * self.below, scale * self.above, scale * self.noise, self.bounded)

    def around(self, value: float, interval: tuple[float, float]) -> tuple[float, float]:
        """The interval with them: added if they are bounded, and else never narrower than they are."""
        low, high = interval
        if self.bounded:
            return low - self.below, high + self.above
        return min(low, value - self.below), max(high, value + self.above)


def unseen(
    returns: FloatArray,
    residuals: FloatArray,
    mean: float,
    level: float,
    episodes: float,
    return_range: tuple[float, float] | None,
) -> Unseen:
    """From returns of episodes and what a model leaves unexplained of them, (n_episodes,) each.

    Without `return_range` no episode is taken to earn more or less than the logged ones by more than their whole range.
    """
    share = unseen_share(level, episodes)
    noise = 2.0 * float(residuals.std()) / math.sqrt(max(episodes, 1e-9))
    if return_range is None:
        reach = share * float(returns.max() - returns.min())
        return Unseen(reach, reach, noise, bounded=False)
    worst, best = return_range
    return Unseen(share * max(mean - worst, 0.0), share * max(best - mean, 0.0), noise, bounded=True)
