"""What off-policy evaluation reports, in numbers and in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from uqf.ope.rare_events import Unseen, unseen_share

#: Below this many effective episodes neither the estimate nor its interval can be trusted.
ENOUGH_EPISODES = 100.0

#: The usual rule for trusting a proportion: ten of the rarer outcome.
ENOUGH_INFORMATIVE = 10.0

#: The mean importance weight is one in expectation; this far off, the logs lack what the policy does.
FAIR_MEAN_WEIGHT = (0.7, 1.4)

#: What the texts call the methods.
SOURCES = {
    "importance": "weighted log",
    "doubly-robust": "weighted log",
    "model": "model",
    "cpsr": "CPSR",
}

#: Methods whose error nobody knows: that of their model comes on top of the noise of the data.
MODELS = ("model", "cpsr")

#: What no log without propensities can show of itself.
HIDDEN_REASONS = "the logged actions depended on nothing that the log does not show"

#: The interval of what is not known.
ANYTHING = (-math.inf, math.inf)


@dataclass(frozen=True)
class Estimate:
    """Expected discounted return of a policy, from logs of another one.

    `known` says whether the log tells it at all, `text()` gives the answer in one line, `lack` says what is missing,
    and `verdict` is all of it in plain words. `mean` is a mere guess unless it is known.
    """

    mean: float
    stderr: float
    """Noise of the data alone, without the error of a model or of estimated propensities."""
    interval: tuple[float, float]
    """Where the return lies with this confidence, provided that `condition` holds; unbounded if the log cannot tell."""
    level: float
    """Confidence level of the interval."""
    effective_sample_size: float
    """How many episodes of the policy itself the logs are worth; at most the number of episodes."""
    mean_weight: float
    """Mean importance weight over discounted steps; one if the logs contain all that the policy does."""
    informative_episodes: float
    """About how many effective episodes tell good returns from bad ones; few if reward is rare."""
    unseen: Unseen
    """How far events that are too rare to be in the log may move the return."""
    sufficient: bool
    """Whether the interval means what it says: enough overlap, logged propensities, and no model's own error."""
    condition: str
    """What must be believed for the interval to hold, because no log can show it; empty if there is nothing."""
    method: str
    propensities: str
    """"logged", or how they were estimated."""
    episodes: int
    taught: bool = False
    """Whether the policy learned from this very log: then it looks better than it is."""

    def of_taught(self) -> Estimate:
        """The same where the policy learned from this very log: no more than a guess, and rather too high."""
        return replace(self, sufficient=False, interval=ANYTHING, taught=True)

    def times(self, scale: float) -> Estimate:
        """In other units of reward."""
        low, high = self.interval
        return replace(
            self,
            mean=scale * self.mean,
            stderr=scale * self.stderr,
            interval=(scale * low, scale * high),
            unseen=self.unseen.times(scale),
        )

    @property
    def known(self) -> bool:
        """Whether the log tells the return, with an interval that holds without any condition: `sufficient`."""
        return self.sufficient

    @property
    def conditional(self) -> bool:
        """Whether the log tells the return if `condition` holds, and only then."""
        return not self.sufficient and self.interval != ANYTHING

    @property
    def guess(self) -> float | None:
        """The mean, where it is no more than a guess."""
        return None if self.known or self.conditional else self.mean

    def text(self) -> str:
        """The answer in one line, for tables and pages."""
        if self.guess is not None:
            return f"not known from this log; the {SOURCES[self.method]}'s guess is {self.mean:.4g}"
        low, high = self.interval
        told = f"{self.mean:.4g}, from {low:.4g} to {high:.4g} with {self.level:.0%} confidence"
        return told + (f", if {self.condition}" if self.conditional else "")

    @property
    def worth(self) -> str:
        """The effective sample size in words, out of all episodes."""
        size = self.effective_sample_size
        return f"{size:.0f} of {self.episodes}" if size >= 1.0 else f"less than one of {self.episodes}"

    @property
    def lack(self) -> str:
        """What the log lacks and the remedy; empty if it lacks nothing."""
        low, high = FAIR_MEAN_WEIGHT
        if self.taught:
            return (
                "the policy learned from this very log, where it looks better than it is. Evaluate it on episodes that "
                "it had no part in."
            )
        if self.effective_sample_size < ENOUGH_EPISODES or not low <= self.mean_weight <= high:
            return (
                f"the log is worth {self.worth} episodes of this policy (at least {ENOUGH_EPISODES:.0f} are needed; "
                f"the mean weight is {self.mean_weight:.2f}, near 1 is needed). Collect logs closer to the policy, "
                "or try a policy closer to the logs."
            )
        if self.informative_episodes < ENOUGH_INFORMATIVE:
            return (
                f"what it earns hangs on about {self.informative_episodes:.0f} of the {self.episodes} episodes "
                f"(at least {ENOUGH_INFORMATIVE:.0f} are needed). Collect more logs."
            )
        if self.unseen.decides:
            return (
                f"hardly anything in it is left to chance (noise {self.unseen.noise:.2g}), and events too rare to be "
                f"in it may add or take {self.unseen.above:.2g}, even if none exceeds the range of logged returns. "
                "Collect more logs, or give return_range, what an episode can earn."
            )
        if self.method in MODELS:
            return f"{self.method!r} rests on a model, whose error no log shows. Ask for 'doubly-robust'."
        if self.condition:
            return (
                "the probabilities of the logged actions (column behavior_prob) are missing. They were estimated "
                f"from {self.propensities}, and nobody can tell whether the actions depended on more. Log them."
            )
        return ""

    @property
    def _hidden(self) -> str:
        """How much an event must be worth, if it is too rare to be in the log, for the interval to be wrong."""
        if self.unseen.bounded:
            return "That holds whatever is too rare to be in it, within return_range."
        share, (low, high) = unseen_share(self.level, self.effective_sample_size), self.interval
        enough = max(high - self.mean, self.mean - low) / share
        return (
            f"What occurs in fewer than {share:.2g} of the episodes may be missing from it; if worth more than "
            f"{enough:.3g}, it would make this wrong."
        )

    @property
    def verdict(self) -> str:
        """What may be concluded, in plain words."""
        low, high = self.interval
        if self.guess is None:
            text = (
                f"The return is {low:.4g} to {high:.4g} with {self.level:.0%} confidence, {self.mean:.4g} most likely; "
                f"the log is worth {self.worth} episodes of this policy. {self._hidden}"
            )
            return f"If {self.condition}: {text} {_sentence(self.lack)}" if self.conditional else text
        text = f"This log cannot tell what the policy earns: {self.lack}"
        if self.method in MODELS:
            text += (
                f" The {SOURCES[self.method]} learned from it guesses {self.mean:.4g}. The error of such a guess may "
                f"be many times the noise of the data, {self.stderr:.2g}."
            )
        return text

    def __repr__(self) -> str:
        return f"Estimate({self.text()}; {self.method}, {self.effective_sample_size:.0f} effective episodes)"


@dataclass(frozen=True)
class Comparison:
    """Two policies on the same logs: the difference `first - second`, paired over episodes."""

    difference: float
    stderr: float
    interval: tuple[float, float]
    """Where the difference lies, provided that `condition` holds; unbounded if the log cannot tell."""
    first: Estimate
    second: Estimate

    def times(self, scale: float) -> Comparison:
        """In other units of reward."""
        low, high = self.interval
        estimates = self.first.times(scale), self.second.times(scale)
        return Comparison(
            scale * self.difference, scale * self.stderr, (scale * low, scale * high), *estimates
        )

    @property
    def sufficient(self) -> bool:
        """Whether the logs tell of both policies."""
        return self.first.sufficient and self.second.sufficient

    @property
    def condition(self) -> str:
        """What must be believed for the interval to hold; empty if there is nothing."""
        return self.first.condition

    @property
    def distinguishable(self) -> bool:
        """Whether the logs are sufficient and the interval leaves out zero."""
        return self.sufficient and self._apart

    @property
    def _apart(self) -> bool:
        low, high = self.interval
        return not low <= 0.0 <= high

    @property
    def verdict(self) -> str:
        """Which policy is better, if these logs can tell."""
        low, high = self.interval
        if self.interval == ANYTHING:
            unknown = next((one for one in (self.first, self.second) if one.guess is not None), self.first)
            which = "first" if unknown is self.first else "second"
            known = f"This log cannot tell the two policies apart, for want of knowledge of the {which}: "
            return known + unknown.lack
        if low == high:
            return "This log cannot tell the two policies apart: they do the same in all that it shows."
        if not self._apart:
            return (
                f"This log cannot tell the two policies apart: the difference is {low:.4g} to {high:.4g} "
                f"with {self.first.level:.0%} confidence."
            )
        better = "first" if self.difference > 0 else "second"
        smaller, larger = sorted(abs(end) for end in self.interval)
        found = (
            f"The {better} policy earns more, by {smaller:.4g} to {larger:.4g} "
            f"with {self.first.level:.0%} confidence."
        )
        return found if self.sufficient else f"If {self.condition}: {found} {_sentence(self.first.lack)}"

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Comparison({self.difference:.4g}, {self.first.level:.0%} interval {low:.4g} to {high:.4g})"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
