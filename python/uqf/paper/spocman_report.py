"""The S-PocMan part of the report: rows of the table beside the published figures, return against training time."""

from __future__ import annotations

import numpy as np

from uqf.page.figures import Axis, Drawing, Panel
from uqf.page.parts import figure, plus_minus
from uqf.paper.cells import Result, Row
from uqf.paper.spocman import LABELS
from uqf.types import Record

#: What the paper reports: (return, seconds).
PAPER = {
    "UQF": (-92.0, 2.0),
    "CPSR + fitted-Q, 10 rounds": (-200.0, 15.0),
    "CPSR + fitted-Q, 50 rounds": (-150.0, 60.0),
    "CPSR + fitted-Q, 100 rounds": (-109.0, 116.0),
    "CPSR + fitted-Q, 400 rounds": (-101.0, 489.0),
}


def summary(rows: list[Row]) -> list[Record]:
    """One line per method, means over seeds: label, return, stderr, seconds, and the paper's figures."""
    runs: dict[str, list[Result]] = {}
    for row in rows:
        label = LABELS[row.cell.method]
        if "by_rounds" in row.result:
            for part in row.result["by_rounds"]:
                runs.setdefault(f"{label}, {part['rounds']} rounds", []).append(part)
        elif "return" in row.result:
            runs.setdefault(label, []).append(row.result)
    lines = []
    for label, results in runs.items():
        returns = np.array([result["return"] for result in results])
        seconds = [result["seconds"] for result in results]
        spread = (
            float(returns.std(ddof=1) / np.sqrt(len(returns))) if len(returns) > 1 else results[0]["stderr"]
        )
        published = PAPER.get(label)
        lines.append(
            {
                "label": label,
                "return": float(returns.mean()),
                "stderr": spread,
                "seconds": None if None in seconds else float(np.mean(seconds)),
                "paper_return": published[0] if published else None,
                "paper_seconds": published[1] if published else None,
                "seeds": len(results),
            }
        )
    return sorted(lines, key=lambda line: -line["return"])


def longest_fitted_q(lines: list[Record]) -> Record | None:
    """The line of fitted-Q with most rounds."""
    fitted = [line for line in lines if line["label"].startswith(LABELS["cpsr-fitted-q"])]
    return max(fitted, key=lambda line: line["seconds"], default=None)


def time_ratios(lines: list[Record]) -> dict[str, float]:
    """How many times longer the longest fitted-Q trained than each learner of ours, in CPU seconds."""
    rival = longest_fitted_q(lines)
    if rival is None or not rival["seconds"]:
        return {}
    return {
        line["label"]: rival["seconds"] / line["seconds"]
        for line in lines
        if line["label"] in OURS and line["seconds"]
    }


#: Our learners, printed in bold.
OURS = {
    LABELS[method] for method in ("context-q", "belief-q", "spectral-q", "uqf", "uqf-returns", "uqf-start")
}


def part(rows: list[Row]) -> Record | None:
    """What the page shows of this experiment; None if nothing has been run."""
    if not rows:
        return None
    lines = summary(rows)
    ratios = time_ratios(lines)
    shown = []
    for line in lines:
        label = line["label"]
        paper = [
            ("—" if line[key] is None else figure(line[key]), "") for key in ("paper_return", "paper_seconds")
        ]
        seconds = "—" if line["seconds"] is None else f"{line['seconds']:,.3g}"
        ratio = f"{ratios[label]:,.0f}×" if label in ratios else ""
        score = (figure(line["return"]), plus_minus(line["stderr"]))
        shown.append((label, [score, (seconds, ""), *paper, (ratio, "")], label in OURS))
    return {
        "episodes": max(row.cell.setting.get("episodes", 0) for row in rows),
        "figure": time_figure(lines),
        "heads": ["method", "return", "CPU s", "paper: return", "paper: s", "fitted-Q takes"],
        "lines": shown,
    }


def time_figure(lines: list[Record]) -> Drawing:
    """Return against training time, measured and published."""
    styles = {label: method for method, label in LABELS.items()}
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
        "training time, CPU seconds (the paper: seconds)",
        "return",
    )
    levels = [line for line in lines if line["seconds"] is None]
    for line in levels:
        panel.level(line["return"], styles[line["label"]], line["label"])
    for value, duration, label in published:
        style = "hollow " + styles.get(label, "cpsr-fitted-q")
        panel.mark(x(duration), y(value), style, f"{label}, as published: {value:g} in {duration:g} s", 5)
    rival = longest_fitted_q(timed)
    for line in timed:
        style = styles.get(line["label"], "cpsr-fitted-q")
        note = f"{line['label']}: {line['return']:.1f} in {line['seconds']:.3g} s"
        panel.mark(x(line["seconds"]), y(line["return"]), style, note, 6)
    named = [line for line in timed if not line["label"].endswith(" rounds") or line is rival]
    panel.labels(
        [
            (line["return"], line["label"], line["seconds"], styles.get(line["label"], "cpsr-fitted-q"))
            for line in levels + named
        ]
    )
    return Drawing([panel], 1040, 400, "spocman", "Return against training time on S-PocMan")
