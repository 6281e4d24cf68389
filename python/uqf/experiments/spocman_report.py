"""The S-PocMan part of the report: return against training time, table."""

from __future__ import annotations

from typing import Any

from uqf.experiments import spocman
from uqf.experiments.cells import Row
from uqf.experiments.figures import Axis, Panel, drawing, spread, table
from uqf.experiments.spocman_table import PAPER, longest_fitted_q, summary, time_ratios

#: Rows that are printed in bold.
OURS = {
    spocman.LABELS[method]
    for method in ("context-q", "belief-q", "spectral-q", "uqf", "uqf-played", "uqf-returns", "uqf-start")
}


def sections(rows: list[Row]) -> list[str]:
    """Markup of this part."""
    lines = summary(rows)
    ratios = time_ratios(lines)
    cells = []
    for line in lines:
        paper = [
            f"{line[key]:g}" if line[key] is not None else "—" for key in ("paper_return", "paper_seconds")
        ]
        seconds = "—" if line["seconds"] is None else f"{line['seconds']:,.3g}"
        ratio = f"{ratios[line['label']]:,.0f}×" if line["label"] in ratios else ""
        score = f"{line['return']:.1f} <small>± {line['stderr']:.1f}</small>"
        cells.append((line["label"], [score, seconds, *paper, ratio], line["label"] in OURS))
    heads = ["method", "return", "seconds", "paper: return", "paper: seconds", "fitted-Q takes"]
    episodes = max(row.cell.setting.get("episodes", 0) for row in rows)
    return [
        "<h2>S-PocMan: return against training time</h2>"
        f"<p>Everything is learned from {episodes:,} episodes of random play, but for policy iteration, "
        "which plays for itself, and POMCP, which knows the simulator and searches at every step. The paper "
        "states neither the cap on episodes nor the ghosts' rule, so its figures serve for the ordering "
        "only; a random walker that avoids walls beats all of them.</p>"
        f'<div class="card">{_time_figure(lines)}</div><div class="card">{table(heads, cells)}</div>'
    ]


def _time_figure(lines: list[dict[str, Any]]) -> str:
    styles = {label: method for method, label in spocman.LABELS.items()}
    # POMCP earns so much more that on one scale with it the others would lie on top of each other.
    lines = [line for line in lines if styles.get(line["label"]) != "pomcp"]
    timed = [line for line in lines if line["seconds"] is not None]
    published = [(*PAPER[line["label"]], line["label"]) for line in timed if line["label"] in PAPER]
    seconds = [line["seconds"] for line in timed] + [seconds for _, seconds, _ in published]
    returns = [line["return"] for line in lines] + [value for value, _, _ in published]
    margin = 0.08 * (max(returns) - min(returns))
    x = Axis(min(seconds) / 2, max(seconds) * 2, 70, 820, logarithmic=True)
    y = Axis(min(returns) - margin, max(returns) + margin, 350, 36)
    panel = Panel(
        "filled: measured here · hollow: as published · POMCP: see the table",
        x,
        y,
        "training time, seconds",
        "return",
    )
    names = []
    for line in lines:
        style = styles.get(line["label"], "cpsr-fitted-q")
        if line["seconds"] is None:
            panel.level(line["return"], style, line["label"])
            names.append([y(line["return"]), line["label"]])
    spread(names, 15.0)
    for py, label in names:
        panel.text(x.end + 8, py + 4, label, style="note")
    for value, duration, label in published:
        style = "hollow " + styles.get(label, "cpsr-fitted-q")
        panel.mark(x(duration), y(value), style, f"{label}, as published: {value:g} in {duration:g} s", 5)
    labels, rival = [], longest_fitted_q(timed)
    for line in timed:
        style = styles.get(line["label"], "cpsr-fitted-q")
        note = f"{line['label']}: {line['return']:.1f} in {line['seconds']:.3g} s"
        panel.mark(x(line["seconds"]), y(line["return"]), style, note, 6)
        if not line["label"].endswith(" rounds") or line is rival:
            labels.append((line["seconds"], line["return"], line["label"]))
    for duration, value, label in labels:
        if x(duration) > 560:
            # Below its mark, and below what was published nearby: to the left are the marks of fewer rounds.
            near = [
                y(v) for v, s, _ in published if 0 <= x(duration) - x(s) < 170 and abs(y(v) - y(value)) < 30
            ]
            panel.text(x(duration) + 8, max([y(value), *near]) + 22, label, "end", "label")
        else:
            panel.text(x(duration) + 11, y(value) + 4, label, "start", "label")
    return drawing([panel], 1040, 400, "spocman", "Return against training time on S-PocMan")
