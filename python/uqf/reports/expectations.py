"""Part 5 of the report: what to expect of the policy, as far as the log can tell."""

from __future__ import annotations

from dataclasses import dataclass

from uqf import ope
from uqf.data.along import episodes_within
from uqf.data.progress import Reporter
from uqf.ope.cpsr import likeliest_rank
from uqf.ope.estimates import ENOUGH_EPISODES
from uqf.page.document import card
from uqf.page.parts import Interval, figure, intervals, percent
from uqf.printable import escape
from uqf.reports.frontier import Frontier
from uqf.reports.study import Study

#: What the methods of `uqf.ope` are called.
METHODS = {
    "doubly-robust": "weighted episodes and a model",
    "importance": "weighted episodes",
    "model": "a model of the last symbol",
    "cpsr": "a simulator learned from the log",
}

#: Steps that teach the simulator, and episodes played in it.
SIMULATED_STEPS = 20_000
PLAYED = 500

#: Nobody logs more episodes than this.
ENDLESS = 1e9


@dataclass(frozen=True)
class Expected:
    """The estimate of one method."""

    method: str
    words: str
    known: bool
    """Whether the interval means what it says."""
    mean: float
    low: float | None
    """None if the log cannot tell."""
    high: float | None
    effective_episodes: float
    episodes: int
    verdict: str

    @classmethod
    def of(cls, estimate: ope.Estimate) -> Expected:
        """In figures that a page and a program can show."""
        low, high = estimate.interval
        told = estimate.sufficient
        return cls(
            estimate.method,
            METHODS[estimate.method],
            told,
            estimate.mean,
            low if told else None,
            high if told else None,
            estimate.effective_sample_size,
            estimate.episodes,
            estimate.verdict,
        )

    @classmethod
    def guess(cls, method: str, mean: float, other: Expected) -> Expected:
        """What a model expects: its error is not known, so there is no interval and nothing to resample for one."""
        verdict = (
            f"{METHODS[method].capitalize()} expects {figure(mean)}. How far off it is, nobody can tell."
        )
        return cls(
            method,
            METHODS[method],
            False,
            mean,
            None,
            None,
            other.effective_episodes,
            other.episodes,
            verdict,
        )

    @property
    def told(self) -> str:
        """The figure with its interval, or that it is not known."""
        if self.low is None or self.high is None:
            by_weights = self.method not in ("model", "cpsr")
            if by_weights and self.effective_episodes < 1.0:
                return "not known from this log"
            return f"not known from this log (a guess: {figure(self.mean)})"
        return f"{figure(self.mean)}, from {figure(self.low)} to {figure(self.high)}"


@dataclass(frozen=True)
class Expectations:
    """What all methods say, and what it would take to know more."""

    estimates: list[Expected]
    logged: float
    """What the logged behaviour earns by the same rule: up to the length of the longest episode."""
    episodes_needed: float | None
    """Episodes like these, in all, after which the log would tell; None if no number of them would do."""
    condition: str
    """What must be believed, because no log can show it; empty if there is nothing."""
    frontier: Frontier

    @classmethod
    def of(cls, study: Study, seed: int, reporter: Reporter) -> Expectations:
        """From the held-out episodes."""
        data, estimates = study.held_out, []

        def enter(method: str, words: str) -> None:
            reporter.enter(f"expecting: {words}", f"{data.n_steps:,} steps", COSTS[method] * data.n_steps)

        for method in ("doubly-robust", "importance"):
            enter(method, METHODS[method])
            found = ope.evaluate(study.policy, data, discount=study.discount, method=method, seed=seed)
            estimates.append(Expected.of(found))
        for method, guess in (("model", _modelled), ("cpsr", _simulated)):
            enter(method, METHODS[method])
            estimates.append(Expected.guess(method, guess(study, seed), estimates[0]))
        enter("frontier", "cautious policies")
        best, frontier = estimates[0], Frontier.of(study)
        needed = best.episodes * ENOUGH_EPISODES / max(best.effective_episodes, 1e-12)
        return cls(
            estimates=estimates,
            logged=frontier.logged,
            episodes_needed=needed if needed < ENDLESS else None,
            condition="" if study.held_out.behavior_probs is not None else CONDITION,
            frontier=frontier,
        )

    @property
    def best(self) -> Expected:
        """The estimate to quote."""
        return self.estimates[0]

    def advice(self) -> str:
        """What would settle it, in plain words."""
        if self.best.known:
            return f"The log is worth {figure(self.best.effective_episodes)} episodes of this policy: enough to tell."
        parts = [
            f"The held-out episodes are worth {_worth(self.best)} of this policy, and {ENOUGH_EPISODES:.0f} are needed."
        ]
        if self.episodes_needed is None:
            parts.append("No realistic number of episodes like these would settle it.")
        else:
            parts.append(f"About {figure(self.episodes_needed)} episodes like these would.")
        bold = self.frontier.boldest_known
        if bold is not None and bold.interval is not None:
            low, high = bold.interval
            parts.append(
                f"A cautious start would too: let the policy decide in {percent(bold.setting)} of the steps, drawn by "
                f"chance, and act as before otherwise. Of that the log tells what to expect: {figure(low)} to "
                f"{figure(high)}, against {figure(self.logged)} as logged."
            )
        return " ".join(parts)

    def section(self) -> str:
        """Markup of this part."""
        rows = [
            Interval(
                one.words,
                one.mean,
                one.mean if one.low is None else one.low,
                one.mean if one.high is None else one.high,
                one.told,
                "first" if one.known else "unknown",
            )
            for one in self.estimates
        ]
        condition = f"<p>All of this holds only if {escape(self.condition)}.</p>" if self.condition else ""
        pictures = "".join(card(picture) for picture in self.frontier.figures())
        return (
            f"<p>Returns are those of episodes that go on as long as the longest one, unless the world ends them: "
            f"{figure(self.logged)} as logged. {escape(self.advice())}</p>{condition}"
            + card(
                "<h3>Expected return, by every method</h3>",
                intervals(rows, (self.logged, "as logged")),
                "<p><small>Intervals have 95 % confidence. Hollow marks are guesses: no interval would mean what it "
                "says.</small></p>",
            )
            + "<h3>From cautious to bold</h3><p>The closer a policy stays to the logged behaviour, the more this log "
            "can tell about it. Filled marks are known, with their interval; hollow ones are not. The dashed line is "
            "the logged return, or the number of episodes that is enough. A higher temperature draws actions more "
            "evenly, which is closer to the log only if the log did so too.</p>"
            f'<div class="columns">{pictures}</div>'
        )


#: About how many nanoseconds a step costs; measured.
COSTS = {
    "doubly-robust": 9_000.0,
    "importance": 6_000.0,
    "model": 3_000.0,
    "cpsr": 10_000.0,
    "frontier": 20_000.0,
}

#: What no log without propensities can show of itself.
CONDITION = (
    "the logged actions depended on nothing but the last action and observation: the log does not say how probable "
    "they were (column behavior_prob)"
)


def _worth(one: Expected) -> str:
    size = one.effective_episodes
    return f"{figure(size)} episodes" if size >= 1.0 else "less than one episode"


def _modelled(study: Study, seed: int) -> float:
    """The return in a model whose state is the last symbol."""
    data = study.held_out
    model = ope.LastSymbolModel().fit(data, study.probs, discount=study.discount)
    values = model.values(data[:1], horizon=int(data.lengths.max()))
    return float(study.probs[0] @ values[0])


def _simulated(study: Study, seed: int) -> float:
    """The return in a world that a compressed predictive state representation simulates."""
    data = study.held_out[: episodes_within(study.held_out, SIMULATED_STEPS)]
    world = ope.CPSRSimulator(likeliest_rank(data, seed), seed=seed).fit(data)
    horizon = int(study.held_out.lengths.max())
    returns = world.returns(study.policy, PLAYED, horizon=horizon, discount=study.discount, seed=seed)
    return float(returns.mean())
