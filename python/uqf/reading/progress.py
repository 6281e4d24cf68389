"""Telling how far a long fit is: values for a callback, lines for Python's `logging`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

#: Everything that is worth knowing about a long computation is told here; nobody listens unless asked to.
LOG = logging.getLogger("uqf")
LOG.addHandler(logging.NullHandler())


#: Weight of what things take by experience: in seconds, and as a share of a stage.
PRIOR_SECONDS = 1.0
PRIOR_SHARE = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a fit is.

    Attributes
    ----------
    stage : str
        What is being done, such as "first pass".
    done : int
        Work done so far, over all stages: the steps that were read, weighted by what a step costs in each stage.
    total : int
        Work of all stages; an estimate where it depends on what is found.
    seconds : float
        Since the fit began.
    seconds_left : float
        What the rest will take, by what stages took so far; infinite before anything is done.

    Examples
    --------
    >>> import uqf
    >>> told = []
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=100, seed=0)
    >>> learner = uqf.UQF(2, 0.95).fit(data, progress=told.append)
    >>> told[-1].done <= told[-1].total
    True
    """

    stage: str
    done: int
    total: int
    seconds: float
    seconds_left: float = float("inf")


Callback = Callable[[Progress], object]


class Reporter:
    """Adds up work over the stages of a fit and tells a callback, if there is one.

    What is told never falls and never passes the total, however wrong the estimates of single stages were. The time
    left rests on how long the stages took so far for their work, and on the latest estimate of what is still to come.
    `unit` is what a unit of work takes by experience, in seconds; it counts for `PRIOR_SECONDS`.
    """

    def __init__(self, callback: Callback | None, total: float, unit: float) -> None:
        self.callback, self.total = callback, max(1, round(total))
        # A fit within a fit begins with what is known of the machine by then.
        self.unit = callback.unit if isinstance(callback, Within) else unit
        self.began, self.stage, self.done = time.perf_counter(), "", 0.0
        # Work of the stages before this one, of this one, and of those after it; when this one began; its share of
        # the total.
        self._past, self._work, self._later, self._entered = 0.0, 0.0, float(self.total), 0.0
        self._first, self._last, self._scale = 0.0, 0.0, 1.0

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self.began

    def enter(self, stage: str, detail: str, work: float = 0.0) -> None:
        """The next stage begins, of so much work; whatever the stage before it had left is done."""
        self.stage, self._first, self._last = stage, self._last, self._last + work * self._scale
        self._past, self._work, self._entered = self._past + self._work, work, self.seconds
        self._later = max(self._later - work, 0.0)
        LOG.info("%s: %s (%.1f s so far)", stage, detail, self.seconds)
        self.reach(0.0)

    def expect(self, work: float) -> None:
        """By a better estimate so much work is still to come: what is left of the total is shared out anew."""
        self._later = work
        self._scale = max(self.total - self._last, 0.0) / max(work, 1.0)

    def reach(self, share: float, duration: float | None = None) -> None:
        """Tells that this share of the stage is done, which will have taken so many seconds in all."""
        share = min(max(share, 0.0), 1.0)
        reached = self._first + share * (self._last - self._first)
        if duration is None:
            usual = self._speed(self._entered, self._past) * self._work
            spent = self.seconds - self._entered
            duration = (spent + PRIOR_SHARE * usual) / (share + PRIOR_SHARE)
        left = (1.0 - share) * duration
        left += self._speed(self._entered + duration, self._past + self._work) * self._later
        self._tell(min(max(self.done, reached), self.total), left)

    def _speed(self, seconds: float, work: float) -> float:
        """Seconds that a unit of work takes, if so many took so long."""
        return (seconds + PRIOR_SECONDS) / (work + PRIOR_SECONDS / self.unit)

    def within(self, stage: str, work: float) -> Callback:
        """Enters a stage whose progress is told by a fit of its own, to this callback."""
        self.enter(stage, "begins", work)
        return Within(self, stage, self._speed(self._entered, self._past))

    def finish(self) -> None:
        """All is done."""
        self._tell(self.total, 0.0)

    def _tell(self, done: float, left: float) -> None:
        self.done = done
        if self.callback is not None:
            self.callback(Progress(self.stage, int(done), self.total, self.seconds, left))


@dataclass(frozen=True)
class Within:
    """The callback of a fit that is a stage of another."""

    reporter: Reporter
    stage: str
    unit: float
    """Seconds that a unit of work took so far."""

    def __call__(self, progress: Progress) -> None:
        """Tells the other."""
        self.reporter.stage = f"{self.stage}: {progress.stage}"
        whole = progress.seconds + progress.seconds_left
        self.reporter.reach(progress.seconds / max(whole, 1e-9), whole)
