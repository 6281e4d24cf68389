"""What the reader of a log knows beside its episodes: what was mended, when they happened, and other outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories

WEEK = np.timedelta64(7, "D")


@dataclass(frozen=True)
class Facts:
    """Beside a log.

    problems : what was mended or dropped when it was read, in words and with counts
    times : (n_episodes,), datetime64, when each episode began
    outcomes : (n_steps,) each, numbers by name that a reader wants to see before and after, such as breakdowns
    cost : name of the column of costs that the rewards are the negative of, if they are
    """

    problems: tuple[str, ...] = ()
    times: NDArray[np.datetime64] | None = None
    outcomes: Mapping[str, FloatArray] = field(default_factory=dict)
    cost: str | None = None

    @classmethod
    def of(
        cls,
        log: Trajectories,
        problems: Sequence[str] = (),
        times: ArrayLike | None = None,
        outcomes: Mapping[str, ArrayLike] | None = None,
        cost: str | None = None,
    ) -> Facts:
        """Checked against the log."""
        dates = None if times is None else np.asarray(times, "datetime64[s]")
        if dates is not None and dates.shape != (len(log),):
            raise ValueError(f"times has shape {dates.shape}: give one for each of the {len(log)} episodes")
        values = {name: np.asarray(one, np.float64) for name, one in (outcomes or {}).items()}
        for name, one in values.items():
            if one.shape != (log.n_steps,) or not np.isfinite(one).all():
                raise ValueError(
                    f"outcomes[{name!r}] has shape {one.shape}: give a finite number for each of the "
                    f"{log.n_steps} steps"
                )
        return cls(tuple(problems), dates, values, cost)

    @property
    def episodes_per_week(self) -> float | None:
        """None where no times are known, or all are the same."""
        if self.times is None or len(self.times) < 2:
            return None
        span = (self.times.max() - self.times.min()) / WEEK
        return float((len(self.times) - 1) / span) if span > 0 else None


def places(episodes: Trajectories, log: Trajectories) -> NDArray[np.int64]:
    """Where each of some episodes stands in the log that they come from, found by their content."""
    waiting: dict[bytes, list[int]] = {}
    for number in range(len(log) - 1, -1, -1):
        waiting.setdefault(_content(log, number), []).append(number)
    return np.array([waiting[_content(episodes, number)].pop() for number in range(len(episodes))])


def _content(data: Trajectories, number: int) -> bytes:
    steps = slice(data.offsets[number], data.offsets[number + 1])
    return b"".join(part[steps].tobytes() for part in (data.actions, data.observations, data.rewards))
