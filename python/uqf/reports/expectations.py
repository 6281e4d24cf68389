"""What to expect of the policy, as far as the log can say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf import ope
from uqf.ope.doubts import BOUNDS
from uqf.ope.estimates import ANYTHING
from uqf.page.parts import Interval, Intervals, figure, percent
from uqf.reports.frontier import Frontier
from uqf.reports.study import Study

#: Nobody logs more episodes than this.
ENDLESS = 1e9

Ends = tuple[float, float]


def interval_of(estimate: ope.Estimate | ope.Comparison) -> Ends | None:
    """With 95 % confidence; None if the log cannot say."""
    return None if estimate.interval == ANYTHING else estimate.interval


def row(label: str, mean: float, ends: Ends | None, style: str = "first") -> Interval:
    """A line of a plot of intervals; hollow where nothing is known."""
    if ends is None:
        words = f"not known from this log (a guess: {figure(mean)})"
        return Interval(label, mean, mean, mean, words, f"unknown {style}")
    words = f"{figure(mean)}, from {figure(ends[0])} to {figure(ends[1])}"
    return Interval(label, mean, *ends, words, style)


@dataclass(frozen=True)
class Expectations:
    """What weighted episodes and a model say, and what it would take to know more."""

    estimate: ope.Estimate
    """The one to quote."""
    modelled: float
    """In a model whose state is the last action and observation: a guess, whose error no log shows."""
    episodes_needed: float | None
    """Episodes like these, in all, that would be enough; None if no number of them would do."""
    frontier: Frontier
    possible: Ends
    """No episode can earn less or more, by the rewards that were seen."""

    @classmethod
    def of(cls, study: Study, frontier: Frontier) -> Expectations:
        """From the held-out episodes."""
        data, discount = study.held_out, study.discount
        best = study.doubly_robust
        needed = best.episodes * max(1.0, BOUNDS.effective_episodes / max(best.effective_sample_size, 1e-12))
        modelled = ope.model_value(ope.LastSymbolModel(), data, study.probs, discount=discount)
        worth = float((discount ** np.arange(data.lengths.max())).sum())
        least, most = float(data.rewards.min()), float(data.rewards.max())
        possible = min(least, worth * least), max(most, worth * most)
        return cls(best, modelled, needed if needed < ENDLESS else None, frontier, possible)

    @property
    def interval(self) -> Ends | None:
        """Of the return of the whole policy, with 95 % confidence; None if the log cannot say."""
        return interval_of(self.estimate)

    @property
    def logged(self) -> float:
        """What the logged behaviour earns by the same rule."""
        return self.frontier.logged

    @property
    def cautious(self) -> str:
        """The boldest way to begin whose return is known; empty if there is none."""
        bold = self.frontier.boldest_known
        if bold is None or bold.interval is None:
            return ""
        low, high = bold.interval
        condition = f" That holds if {bold.condition}." if bold.condition else ""
        return (
            f"Let the policy decide in {percent(bold.setting)} of the steps, drawn by chance, and act as before "
            f"otherwise: {figure(low)} to {figure(high)}, against {figure(self.logged)} as logged.{condition}"
        )

    @property
    def settled_by(self) -> str:
        """How many episodes would settle it; empty if there are enough."""
        if self.estimate.effective_sample_size >= BOUNDS.effective_episodes:
            return ""
        if self.episodes_needed is None:
            return "No realistic number of episodes like these would settle it."
        rounded = figure(float(f"{self.episodes_needed:.2g}"))
        return f"About {rounded} episodes like these would settle it."

    def advice(self) -> str:
        """What is known and what would settle the rest, in plain words."""
        if self.interval is not None:
            return f"The log is worth {self.estimate.worth} episodes of this policy, which is enough."
        lack = self.estimate.lack[:1].upper() + self.estimate.lack[1:]
        return " ".join(part for part in (lack, self.settled_by, self.cautious) if part)

    @property
    def guesses_less(self) -> bool:
        """Whether what is guessed lies below what was logged."""
        return self.interval is None and any(one.value < self.logged for one in self.plot.rows)

    @property
    def plot(self) -> Intervals:
        """The estimates beside the logged return; a guess that no episode could earn is left out."""
        low, high = self.possible
        lines = [
            ("weighted episodes and a model", self.estimate.mean, self.interval),
            ("a model of the last action and observation", self.modelled, None),
        ]
        rows = [row(*one) for one in lines if one[2] is not None or low <= one[1] <= high]
        return Intervals(rows, (self.logged, "as logged"))
