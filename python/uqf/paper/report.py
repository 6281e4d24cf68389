"""The report: one HTML file with figures, tables and replays, made from finished cells alone."""

from __future__ import annotations

import os
from pathlib import Path

from uqf.files import whole_file
from uqf.page.render import render
from uqf.paper import gridworld, gridworld_report, spocman, spocman_report
from uqf.paper.cells import Cell, Row, Store
from uqf.paper.policies_report import SPECTRUM_STYLES, replays, spectra
from uqf.paper.spocman_report import longest_fitted_q, summary, time_ratios

#: What differs from row to row on the same machine.
SHIFTING = ("time", "cell_seconds")


def write_report(folder: str | os.PathLike[str], size: str) -> Path:
    """Writes ``<folder>/report.html`` of this size from the cells in `folder`; runs nothing.

    The figure of returns is also written on its own, as ``<folder>/gridworld.svg``.

    Cells that are not finished are left out; an experiment without any finished cell has no section.
    """
    grid = _finished(folder, gridworld.EXPERIMENT, gridworld.GridWorld(size).cells())
    pacman = _finished(folder, spocman.EXPERIMENT, spocman.SPocMan(size).cells())
    path = Path(folder) / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = gridworld_report.part(grid)
    page = render(
        "paper.html",
        size=size,
        tiles=_tiles(grid, pacman),
        grid=part,
        pacman=spocman_report.part(pacman),
        spectra=spectra(grid, pacman),
        spectrum_keys=[(style, world) for world, style in SPECTRUM_STYLES.items()],
        replays=replays(grid, pacman),
        learners=_learners(grid + pacman),
        origins=sorted(
            {
                ", ".join(f"{k} {v}" for k, v in row.origin.items() if k not in SHIFTING)
                for row in grid + pacman
            }
        ),
    )
    _write(path, page)
    if part is not None:
        keys = [("curve", *key) for key in part["keys"]] + [("level", *key) for key in part["levels"]]
        _write(path.with_name("gridworld.svg"), render("standalone.svg", drawing=part["returns"], keys=keys))
    return path


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def _finished(folder: str | os.PathLike[str], experiment: str, cells: list[Cell]) -> list[Row]:
    return Store(folder, experiment).finished(cells)


def _tiles(grid: list[Row], pacman: list[Row]) -> list[tuple[str, str, str]]:
    """(nothing, a figure, what it is)."""
    lines = {line["label"]: line for line in summary(pacman)}
    ratios = time_ratios(list(lines.values()))
    shown = []
    rival = longest_fitted_q(list(lines.values()))
    for method in ("context-q", "belief-q"):
        label = spocman.LABELS[method]
        if label in ratios and rival:
            note = (
                f"longer training of {rival['label']}, than of {label}, on S-PocMan; the paper: 245× with 400"
            )
            shown.append(("", f"{ratios[label]:,.0f}×", note))
    best = spocman.LABELS["policy-iteration"]
    if best in lines:
        note = "return with policy iteration on S-PocMan; the paper: −92"
        shown.append(("", f"{lines[best]['return']:+.0f}", note))
    far = gridworld_report.curves(grid, "far", "return")
    if "belief-q" in far:
        episodes, mean, _ = far["belief-q"][-1]
        note = f"return of BeliefQ from the far start after {episodes:,.0f} random episodes"
        shown.append(("", f"{mean:.2f}", note))
    return shown


def _learners(rows: list[Row]) -> dict[tuple[str, str], str]:
    """Settings by experiment and method."""
    learners: dict[tuple[str, str], str] = {}
    for row in rows:
        setting = row.cell.setting
        if "learner" in setting:
            grid = ", ".join(f"{name} from {values}" for name, values in setting["grid"].items())
            final = ", ".join(f"{name} = {value}" for name, value in setting["final"].items())
            words = "; ".join(part for part in (setting["learner"], grid, final) if part)
            learners[row.cell.experiment, row.cell.method] = words
    return learners
