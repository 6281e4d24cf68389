"""Telling how far a long fit is: values for a callback, lines for Python's `logging`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

#: Everything that is worth knowing about a long computation is told here; nobody listens unless asked to.
LOG = logging.getLogger("uqf")
LOG.addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Progress:
    """How far a fit is."""

    stage: str
    """What is being done, such as "first pass"."""
    done: int
    """Work done so far, over all stages: the steps that were read, weighted by what a step costs in each stage."""
    total: int
    """Work of all stages; an estimate where it depends on what is found."""
    seconds: float
    """Since the fit began."""

    @property
    def seconds_left(self) -> float:
        """What the rest will take at the speed so far; infinite before anything is done."""
        return self.seconds * (self.total - self.done) / self.done if self.done else float("inf")


Callback = Callable[[Progress], object]


class Reporter:
    """Adds up work over the stages of a fit and tells a callback, if there is one.

    What is told never falls and never passes the total, however wrong the estimates of single stages were.
    """

    def __init__(self, callback: Callback | None, total: float) -> None:
        self.callback, self.total = callback, max(1, round(total))
        self.began, self.stage = time.perf_counter(), ""
        self.done, self._first, self._last, self._scale = 0.0, 0.0, 0.0, 1.0

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self.began

    def enter(self, stage: str, detail: str, work: float = 0.0) -> None:
        """The next stage begins, of so much work; whatever the stage before it had left is done."""
        self.stage, self._first, self._last = stage, self._last, self._last + work * self._scale
        LOG.info("%s: %s (%.1f s so far)", stage, detail, self.seconds)
        self.reach(0.0)

    def expect(self, work: float) -> None:
        """By a better estimate so much work is still to come: what is left of the total is shared out anew."""
        self._scale = max(self.total - self._last, 0.0) / max(work, 1.0)

    def reach(self, share: float) -> None:
        """Tells that this share of the stage is done."""
        reached = self._first + min(max(share, 0.0), 1.0) * (self._last - self._first)
        self._tell(min(max(self.done, reached), self.total))

    def within(self, stage: str, work: float) -> Callback:
        """Enters a stage whose progress is told by a fit of its own, to this callback."""
        self.enter(stage, "begins", work)

        def told(progress: Progress) -> None:
            self.stage = f"{stage}: {progress.stage}"
            self.reach(progress.done / progress.total)

        return told

    def finish(self) -> None:
        """All is done."""
        self._tell(self.total)

    def _tell(self, done: float) -> None:
        self.done = done
        if self.callback is not None:
            self.callback(Progress(self.stage, int(done), self.total, self.seconds))
