"""Part 5 of the report: what to expect of the policy, as far as the log can tell."""

from __future__ import annotations

from dataclasses import dataclass, replace

from uqf import ope
from uqf.ope.doubts import BOUNDS
from uqf.page.parts import Interval, card, figure, intervals, percent
from uqf.printable import escape
from uqf.reports.frontier import Frontier
from uqf.reports.study import Study

#: What the methods of `uqf.ope` are called.
METHODS = {
    "doubly-robust": "weighted episodes and a model",
    "importance": "weighted episodes",
    "model": "a model of the last symbol",
}

#: What hollow marks mean.
HOLLOW = (
    "<p><small>Intervals have 95 % confidence. Hollow marks are guesses: no interval would mean what it says."
    "</small></p>"
)

#: Nobody logs more episodes than this.
ENDLESS = 1e9


@dataclass(frozen=True)
class Expected:
    """The estimate of one method."""

    method: str
    words: str
    mean: float
    low: float | None
    """None if the log cannot tell."""
    high: float | None
    condition: str
    """What must be believed for the interval to hold; empty if there is nothing."""
    effective_episodes: float
    episodes: int
    lack: str
    """What the log lacks, and the remedy; empty if it lacks nothing."""

    @classmethod
    def of(cls, estimate: ope.Estimate) -> Expected:
        """In figures that a page and a program can show."""
        told = estimate.answer is not ope.Answer.UNKNOWN
        low, high = estimate.interval
        return cls(
            method=estimate.method,
            words=METHODS[estimate.method],
            mean=estimate.mean,
            low=low if told else None,
            high=high if told else None,
            condition=estimate.condition,
            effective_episodes=estimate.effective_sample_size,
            episodes=estimate.episodes,
            lack=estimate.lack,
        )

    def guess(self, method: str, mean: float) -> Expected:
        """What a model expects: its error is not known, so there is no interval and nothing to resample for one."""
        lack = "it rests on a model, whose error no log shows."
        return replace(self, method=method, words=METHODS[method], mean=mean, low=None, high=None, lack=lack)

    @property
    def interval(self) -> tuple[float, float] | None:
        """With 95 % confidence; None if the log cannot tell."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def row(self, label: str) -> Interval:
        """A line of a plot of intervals; hollow where nothing is known."""
        ends = self.interval or (self.mean, self.mean)
        return Interval(label, self.mean, *ends, self.told, "unknown" if self.interval is None else "first")

    @property
    def told(self) -> str:
        """The figure with its interval, or that it is not known."""
        if self.interval is not None:
            low, high = self.interval
            return f"{figure(self.mean)}, from {figure(low)} to {figure(high)}"
        if self.method != "model" and self.effective_episodes < 1.0:
            return "not known from this log"
        return f"not known from this log (a guess: {figure(self.mean)})"


@dataclass(frozen=True)
class Expectations:
    """What all methods say, and what it would take to know more."""

    estimates: list[Expected]
    """The one to quote first."""
    episodes_needed: float | None
    """Episodes like these, in all, after which the log would tell; None if no number of them would do."""
    frontier: Frontier

    @classmethod
    def of(cls, study: Study, frontier: Frontier, seed: int) -> Expectations:
        """From the held-out episodes."""
        first, second = (
            Expected.of(
                ope.evaluate(study.policy, study.held_out, discount=study.discount, method=method, seed=seed)
            )
            for method in ("doubly-robust", "importance")
        )
        estimates = [first, second]
        modelled = ope.model_value(
            ope.LastSymbolModel(), study.held_out, study.probs, discount=study.discount
        )
        estimates.append(first.guess("model", modelled))
        needed = first.episodes * max(1.0, BOUNDS.effective_episodes / max(first.effective_episodes, 1e-12))
        return cls(estimates, needed if needed < ENDLESS else None, frontier)

    @property
    def best(self) -> Expected:
        """The estimate to quote."""
        return self.estimates[0]

    @property
    def logged(self) -> float:
        """What the logged behaviour earns by the same rule."""
        return self.frontier.logged

    @property
    def cautious(self) -> str:
        """The boldest way to begin of which the log tells what comes of it; empty if there is none."""
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
        if self.best.effective_episodes >= BOUNDS.effective_episodes:
            return ""
        if self.episodes_needed is None:
            return "No realistic number of episodes like these would settle it."
        rounded = figure(float(f"{self.episodes_needed:.2g}"))
        return f"About {rounded} episodes like these would settle it."

    def advice(self) -> str:
        """What is known and what would settle the rest, in plain words."""
        best = self.best
        if best.interval is not None:
            return (
                f"The log is worth {figure(best.effective_episodes)} episodes of this policy: enough to tell."
            )
        lack = best.lack[:1].upper() + best.lack[1:]
        start = f"The log tells of a cautious start: {self.cautious}" if self.cautious else ""
        return " ".join(part for part in (lack, self.settled_by, start) if part)

    def section(self) -> str:
        """Markup of this part."""
        rows = [one.row(one.words) for one in self.estimates]
        condition = (
            f"<p>Whatever is known here is known only if {escape(self.best.condition)}.</p>"
            if self.best.condition
            else ""
        )
        pictures = "".join(card(picture) for picture in self.frontier.figures())
        return (
            "<p>Returns are those of episodes that go on as long as the longest one, unless the world ends them: "
            f"{figure(self.logged)} as logged. {escape(self.advice())}</p>{condition}"
            + card(
                "<h3>Expected return, by every method</h3>",
                intervals(rows, (self.logged, "as logged")),
                HOLLOW,
            )
            + "<h3>From cautious to bold</h3><p>The closer a policy stays to the logged behaviour, the more this log "
            "can tell about it. Filled marks are known, with their interval; hollow ones are not. The dashed line is "
            "the logged return, or the number of episodes that is enough. A higher temperature draws actions more "
            "evenly, which is closer to the log only if the log did so too.</p>"
            f'<div class="columns">{pictures}</div>'
        )
