"""Episodes whose recording stopped before the longest one ended: do they stop at random?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import discounted_forward, time_within
from uqf.episodes.trajectories import Trajectories
from uqf.ope.estimates import Doubt
from uqf.page.parts import figure

#: Chance of refuting a recording that stops at random.
LEVEL = 0.01

#: Actions and observations that occur less often are not looked at.
MIN_STEPS = 30

#: Of actions and of observations so many are looked at, the most frequent ones.
MAX_CODES = 50

#: What no log can show of episodes whose recording stopped.
AT_RANDOM = "recording stopped for no reason that bears on what would have come"


@dataclass(frozen=True)
class Truncation:
    """How the recording of episodes stopped.

    early : episodes that neither the world ended nor are as long as the longest
    reason : in words, what recording depended on most; empty if it might as well have stopped at random
    completed : what the logged behaviour earns if others stand for what is missing; mean : what the log shows
    """

    early: int
    episodes: int
    marked: bool
    reason: str
    completed: float
    mean: float

    @classmethod
    def of(cls, data: Trajectories, discount: float) -> Truncation:
        """Of a log; `discount` is that of the returns that are compared."""
        stops = ~data.terminated & (data.lengths < data.lengths.max())
        reason = _reason(data, stops) if stops.any() else ""
        return cls(
            int(stops.sum()),
            len(data),
            bool(data.terminated.any()),
            reason,
            _completed(data, discount),
            float(data.returns(discount).mean()),
        )

    def doubts(self, unit: float) -> Iterator[Doubt]:
        """None if every episode is whole; `unit` is that of rewards."""
        if self.early == 0:
            return
        unmarked = "" if self.marked else ", and none is marked as ended by the world (terminated)"
        shown = (
            f"recording stopped early in {self.early} of {self.episodes} episodes{unmarked}. What others earned later "
            f"stands for what is missing: the logged behaviour then earns {figure(unit * self.completed)}, while the "
            f"log itself shows {figure(unit * self.mean)}"
        )
        if self.reason:
            yield Doubt(
                f"{shown}; and recording does not stop at random: {self.reason}. Log whole episodes, and which of them "
                "the world ended."
            )
        else:
            yield Doubt(f"{shown}. Log whole episodes, and which of them the world ended.", AT_RANDOM)


def _completed(data: Trajectories, discount: float) -> float:
    """Σ_t γ^t · mean reward at t over the episodes that still run or were ended by the world."""
    time, horizon = time_within(data), int(data.lengths.max())
    sums = np.bincount(time, data.rewards, minlength=horizon)
    ended = np.bincount(data.lengths[data.terminated], minlength=horizon + 1).cumsum()[:horizon]
    counts = np.bincount(time, minlength=horizon) + ended
    return float(np.float64(discount) ** np.arange(horizon) @ (sums / counts))


def _reason(data: Trajectories, stops: NDArray[np.bool_]) -> str:
    """What recording depended on most beyond chance, given the time; empty if nothing.

    A step is at risk unless the world ended the episode there or no episode is longer. If recording stops at random,
    whether it stops after a step is uncorrelated, given the time, with whatever is known by then.
    """
    time = time_within(data)
    risk = time < data.lengths.max() - 1
    risk[data.offsets[1:][data.terminated] - 1] = False
    stopped = np.zeros(data.n_steps)
    stopped[data.offsets[1:][stops] - 1] = 1.0
    hazard = (np.bincount(time[risk], stopped[risk]) / np.maximum(np.bincount(time[risk]), 1))[time[risk]]
    surprise = stopped[risk] - hazard
    scores = {
        words: _score(surprise, hazard, feature[risk], time[risk]) for words, feature in _features(data)
    }
    worst = max(scores, key=lambda words: abs(scores[words]))
    if abs(scores[worst]) <= float(ndtri(1.0 - LEVEL / (2 * len(scores)))):
        return ""
    return f"it stops more often after {worst[0] if scores[worst] > 0 else worst[1]}"


def _score(surprise: FloatArray, hazard: FloatArray, feature: FloatArray, time: NDArray[np.int64]) -> float:
    """Correlation of stopping with a feature given the time, in standard errors."""
    counts = np.maximum(np.bincount(time), 1)
    centred = feature - (np.bincount(time, feature) / counts)[time]
    variance = float((hazard * (1.0 - hazard) * centred**2).sum())
    return float(surprise @ centred) / np.sqrt(variance) if variance > 0.0 else 0.0


def _features(data: Trajectories) -> Iterator[tuple[tuple[str, str], FloatArray]]:
    """What is known by the end of every step, (n_steps,) each, with words for much of it and for little."""
    earned = data.rewards.copy()
    discounted_forward(earned, data.offsets, 1.0)
    yield ("high rewards", "low rewards"), _ranks(data.rewards)
    yield ("episodes that went well", "episodes that went badly"), _ranks(earned)
    for name, codes in (("action", data.actions), ("observation", data.observations)):
        counts = np.bincount(codes)
        for code in np.argsort(-counts, kind="stable")[:MAX_CODES]:
            if counts[code] >= MIN_STEPS:
                yield (f"{name} {code}", f"{name}s other than {code}"), 1.0 * (codes == code)


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks instead of values, so that no outlier rules."""
    return np.unique(values, return_inverse=True)[1] / max(len(values), 1)
