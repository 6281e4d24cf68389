"""A page about learning by playing: the curve, the choice, the rounds."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from uqf.files import whole_file
from uqf.page.figures import Axis, Drawing, Panel
from uqf.page.parts import figure, plus_minus
from uqf.page.render import render
from uqf.playing.played import Played
from uqf.playing.rounds import Round
from uqf.reports.writing import check_folder

#: Colours of lineages by how their name begins; those of policies that are judged in the end come last.
STYLES = {
    "random": "random",
    "contexts, repeating": "policy-iteration",
    "contexts": "context-q",
    "fit": "belief-q",
    "plans, exploring": "tpsr-fitted-q",
    "plans": "pbvi",
    "table": "uqf",
    "drawn plans": "spectral-q",
    "judged": "optimum",
}


def playing_page(played: Played) -> str:
    """One file, without any request to the outside."""
    ends = _ends(played.rounds)
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for one, end in zip(played.rounds, ends, strict=True):
        half = 2.0 * one.stderr if math.isfinite(one.stderr) else 0.0
        curves.setdefault(_group(one.kind), []).append((float(end), one.mean, half))
    scores = sorted(played.scores.items(), key=lambda pair: (pair[0] != played.chosen, -pair[1].mean))
    return render(
        "playing.html",
        played=played,
        curve=_drawing(curves, ends[-1]),
        keys=[(_style(name), name) for name in curves],
        best=scores[0],
        finalists=[
            (name, [(figure(one.mean), plus_minus(one.stderr)), (f"{len(one.returns):,}", "")], place == 0)
            for place, (name, one) in enumerate(scores)
        ],
    )


def write_playing(played: Played, path: str | os.PathLike[str]) -> None:
    """The page, whole or not at all."""
    with whole_file(check_folder(path)) as file:
        file.write(playing_page(played).encode())


def _ends(rounds: Sequence[Round]) -> list[int]:
    """Episodes played at the end of every round."""
    ends = [0]
    for one in rounds:
        ends.append(ends[-1] + one.episodes)
    return ends[1:]


def _group(kind: str) -> str:
    return "judged" if kind.startswith("judged") else kind


def _style(name: str) -> str:
    return next((style for start, style in STYLES.items() if name.startswith(start)), "first")


def _drawing(curves: dict[str, list[tuple[float, float, float]]], episodes: int) -> Drawing:
    means = [y for points in curves.values() for _, y, _ in points]
    low, high = min(means), max(means)
    margin = 0.06 * (high - low) or 1.0
    y = Axis(low - margin, high + margin, 300, 36)
    panel = Panel("Return by episodes played", Axis(0, episodes, 75, 940), y, "episodes", "mean return")
    for name, points in curves.items():
        if _style(name) in ("random", "optimum"):
            for x, mean, half in points:
                note = f"{name}: {figure(mean)}{plus_minus(half / 2.0)}"
                panel.mark(panel.x(x), panel.y(mean), _style(name), note)
        else:
            panel.line(points, _style(name), name)
    return Drawing([panel], 980, 350, "playing", "Mean return of every round, by lineage")
