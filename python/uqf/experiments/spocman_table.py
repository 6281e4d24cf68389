"""The rows of the paper's table: means over seeds beside the published figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from uqf.experiments.cells import Result, Row
from uqf.experiments.spocman import LABELS

#: What the paper reports: (return, seconds).
PAPER = {
    "UQF": (-92.0, 2.0),
    "CPSR + fitted-Q, 10 rounds": (-200.0, 15.0),
    "CPSR + fitted-Q, 50 rounds": (-150.0, 60.0),
    "CPSR + fitted-Q, 100 rounds": (-109.0, 116.0),
    "CPSR + fitted-Q, 400 rounds": (-101.0, 489.0),
}


def summary(rows: list[Row]) -> list[dict[str, Any]]:
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
                "cpu_seconds": _mean([result.get("cpu_seconds") for result in results]),
                "paper_return": published[0] if published else None,
                "paper_seconds": published[1] if published else None,
                "seeds": len(results),
            }
        )
    return sorted(lines, key=lambda line: -line["return"])


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def longest_fitted_q(lines: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The line of fitted-Q with most rounds."""
    fitted = [line for line in lines if line["label"].startswith(LABELS["cpsr-fitted-q"])]
    return max(fitted, key=lambda line: line["seconds"], default=None)


def time_ratios(lines: list[dict[str, Any]], clock: str = "seconds") -> dict[str, float]:
    """How many times longer the longest fitted-Q trained than each learner of ours.

    `clock` is "seconds", on the wall with all cores for whoever uses them, or "cpu_seconds", summed over cores.
    """
    rival = longest_fitted_q(lines)
    ours = {
        LABELS[method]
        for method in ("context-q", "belief-q", "spectral-q", "uqf", "uqf-played", "uqf-returns", "uqf-start")
    }
    if rival is None or not rival[clock]:
        return {}
    return {
        line["label"]: rival[clock] / line[clock] for line in lines if line["label"] in ours and line[clock]
    }
