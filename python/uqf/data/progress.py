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
    """Steps read so far, over all stages."""
    total: int
    """Steps to be read over all stages."""
    seconds: float
    """Since the fit began."""

    @property
    def seconds_left(self) -> float:
        """What the rest will take at the speed so far; infinite before anything is done."""
        return self.seconds * (self.total - self.done) / self.done if self.done else float("inf")


class Reporter:
    """Counts steps over the stages of a fit and tells a callback, if there is one."""

    def __init__(self, callback: Callable[[Progress], object] | None, total: int) -> None:
        self.callback, self.total = callback, total
        self.done, self.begin, self.stage = 0, time.perf_counter(), ""

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self.begin

    def enter(self, stage: str, detail: str) -> None:
        """The next stage begins."""
        self.stage = stage
        LOG.info("%s: %s (%.1f s so far)", stage, detail, self.seconds)
        self.add(0)

    def add(self, steps: int) -> None:
        """So many more steps were read."""
        self.reach(self.done + steps)

    def reach(self, done: int) -> None:
        """So many steps were read in all; estimates that turn out too high are not taken back."""
        self.done = max(self.done, min(done, self.total))
        if self.callback is not None:
            self.callback(Progress(self.stage, self.done, self.total, self.seconds))
