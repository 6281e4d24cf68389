"""How far a long computation is: counts for a callback, lines for Python's `logging`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

from uqf.episodes.checks import function

#: Long computations log their stages here; nothing is shown unless the program configures a handler.
LOG = logging.getLogger("uqf")
LOG.addHandler(logging.NullHandler())

#: ``progress(stage, done, total)``: what is being done, and how much of it is done, in units of the stage.
Callback = Callable[[str, int, int], object]


class Reporter:
    """Reports the stages of one computation to a callback, if there is one.

    Within a stage `done` begins with 0, never falls and never exceeds `total`. Stages follow one another, and each has
    a name of its own; how many there will be is not known.
    """

    def __init__(self, callback: Callback | None) -> None:
        if callback is not None:
            function("progress", callback, "stage, done and total")
        self.callback, self.stage, self.done, self.total = callback, "", 0, 0
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def enter(self, stage: str, total: int) -> None:
        """Begins the next stage, of `total` units (steps, models, rounds, …)."""
        self.stage, self.done, self.total = stage, 0, max(1, total)
        LOG.info("%s: %s to do (%.1f s so far)", stage, f"{total:,}", self.seconds)
        self._report()

    def reach(self, done: int) -> None:
        """`done` units of the stage are done; less than before, or more than there are, is corrected."""
        self.done = min(max(self.done, int(done)), self.total)
        self._report()

    def advance(self, units: int) -> None:
        self.reach(self.done + units)

    def finish(self) -> None:
        """All of the stage is done; call it at the end of the last one."""
        self.reach(self.total)

    def scored(self, name: str, mean: float, stderr: float) -> None:
        """What a round or a candidate scored, for callbacks that listen to it, such as `uqf.CsvLines`."""
        listener = getattr(self.callback, "scored", None)
        if listener is not None:
            listener(name, mean, stderr)

    def _report(self) -> None:
        if self.callback is not None:
            self.callback(self.stage, self.done, self.total)


def within(callback: Callback | None, name: str) -> Callback | None:
    """The callback of a computation that is a part of another: its stages are called "name: stage"."""
    return None if callback is None else partial(_prefixed, callback, name)


def _prefixed(callback: Callback, name: str, stage: str, done: int, total: int) -> object:
    return callback(f"{name}: {stage}", done, total)
