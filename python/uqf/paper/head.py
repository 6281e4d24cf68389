"""The head of the report: what the paper says, what came out here, and what goes beyond it."""

from __future__ import annotations

from typing import NamedTuple

from uqf.page.parts import figure, plus_minus
from uqf.paper import gridworld, spocman
from uqf.paper.cells import Row
from uqf.paper.gridworld_report import Curve, curves
from uqf.paper.spocman_report import PAPER, longest_fitted_q, summary, time_ratios
from uqf.types import Record


class Tile(NamedTuple):
    """A question, the answer as a figure, and in a sentence or two."""

    question: str
    value: str
    words: str


def head(grid: list[Row], pacman: list[Row]) -> list[Tile]:
    """Three tiles from what is finished; none while S-PocMan has nothing to compare."""
    lines = {line["label"]: line for line in summary(pacman)}
    ours, rival = lines.get(spocman.LABELS["uqf"]), longest_fitted_q(list(lines.values()))
    if ours is None or rival is None:
        return []
    published, (slow_return, slow_seconds) = PAPER["UQF"], PAPER["CPSR + fitted-Q, 400 rounds"]
    paper = Tile(
        "What the paper says",
        f"{figure(published[0])} in {published[1]:g} s",
        f"S-PocMan from 500 random episodes, by UQF; CPSR + fitted-Q has {figure(slow_return)} after "
        f"{slow_seconds:g} s. In the grid world UQF comes near the optimum as episodes are added.",
    )
    ratio = time_ratios(list(lines.values()))[ours["label"]]
    here = Tile(
        "What came out here",
        _earned(ours),
        f"by UQF in {ours['seconds']:.2g} CPU s, mean of {_seeds(ours)}. {rival['label']}: {_earned(rival)} in "
        f"{rival['seconds']:.2g} CPU s, {ratio:,.0f} times as long ({_seeds(rival)}). {_grid(grid, 'uqf-returns')}",
    )
    best = lines.get(spocman.LABELS["belief-q"], ours)
    played = lines.get(spocman.LABELS["policy-iteration"])
    further = f" Policy iteration, which plays for itself: {_earned(played)}." if played else ""
    beyond = Tile(
        "What goes beyond the paper",
        _earned(best),
        f"by {best['label']} from the same logs, in {best['seconds']:.2g} CPU s.{further} {_grid(grid, 'belief-q')}",
    )
    return [paper, here, beyond]


def _earned(line: Record) -> str:
    return f"{line['return']:.0f}".replace("-", "−") + plus_minus(float(f"{line['stderr']:.1f}"))


def _seeds(line: Record) -> str:
    return f"{line['seeds']} seed{'s' * (line['seeds'] > 1)}"


def _grid(rows: list[Row], method: str) -> str:
    """Returns from the three starts after the most episodes."""
    ends: list[Curve] = [curves(rows, start, "return").get(method, [])[-1:] for start in gridworld.STARTS]
    if not all(ends):
        return ""
    earned = " / ".join(f"{end[0][1]:.2f}" for end in ends)
    return f"Grid world, {gridworld.LABELS[method]}, {ends[0][0][0]:,.0f} episodes: {earned}."
