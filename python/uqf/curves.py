"""Learning curves: rounds as a table, as a plot, and as lines of a CSV file while they are played or learned."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from uqf.files import as_path, naming
from uqf.types import Record

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Curve:
    """Something with `rounds`: dataclasses, each with a `number`, a `mean` and its `stderr`."""

    rounds: Sequence[Any]  # Any: a dataclass of whoever has rounds

    def to_frame(self) -> pandas.DataFrame:
        """A row per round. Needs pandas: ``pip install 'uqf[plot]'``."""
        return frame_of([asdict(one) for one in self.rounds])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The return of every round with two standard errors, by its number. Needs matplotlib, as `to_frame`."""
        rows = [(one.number, one.mean, one.stderr) for one in self.rounds]
        return plotted(rows, ax, xlabel="round", ylabel="return")


def frame_of(rows: Sequence[Record]) -> pandas.DataFrame:
    """Records as a table."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise ImportError("to_frame() needs pandas: pip install 'uqf[plot]'") from error
    return pandas.DataFrame(list(rows))


def plotted(
    rows: Sequence[tuple[float | str, float, float]], ax: Axes | None, *, xlabel: str, ylabel: str
) -> Axes:
    """Points (x, mean, standard error) with bars of two standard errors; on new axes if none are given."""
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        raise ImportError("plot() needs matplotlib: pip install 'uqf[plot]'") from error
    axes = pyplot.figure().add_subplot() if ax is None else ax
    places, means, errors = zip(*rows, strict=True)
    axes.errorbar(places, means, yerr=[2.0 * error for error in errors], marker="o", capsize=3)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    return axes


class CsvLines:
    """A callback for `progress` that writes a CSV file while something is played or learned.

    A line says when a stage begins and ends, and what every round or candidate scored as soon as it is known. Columns:
    seconds since the beginning, stage, done, total, name, mean, stderr; the last three are empty where nothing scored.

    Parameters
    ----------
    path : path
        Of the file, which is begun anew. Every line is on the disk before the computation goes on.

    Examples
    --------
    >>> import uqf
    >>> lines = uqf.CsvLines("rounds.csv")
    >>> result = uqf.policy_iteration(uqf.make("tiger"), uqf.ContextQ(0.95), iterations=3, episodes=50, progress=lines)
    >>> with open("rounds.csv") as file:
    ...     print(next(file).strip())
    seconds,stage,done,total,name,mean,stderr
    """

    COLUMNS: ClassVar = ("seconds", "stage", "done", "total", "name", "mean", "stderr")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self._began, self._place = as_path(path), time.perf_counter(), ("", 0, 0)
        with naming(path), open(path, "w", newline="") as file:
            csv.writer(file).writerow(self.COLUMNS)

    def __call__(self, stage: str, done: int, total: int) -> None:
        begins, self._place = stage != self._place[0], (stage, done, total)
        if begins or done >= total:
            self._write()

    def scored(self, name: str, mean: float, stderr: float) -> None:
        """What a round or a candidate scored; `uqf.reading.progress.Reporter` calls it where there is one."""
        self._write(name, mean, stderr)

    def _write(self, *score: object) -> None:
        row = (f"{time.perf_counter() - self._began:.3f}", *self._place, *(score or ("", "", "")))
        with naming(self.path), open(self.path, "a", newline="") as file:
            csv.writer(file).writerow(row)
