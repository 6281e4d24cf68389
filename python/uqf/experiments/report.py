"""The report: one HTML file with figures, tables and replays, made from finished cells alone."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from uqf.experiments import gridworld, spocman
from uqf.experiments.cells import Cell, Row, Store
from uqf.experiments.figures import Axis, Panel, drawing, legend
from uqf.files import whole_file

Curve = list[tuple[float, float, float]]
LEARNERS = [method for method in gridworld.LABELS if method not in gridworld.REFERENCES]


def write_report(folder: str | os.PathLike[str], size: str) -> Path:
    """Writes ``<folder>/report.html`` of this size from the cells in `folder`; runs nothing.

    Cells that are not finished are left out; an experiment without any finished cell has no section.
    """
    grid = _finished(folder, gridworld.EXPERIMENT, gridworld.GridWorld(size).cells())
    pacman = _finished(folder, spocman.EXPERIMENT, spocman.SPocMan(size).cells())
    body = [_head(grid, pacman, size)]
    body += _gridworld_sections(grid) if grid else []
    body += _spocman_sections(pacman) if pacman else []
    body += [_spectra(grid, pacman), _replays(grid, pacman), _settings(grid + pacman, size)]
    page = files("uqf.experiments")
    style, script = (page.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # An empty icon, or browsers ask the server for one.
        '<link rel="icon" href="data:,"><title>uqf: the experiments</title>'
        f"<style>{style}</style></head><body><main>{''.join(body)}</main><script>{script}</script></body></html>\n"
    )
    path = Path(folder) / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(text.encode())
    return path


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
            found[method] = [(n, *_mean(values)) for n, values in sorted(runs.items())]
    return found


def _finished(folder: str | os.PathLike[str], experiment: str, cells: list[Cell]) -> list[Row]:
    return Store(folder, experiment).finished(cells)


def _mean(values: Sequence[float]) -> tuple[float, float]:
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return float(np.mean(values)), error


def _head(grid: list[Row], pacman: list[Row], size: str) -> str:
    lines = {line["label"]: line for line in spocman.table(pacman)}
    ratios = spocman.time_ratios(list(lines.values()))
    tiles = []
    for method in ("uqf-contexts", "uqf"):
        label = spocman.LABELS[method]
        if label in ratios:
            note = (
                f"times longer trains CPSR + fitted-Q (most rounds) on S-PocMan than {label}; the paper: 245"
            )
            tiles.append((f"{ratios[label]:,.0f}×", note))
    best = spocman.LABELS["policy-iteration"]
    if best in lines:
        tiles.append(
            (
                f"{lines[best]['return']:+.0f}",
                "return of UQF with policy iteration on S-PocMan; the paper: −92",
            )
        )
    far = curves(grid, "far", "return")
    if "uqf" in far:
        episodes, mean, _ = far["uqf"][-1]
        tiles.append(
            (f"{mean:.2f}", f"return of UQF from the far start after {episodes:,.0f} random episodes")
        )
    cards = "".join(
        f'<div class="tile"><b>{value}</b><span>{escape(note)}</span></div>' for value, note in tiles
    )
    return (
        "<h1>Planning under partial observability,<br>from logged episodes</h1>"
        '<p class="lead">Unnormalised Q functions learned by spectral methods, beside their rivals, on the '
        "two tasks of Li, Mazoure, Precup and Rabusseau (AISTATS 2020). "
        f"Size of this run: {escape(size)}.</p>"
        f'<div class="tiles">{cards}</div>'
    )


def _gridworld_sections(rows: list[Row]) -> list[str]:
    by_start = {start: curves(rows, start, "return") for start in gridworld.STARTS}
    sizes = sorted({row.cell.setting["episodes"] for row in rows if "episodes" in row.cell.setting})
    if not sizes:
        return []
    ticks = sizes if len(sizes) <= 4 else sizes[::2]
    panels = []
    for index, (start, methods) in enumerate(by_start.items()):
        left = 60 + index * 340
        x = Axis(sizes[0] / 1.15, sizes[-1] * 1.15, left, left + 285, logarithmic=True)
        panel = Panel(
            f"start: {start}", x, Axis(0, 1, 290, 40), "training episodes", "" if index else "return", ticks
        )
        for method, label in gridworld.REFERENCES.items():
            for row in rows:
                if row.cell.method == method and row.cell.setting["world"].endswith(start):
                    panel.level(row.result["return"], method, label)
        for method in reversed(LEARNERS):
            if method in methods:
                panel.line(methods[method], method, gridworld.LABELS[method])
        panels.append(panel)
    figure = drawing(panels, 1040, 340, "returns", "Return against training episodes from three starts")
    names = legend(
        [(method, gridworld.LABELS[method]) for method in LEARNERS], list(gridworld.REFERENCES.items())
    )
    seeds = len({row.cell.seed for row in rows})
    return [
        "<h2>Grid world: return against data</h2>"
        "<p>The agent sees only how many of the four cells around it are walls. It learns from episodes of "
        "uniformly random play and is then scored on fresh ones. "
        f"Means over {seeds} seed{'s' * (seeds > 1)}; bands are ± 1 standard error over seeds. "
        "Point at a mark to read it.</p>"
        f'<div class="card">{figure}{names}</div>',
        _training_time(rows, sizes, ticks),
        _gridworld_table(rows, by_start, sizes[-1]),
    ]


def _training_time(rows: list[Row], sizes: list[int], ticks: Sequence[float]) -> str:
    found = curves(rows, "", "seconds")
    seconds = [value for points in found.values() for _, value, _ in points]
    y = Axis(max(min(seconds) / 1.5, 1e-6), max(seconds) * 1.5, 240, 36, logarithmic=True)
    x = Axis(sizes[0] / 1.15, sizes[-1] * 1.15, 70, 760, logarithmic=True)
    panel = Panel("training time, mean of the three starts", x, y, "training episodes", "seconds", ticks)
    ends: list[list[Any]] = []
    for method, points in found.items():
        panel.line([(n, value, 0.0) for n, value, _ in points], method, gridworld.LABELS[method])
        ends.append([panel.y(points[-1][1]), gridworld.LABELS[method]])
    _spread(ends, 16.0)
    for py, label in ends:
        panel.text(x.end + 10, py + 4, label)
    figure = drawing([panel], 1040, 290, "training-time", "Training seconds against training episodes")
    return f'<div class="card">{figure}</div>'


def _spread(labels: list[list[Any]], distance: float) -> None:
    """Moves labels [pixel, …] apart until none covers another."""
    labels.sort(key=lambda label: label[0])
    for before, after in pairwise(labels):
        after[0] = max(after[0], before[0] + distance)


def _gridworld_table(rows: list[Row], by_start: dict[str, dict[str, Curve]], episodes: int) -> str:
    lines = []
    for method, label in gridworld.LABELS.items():
        cells = []
        for start in gridworld.STARTS:
            exact = [
                row.result
                for row in rows
                if row.cell.method == method and row.cell.setting["world"].endswith(start)
            ]
            if method in by_start[start]:
                _, mean, error = by_start[start][method][-1]
                cells.append(f"{mean:.3f}" + f" <small>± {error:.3f}</small>" * (error > 0.0))
            elif exact:
                cells.append(f"{exact[0]['return']:.3f} <small>± {exact[0]['stderr']:.3f}</small>")
            else:
                cells.append("—")
        lines.append((label, cells, method.startswith("uqf")))
    refused = sum(bool(row.result.get("refused")) for row in rows)
    note = (
        f"<p>Fits refused for lack of rewarded words, and scored as random play: {refused}.</p>"
        if refused
        else ""
    )
    heads = ["method", *gridworld.STARTS]
    return f'<div class="card"><h3>Return after {episodes:,} episodes</h3>{_table(heads, lines)}{note}</div>'


def _table(heads: Sequence[str], lines: Sequence[tuple[str, Sequence[str], bool]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(
        f"<tr{' class=ours' if ours else ''}><td>{escape(label)}</td>"
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for label, cells, ours in lines
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _spocman_sections(rows: list[Row]) -> list[str]:
    lines = spocman.table(rows)
    ratios = spocman.time_ratios(lines)
    cells = []
    for line in lines:
        paper = [
            f"{line[key]:g}" if line[key] is not None else "—" for key in ("paper_return", "paper_seconds")
        ]
        seconds = "—" if line["seconds"] is None else f"{line['seconds']:,.3g}"
        ratio = f"{ratios[line['label']]:,.0f}×" if line["label"] in ratios else ""
        score = f"{line['return']:.1f} <small>± {line['stderr']:.1f}</small>"
        cells.append((line["label"], [score, seconds, *paper, ratio], line["label"].startswith("UQF")))
    heads = ["method", "return", "seconds", "paper: return", "paper: seconds", "fitted-Q takes"]
    episodes = max(row.cell.setting.get("episodes", 0) for row in rows)
    return [
        "<h2>S-PocMan: return against training time</h2>"
        f"<p>Everything is learned from {episodes:,} episodes of random play, but for policy iteration, "
        "which plays for itself, and POMCP, which knows the simulator and searches at every step. The paper "
        "states neither the cap on episodes nor the ghosts' rule, so its figures serve for the ordering "
        "only; a random walker that avoids walls beats all of them.</p>"
        f'<div class="card">{_time_figure(lines)}</div><div class="card">{_table(heads, cells)}</div>'
    ]


def _time_figure(lines: list[dict[str, Any]]) -> str:
    styles = {label: method for method, label in spocman.LABELS.items()}
    timed = [line for line in lines if line["seconds"] is not None]
    published = [
        (*spocman.PAPER[line["label"]], line["label"]) for line in timed if line["label"] in spocman.PAPER
    ]
    seconds = [line["seconds"] for line in timed] + [seconds for _, seconds, _ in published]
    returns = [line["return"] for line in lines] + [value for value, _, _ in published]
    margin = 0.08 * (max(returns) - min(returns))
    x = Axis(min(seconds) / 2, max(seconds) * 2, 70, 820, logarithmic=True)
    y = Axis(min(returns) - margin, max(returns) + margin, 350, 36)
    panel = Panel("filled: measured here · hollow: as published", x, y, "training time, seconds", "return")
    names = []
    for line in lines:
        style = styles.get(line["label"], "cpsr-fitted-q")
        if line["seconds"] is None:
            panel.level(line["return"], style, line["label"])
            names.append([y(line["return"]), line["label"]])
    _spread(names, 15.0)
    for py, label in names:
        panel.text(x.end + 8, py + 4, label, style="note")
    for value, duration, label in published:
        style = "hollow " + styles.get(label, "cpsr-fitted-q")
        panel.mark(x(duration), y(value), style, f"{label}, as published: {value:g} in {duration:g} s", 5)
    labels = []
    for line in timed:
        style = styles.get(line["label"], "cpsr-fitted-q")
        note = f"{line['label']}: {line['return']:.1f} in {line['seconds']:.3g} s"
        panel.mark(x(line["seconds"]), y(line["return"]), style, note, 6)
        short = line["label"].removeprefix("CPSR + fitted-Q, ")
        if not line["label"].endswith(" rounds") or short == f"{_most_rounds(timed)} rounds":
            labels.append((line["seconds"], line["return"], line["label"]))
    for duration, value, label in labels:
        right = x(duration) > 560
        panel.text(x(duration) + (-11 if right else 11), y(value) + 4, label, "end" if right else "start")
    return drawing([panel], 1040, 400, "spocman", "Return against training time on S-PocMan")


def _most_rounds(lines: list[dict[str, Any]]) -> int:
    return max(
        (int(line["label"].split()[-2]) for line in lines if line["label"].endswith(" rounds")), default=0
    )


def _spectra(grid: list[Row], pacman: list[Row]) -> str:
    panels = []
    for index, (method, labels) in enumerate((("uqf-paper", gridworld.LABELS), ("uqf", gridworld.LABELS))):
        spectra: dict[str, list[float]] = {}
        for row in grid + pacman:
            if row.cell.method == method and row.cell.seed == 0 and row.result.get("singular_values"):
                spectra[row.cell.setting["world"]] = row.result["singular_values"]
        if not spectra:
            continue
        left = 75 + index * 520
        shares = {world: np.array(values) / values[0] for world, values in spectra.items()}
        floor = max(1e-6, min(float(share[share > 0].min()) for share in shares.values()))
        longest = max(len(share) for share in shares.values())
        x = Axis(1, max(longest, 2), left, left + 420)
        panel = Panel(
            f"Hankel matrix of {labels[method]}",
            x,
            Axis(floor, 1.0, 250, 36, logarithmic=True),
            "number of the singular value",
            "" if index else "part of the largest",
        )
        for world, share in shares.items():
            points = [(k + 1.0, float(value), 0.0) for k, value in enumerate(share) if value >= floor]
            panel.line(points, SPECTRUM_STYLES[world], world)
        panels.append(panel)
    if not panels:
        return ""
    figure = drawing(panels, 1040, 300, "spectra", "Singular values, falling")
    names = legend([(style, world) for world, style in SPECTRUM_STYLES.items()])
    return (
        "<h2>Singular values</h2><p>How fast they fall says how much there is to remember: directions beyond "
        "the bend are mostly noise. Seed 0, most training episodes.</p>"
        f'<div class="card">{figure}{names}</div>'
    )


#: One colour per world where curves are worlds.
SPECTRUM_STYLES = {
    "gridworld-near": "one-step-belief",
    "gridworld-mid": "tpsr-fitted-q",
    "gridworld-far": "uqf",
    "spocman": "cpsr-fitted-q",
}


def _replays(grid: list[Row], pacman: list[Row]) -> str:
    shown: dict[str, tuple[str, Any]] = {}
    for row in grid + pacman:
        if "replay" in row.result:
            labels = spocman.LABELS if row.cell.experiment == spocman.EXPERIMENT else gridworld.LABELS
            title = f"{row.cell.setting['world']} · {labels[row.cell.method]}"
            # Later cells of a world have more data; the last one is shown.
            shown[title] = (title, row.result["replay"])
    if not shown:
        return ""
    cards = "".join(_replay(title, record) for title, record in shown.values())
    return (
        "<h2>Replays</h2><p>The first scoring episode of each learned policy, not a chosen one. Bars are "
        "what the policy thinks each action is worth just before it acts, from the worst to the best; the "
        f"action taken is coloured. <b>@</b> is the agent.</p>{cards}"
    )


def _replay(title: str, record: dict[str, Any]) -> str:
    # "</" would end the script element early.
    frames = json.dumps({"actions": record["actions"], "frames": record["frames"]}).replace("</", "<\\/")
    speeds = "".join(
        f'<option value="{speed}"{" selected" * (speed == 4)}>{speed} steps / s</option>'
        for speed in (1, 2, 4, 10, 25)
    )
    wide = " wide" if record["world"] == "spocman" else ""
    return (
        f'<div class="card"><h3>{escape(title)}</h3><div class="replay{wide}">'
        f'<script type="application/json">{frames}</script>'
        '<pre class="map"></pre><div><p class="status"></p><div class="bars"></div></div>'
        '<div class="controls"><button class="play">Play</button><button class="back">‹ Step</button>'
        '<button class="forward">Step ›</button><input type="range" min="0" value="0" aria-label="step">'
        f'<select aria-label="speed">{speeds}</select></div></div></div>'
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


#: What differs from row to row on the same machine.
SHIFTING = ("time", "cell_seconds")
