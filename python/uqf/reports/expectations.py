"""What to expect of the policy, as far as the log can say."""

from __future__ import annotations

from dataclasses import dataclass, replace

from uqf import ope
from uqf.ope.estimates import ENOUGH_EPISODES
from uqf.page.parts import Interval, Intervals, figure, percent
from uqf.reports.frontier import Frontier
from uqf.reports.study import Study

#: What the methods of `uqf.ope` are called.
METHODS = {
    "doubly-robust": "weighted episodes and a model",
    "importance": "weighted episodes",
    "model": "a model whose state is the last action and observation",
}

#: Nobody logs more episodes than this.
ENDLESS = 1e9


@dataclass(frozen=True)
class Expected:
    """The estimate of one method."""

    method: str
    words: str
    mean: float
    low: float | None
    """None if the log cannot say."""
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
        low, high = estimate.interval if estimate.guess is None else (None, None)
        return cls(
            method=estimate.method,
            words=METHODS[estimate.method],
            mean=estimate.mean,
            low=low,
            high=high,
            condition=estimate.condition,
            effective_episodes=estimate.effective_sample_size,
            episodes=estimate.episodes,
            lack=estimate.lack,
        )

    def guess(self, mean: float) -> Expected:
        """What a model expects: its error is not known, so there is no interval and nothing to resample for one."""
        lack = "it rests on a model, whose error no log shows."
        return replace(
            self, method="model", words=METHODS["model"], mean=mean, low=None, high=None, lack=lack
        )

    @property
    def interval(self) -> tuple[float, float] | None:
        """With 95 % confidence; None if the log cannot say."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def row(self, label: str, style: str = "first") -> Interval:
        """A line of a plot of intervals; hollow where nothing is known."""
        low, high = self.interval or (self.mean, self.mean)
        style = style if self.interval is not None else f"unknown {style}"
        return Interval(label, self.mean, low, high, self.text, style)

    @property
    def text(self) -> str:
        """The figure with its interval, or that it is not known."""
        if self.interval is not None:
            low, high = self.interval
            return f"{figure(self.mean)}, from {figure(low)} to {figure(high)}"
        if self.method != "model" and self.effective_episodes < 1.0:
            return "not known from this log"
        return f"not known from this log (a guess: {figure(self.mean)})"


@dataclass(frozen=True)
class Expectations:
    """What the methods say, and what it would take to know more."""

    estimates: list[Expected]
    """The one to quote first."""
    episodes_needed: float | None
    """Episodes like these, in all, that would be enough; None if no number of them would do."""
    frontier: Frontier

    @classmethod
    def of(cls, study: Study, frontier: Frontier, seed: int) -> Expectations:
        """From the held-out episodes."""
        data = study.held_out
        estimate = ope.evaluate(
            study.policy, data, discount=study.discount, method="doubly-robust", seed=seed
        )
        best = Expected.of(estimate)
        model = ope.LastSymbolModel().fit(data, study.probs, discount=study.discount)
        guess = best.guess(model.value_of_starts(study.probs, data))
        needed = best.episodes * max(1.0, ENOUGH_EPISODES / max(best.effective_episodes, 1e-12))
        return cls([best, guess], needed if needed < ENDLESS else None, frontier)

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
        """The boldest way to begin whose return is known; empty if there is none."""
        bold = self.frontier.boldest_known
        if bold is None or bold.interval is None:
            return ""
        low, high = bold.interval
        return (
            f"Let the policy decide in {percent(bold.setting)} of the steps, drawn by chance, and act as before "
            f"otherwise: {figure(low)} to {figure(high)}, against {figure(self.logged)} as logged."
        )

    @property
    def settled_by(self) -> str:
        """How many episodes would settle it; empty if there are enough."""
        if self.best.effective_episodes >= ENOUGH_EPISODES:
            return ""
        if self.episodes_needed is None:
            return "No realistic number of episodes like these would settle it."
        rounded = figure(float(f"{self.episodes_needed:.2g}"))
        return f"About {rounded} episodes like these would settle it."

    def advice(self) -> str:
        """What is known and what would settle the rest, in plain words."""
        best = self.best
        if best.interval is not None:
            return f"The log is worth {figure(best.effective_episodes)} episodes of this policy, which is enough."
        lack = best.lack[:1].upper() + best.lack[1:]
        start = f"A cautious start is known: {self.cautious}" if self.cautious else ""
        return " ".join(part for part in (lack, self.settled_by, start) if part)

    @property
    def plot(self) -> Intervals:
        """The estimates beside the logged return."""
        return Intervals([one.row(one.words) for one in self.estimates], (self.logged, "as logged"))
