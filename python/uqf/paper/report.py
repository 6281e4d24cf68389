"""The report: one HTML file with figures, tables and replays, made from finished cells alone."""

from __future__ import annotations

import os
from pathlib import Path

from uqf.files import whole_file
from uqf.page.render import render
from uqf.paper import gridworld, gridworld_report, spocman, spocman_report
from uqf.paper.cells import Cell, Row, Store
from uqf.paper.head import head
from uqf.types import Record

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
        tiles=head(grid, pacman),
        grid=part,
        pacman=spocman_report.part(pacman),
        replays=_replays(grid + pacman),
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
        _write(path.with_name("gridworld.svg"), render("standalone.svg", drawing=part["alone"], keys=[]))
    return path


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def _finished(folder: str | os.PathLike[str], experiment: str, cells: list[Cell]) -> list[Row]:
    return Store(folder, experiment).finished(cells)


def _learners(rows: list[Row]) -> dict[tuple[str, str], str]:
    """Settings by experiment and method."""
    learners: dict[tuple[str, str], str] = {}
    for row in rows:
        setting = row.cell.setting
        if "learner" in setting:
            grid = "; or ".join(
                ", ".join(f"{name} from {values}" for name, values in one.items()) for one in setting["grid"]
            )
            final = ", ".join(f"{name} = {value}" for name, value in setting["final"].items())
            words = "; ".join(part for part in (setting["learner"], grid, final) if part)
            learners[row.cell.experiment, row.cell.method] = words
    return learners


def _replays(rows: list[Row]) -> dict[str, Record]:
    """Recorded episodes by title; of each world and method the last one, which has most data."""
    labels = gridworld.LABELS | spocman.LABELS
    return {
        f"{row.cell.setting['world']} · {labels[row.cell.method]}": row.result["replay"]
        for row in rows
        if "replay" in row.result
    }
