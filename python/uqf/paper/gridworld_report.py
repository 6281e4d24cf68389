"""The grid world part of the report: returns, training time, table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from uqf.page.figures import Axis, Drawing, Panel
from uqf.page.parts import plus_minus
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
OURS = ("belief-q", "spectral-q", "uqf", "uqf-played", "uqf-returns", "uqf-start")

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


def returns_figure(rows: list[Row]) -> Drawing:
    """The paper's figure: one panel per start."""
    sizes = sizes_of(rows)
    panels = []
    for index, start in enumerate(gridworld.STARTS):
        methods = curves(rows, start, "return")
        left = 60 + index * 340
        x = Axis(sizes[0] / 1.15, sizes[-1] * 1.15, left, left + 285, logarithmic=True)
        y_label = "" if index else "return"
        panel = Panel(f"start: {start}", x, Axis(0, 1, 290, 40), "training episodes", y_label, _ticks(sizes))
        for method, label in gridworld.REFERENCES.items():
            for row in rows:
                if row.cell.method == method and row.cell.setting["world"].endswith(start):
                    panel.level(row.result["return"], method, label)
        for method in reversed(LEARNERS):
            if method in methods:
                panel.line(methods[method], method, gridworld.LABELS[method])
        panels.append(panel)
    return Drawing(panels, *SIZE, "returns", "Return against training episodes from three starts")


def keys(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """(style, label) of the learners that have been run."""
    ran = {row.cell.method for row in rows}
    return [(method, gridworld.LABELS[method]) for method in LEARNERS if method in ran]


def _ticks(sizes: list[int]) -> list[int]:
    """All sizes if they are few, else about every second one and the last."""
    return sizes if len(sizes) <= 4 else [*sizes[:-1:2], sizes[-1]]


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
        "returns": returns_figure(rows),
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
    panel = Panel(title, x, y, "training episodes", "seconds", _ticks(sizes))
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
            ("—", "") if place is None else (f"{place[0]:.3f}", plus_minus(place[1])) for place in places
        ]
        lines.append((label, cells, method in OURS))
    return lines
