"""The grid world part of the report: returns, training time, table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from uqf.page.figures import Axis, Panel, drawing, legend, table
from uqf.page.labels import spread
from uqf.paper import gridworld
from uqf.paper.cells import Row
from uqf.paper.contest import mean_and_error

Curve = list[tuple[float, float, float]]
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


def returns_figure(rows: list[Row]) -> str:
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
    return drawing(panels, *SIZE, "returns", "Return against training episodes from three starts")


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


def sections(rows: list[Row]) -> list[str]:
    """Markup of this part; nothing if no learner has been run."""
    sizes = sizes_of(rows)
    if not sizes:
        return []
    names = legend(keys(rows), list(gridworld.REFERENCES.items()))
    ran = {(row.cell.method, row.cell.seed) for row in rows if row.cell.method in LEARNERS}
    counts = sorted(Counter(method for method, _ in ran).values())
    few, many = counts[0], counts[-1]
    seeds = f"{few} to {many} seeds" if few < many else f"{many} seed{'s' * (many > 1)}"
    return [
        "<h2>Grid world: return against data</h2>"
        "<p>The agent sees only how many of the four cells around it are walls. It learns from episodes of "
        "uniformly random play and is then scored on fresh ones. "
        f"Means over {seeds}; bands are ± 1 standard error over seeds. "
        "Point at a mark to read it.</p>"
        f'<div class="card">{returns_figure(rows)}{names}</div>',
        _training_time(rows, sizes, _ticks(sizes)),
        _table(rows),
    ]


def _training_time(rows: list[Row], sizes: list[int], ticks: Sequence[float]) -> str:
    found = curves(rows, "", "seconds")
    seconds = [value for points in found.values() for _, value, _ in points]
    y = Axis(max(min(seconds) / 1.5, 1e-6), max(seconds) * 1.5, 240, 36, logarithmic=True)
    x = Axis(sizes[0] / 1.15, sizes[-1] * 1.15, 70, 760, logarithmic=True)
    panel = Panel("training time, mean of the three starts", x, y, "training episodes", "seconds", ticks)
    for method, points in found.items():
        panel.line([(n, value, 0.0) for n, value, _ in points], method, gridworld.LABELS[method])
    ends = spread([y(points[-1][1]) for points in found.values()], 16.0, y.end, y.start)
    for method, py in zip(found, ends, strict=True):
        panel.text(x.end + 10, py + 4, gridworld.LABELS[method])
    figure = drawing([panel], 1040, 290, "training-time", "Training seconds against training episodes")
    return f'<div class="card">{figure}</div>'


def _table(rows: list[Row]) -> str:
    sizes = table_sizes(rows)
    if not sizes:
        return ""
    by_size = [table_lines(rows, episodes) for episodes in sizes]
    lines = []
    for method, label in gridworld.LABELS.items():
        places = [found[method].get(start) for found in by_size for start in gridworld.STARTS]
        cells = [
            f"{place[0]:.3f} <small>± {place[1]:.3f}</small>" if place is not None else "—"
            for place in places
        ]
        lines.append((label, cells, method in OURS))
    refused = sum(bool(row.result.get("refused")) for row in rows)
    note = (
        f"<p>Fits refused for lack of rewarded words, and scored as random play: {refused}.</p>"
        if refused
        else ""
    )
    heads = ["method", *(f"{start}, {episodes:,}" for episodes in sizes for start in gridworld.STARTS)]
    title = " and after ".join(f"{episodes:,}" for episodes in sizes)
    return f'<div class="card"><h3>Return after {title} episodes</h3>{table(heads, lines)}{note}</div>'
