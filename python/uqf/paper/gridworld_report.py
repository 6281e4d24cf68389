"""The grid world part of the report: returns, training time, table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from uqf.page.figures import Axis, Drawing, Panel
from uqf.paper import gridworld
from uqf.paper.cells import Row
from uqf.paper.contest import mean_and_error
from uqf.types import Record

Curve = list[tuple[float, float, float]]
#: (label, (words, small words) of every cell, whether it is ours)
TableLine = tuple[str, list[tuple[str, str]], bool]
#: Width and height of the figure of returns.
SIZE = (1040.0, 340.0)

#: Rows that are printed in bold.
OURS = ("belief-q", "spectral-q", "uqf", "uqf-returns", "uqf-start")

#: The learners of the first figure, and its level lines in short words.
FIVE = ("belief-q", "uqf-returns", "uqf", "cpsr-fitted-q", "memoryless")
LEVELS = {"random": "random", "one-step-belief": "one exact step", "optimum": "optimum"}

LEARNERS = [method for method in gridworld.LABELS if method not in gridworld.REFERENCES]


def curves(rows: Sequence[Row], start: str, figure: str) -> dict[str, Curve]:
    """Of every learner, (training episodes, mean, standard error over seeds) of a figure of the results."""
    found: dict[str, Curve] = {}
    chosen = [
        row for row in rows if row.cell.setting["world"].endswith(start) and row.cell.method in LEARNERS
    ]
    for method in LEARNERS:
        runs: dict[int, list[float]] = {}
        for row in chosen:
            if row.cell.method == method:
                runs.setdefault(row.cell.setting["episodes"], []).append(row.result[figure])
        if runs:
            found[method] = [
                (n, *np.nan_to_num(mean_and_error(values))) for n, values in sorted(runs.items())
            ]
    return found


def sizes_of(rows: Sequence[Row]) -> list[int]:
    """Numbers of training episodes that occur."""
    return sorted({row.cell.setting["episodes"] for row in rows if "episodes" in row.cell.setting})


def returns_panel(rows: list[Row], start: str, methods: Sequence[str], left: float, *, named: bool) -> Panel:
    """Returns from a start against training episodes; with `named`, names stand beside the lines."""
    lines = {method: points for method, points in curves(rows, start, "return").items() if method in methods}
    sizes = sorted({int(n) for points in lines.values() for n, *_ in points})
    x = Axis(sizes[0] / 1.15, sizes[-1] * 1.15, left, left + (190 if named else 285), logarithmic=True)
    panel = Panel(f"start: {start}", x, Axis(0, 1, 290, 40), "training episodes", "", _ticks(sizes))
    names: list[tuple[float, str, float | None, str]] = []
    for method in LEVELS if named else gridworld.REFERENCES:
        for row in rows:
            if row.cell.method == method and row.cell.setting["world"].endswith(start):
                panel.level(row.result["return"], method, gridworld.LABELS[method])
                names.append((row.result["return"], LEVELS.get(method, ""), None, method))
    for method, points in reversed(lines.items()):
        panel.line(points, method, gridworld.LABELS[method])
        names.append((points[-1][1], gridworld.LABELS[method], points[-1][0], method))
    if named:
        panel.labels(names)
    return panel


def returns_figures(rows: list[Row]) -> list[Drawing]:
    """The paper's figure, one drawing per start: five learners with their names beside the lines."""
    return [
        Drawing(
            [returns_panel(rows, start, FIVE, 36, named=True)],
            350,
            340,
            f"returns-{start}",
            f"Returns, {start}",
        )
        for start in gridworld.STARTS
    ]


def all_returns(rows: list[Row], methods: Sequence[str] | None = None, *, named: bool = False) -> Drawing:
    """The panels of all starts in one drawing; of all learners by default."""
    panels = [
        returns_panel(rows, start, methods or LEARNERS, 40 + index * 345, named=named)
        for index, start in enumerate(gridworld.STARTS)
    ]
    return Drawing(panels, *SIZE, "all-returns", "Return against training episodes from three starts")


def keys(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """(style, label) of the learners that have been run."""
    ran = {row.cell.method for row in rows}
    return [(method, gridworld.LABELS[method]) for method in LEARNERS if method in ran]


def _ticks(sizes: list[int]) -> list[int]:
    """All sizes if they are few, else every second one up to the last."""
    return sizes if len(sizes) <= 3 else sizes[::-2][::-1]


def table_sizes(rows: Sequence[Row]) -> list[int]:
    """The smallest number of training episodes, and the largest that every learner has been through."""
    common = set(sizes_of(rows))
    for method in {row.cell.method for row in rows} & set(LEARNERS):
        common &= set(sizes_of([row for row in rows if row.cell.method == method]))
    return sorted({min(common), max(common)}) if common else []


def table_lines(rows: Sequence[Row], episodes: int) -> dict[str, dict[str, tuple[float, float]]]:
    """Of every method, (mean, standard error) of the return by start; references do not depend on episodes.

    The error is that of the mean over seeds, for references that of the scoring episodes.
    """
    lines: dict[str, dict[str, tuple[float, float]]] = {method: {} for method in gridworld.LABELS}
    for start in gridworld.STARTS:
        for method, points in curves(rows, start, "return").items():
            for n, mean, error in points:
                if n == episodes:
                    lines[method][start] = mean, error
        for row in rows:
            if row.cell.method in gridworld.REFERENCES and row.cell.setting["world"].endswith(start):
                lines[row.cell.method][start] = row.result["return"], row.result["stderr"]
    return lines


def part(rows: list[Row]) -> Record | None:
    """What the page shows of this experiment; None if no learner has been run."""
    sizes = sizes_of(rows)
    if not sizes:
        return None
    ran = {(row.cell.method, row.cell.seed) for row in rows if row.cell.method in LEARNERS}
    counts = sorted(Counter(method for method, _ in ran).values())
    fewest, most = counts[0], counts[-1]
    return {
        "returns": returns_figures(rows),
        "all": all_returns(rows),
        "alone": all_returns(rows, FIVE, named=True),
        "keys": keys(rows),
        "levels": list(gridworld.REFERENCES.items()),
        "seeds": f"{fewest} to {most} seeds" if fewest < most else f"{most} seed{'s' * (most > 1)}",
        "time": _training_time(rows, sizes),
        "sizes": table_sizes(rows),
        "heads": ["method", *(f"{s}, {n:,}" for n in table_sizes(rows) for s in gridworld.STARTS)],
        "lines": _lines(rows),
        "refused": sum(bool(row.result.get("refused")) for row in rows),
    }


def _training_time(rows: list[Row], sizes: list[int]) -> Drawing:
    by_method = curves(rows, "", "seconds")
    seconds = [value for points in by_method.values() for _, value, _ in points]
    y = Axis(max(min(seconds) / 1.5, 1e-6), max(seconds) * 1.5, 240, 36, logarithmic=True)
    x = Axis(sizes[0] / 1.15, sizes[-1] * 1.15, 70, 760, logarithmic=True)
    title = "training time, mean of the three starts"
    panel = Panel(title, x, y, "training episodes", "CPU seconds", _ticks(sizes))
    for method, points in by_method.items():
        panel.line([(n, value, 0.0) for n, value, _ in points], method, gridworld.LABELS[method])
    panel.labels(
        [(points[-1][1], gridworld.LABELS[method], None, method) for method, points in by_method.items()]
    )
    return Drawing([panel], 1040, 290, "training-time", "Training seconds against training episodes")


def _lines(rows: list[Row]) -> list[TableLine]:
    by_size = [table_lines(rows, episodes) for episodes in table_sizes(rows)]
    lines = []
    for method, label in gridworld.LABELS.items():
        places = [found[method].get(start) for found in by_size for start in gridworld.STARTS]
        cells = [
            ("—", "") if place is None else (f"{place[0]:.3f}", f"± {place[1]:.3f}" if place[1] else "")
            for place in places
        ]
        lines.append((label, cells, method in OURS))
    return lines
