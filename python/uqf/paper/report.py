"""The report: one HTML file with figures, tables and replays, made from finished cells alone."""

from __future__ import annotations

import os
from pathlib import Path

from uqf.files import whole_file
from uqf.page.figures import standalone
from uqf.page.parts import document, style, tiles
from uqf.paper import gridworld, gridworld_report, spocman, spocman_report
from uqf.paper.cells import Cell, Row, Store
from uqf.paper.policies_report import replays, spectra
from uqf.paper.spocman_report import longest_fitted_q, summary, time_ratios
from uqf.printable import escape

#: What differs from row to row on the same machine.
SHIFTING = ("time", "cell_seconds")


def write_report(folder: str | os.PathLike[str], size: str) -> Path:
    """Writes ``<folder>/report.html`` of this size from the cells in `folder`; runs nothing.

    The figure of returns is also written on its own, as ``<folder>/gridworld.svg``.

    Cells that are not finished are left out; an experiment without any finished cell has no section.
    """
    grid = _finished(folder, gridworld.EXPERIMENT, gridworld.GridWorld(size).cells())
    pacman = _finished(folder, spocman.EXPERIMENT, spocman.SPocMan(size).cells())
    body = [_head(grid, pacman, size)]
    body += gridworld_report.sections(grid) if grid else []
    body += spocman_report.sections(pacman) if pacman else []
    body += [spectra(grid, pacman), replays(grid, pacman), _settings(grid + pacman, size)]
    path = Path(folder) / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, document("uqf: the experiments", body))
    if gridworld_report.sizes_of(grid):
        figure = gridworld_report.returns_figure(grid)
        keys, levels = gridworld_report.keys(grid), list(gridworld.REFERENCES.items())
        alone = standalone(figure, style(), keys, levels, *gridworld_report.SIZE)
        _write(path.with_name("gridworld.svg"), alone)
    return path


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def _finished(folder: str | os.PathLike[str], experiment: str, cells: list[Cell]) -> list[Row]:
    return Store(folder, experiment).finished(cells)


def _head(grid: list[Row], pacman: list[Row], size: str) -> str:
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
            shown.append((f"{ratios[label]:,.0f}×", note))
    best = spocman.LABELS["policy-iteration"]
    if best in lines:
        shown.append(
            (
                f"{lines[best]['return']:+.0f}",
                "return with policy iteration on S-PocMan; the paper: −92",
            )
        )
    far = gridworld_report.curves(grid, "far", "return")
    if "belief-q" in far:
        episodes, mean, _ = far["belief-q"][-1]
        shown.append(
            (f"{mean:.2f}", f"return of BeliefQ from the far start after {episodes:,.0f} random episodes")
        )
    return (
        "<h1>Planning under partial observability,<br>from logged episodes</h1>"
        '<p class="lead">Unnormalised Q functions learned by spectral methods, beside their rivals, on the '
        "two tasks of Li, Mazoure, Precup and Rabusseau (AISTATS 2020). "
        f"Size of this run: {escape(size)}.</p>"
        f"{tiles(shown)}"
    )


def _settings(rows: list[Row], size: str) -> str:
    learners: dict[tuple[str, str], str] = {}
    for row in rows:
        setting = row.cell.setting
        if "learner" in setting:
            grid = ", ".join(f"{name} from {values}" for name, values in setting["grid"].items())
            final = ", ".join(f"{name} = {value}" for name, value in setting["final"].items())
            words = "; ".join(part for part in (setting["learner"], grid, final) if part)
            learners[row.cell.experiment, row.cell.method] = words
    body = "".join(
        f"<tr><td>{escape(experiment)}: {escape(method)}</td>"
        f'<td style="text-align:left;white-space:normal"><code>{escape(words)}</code></td></tr>'
        for (experiment, method), words in learners.items()
    )
    commands = f"uqf reproduce gridworld --size {size}\nuqf reproduce spocman --size {size}"
    origins = sorted(
        {", ".join(f"{k} {v}" for k, v in row.origin.items() if k not in SHIFTING) for row in rows}
    )
    return (
        "<h2>Settings and commands</h2><p>Finished cells are kept in <code>*.jsonl</code> beside this file, "
        "one line each, and are never run again; remove a file to start anew.</p>"
        f'<div class="card"><pre class="commands">{escape(commands)}</pre></div>'
        f'<div class="card"><table><tbody>{body}</tbody></table></div>'
        f"<p><small>{'<br>'.join(escape(origin) for origin in origins)}</small></p>"
    )
