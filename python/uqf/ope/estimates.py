"""What off-policy evaluation reports, in numbers and in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

from uqf.page.parts import figure

#: The interval of what is not known.
ANYTHING = (-math.inf, math.inf)


class Answer(Enum):
    """How far a log answers what a policy earns."""

    KNOWN = "known"
    """The interval holds as it stands."""
    CONDITIONAL = "conditional"
    """The interval holds if the conditions of all doubts do."""
    UNKNOWN = "unknown"
    """There is no interval, and the mean is a guess."""


@dataclass(frozen=True)
class Doubt:
    """A reason why an interval may not mean what it says.

    reason : what the log lacks and the remedy, as clauses that begin in lower case and end with a full stop
    condition : what must be believed for the interval to hold; empty if no belief would help
    """

    reason: str
    condition: str = ""


class Doubted:
    """What a log answers, as far as its doubts allow; the most serious doubt comes first."""

    doubts: tuple[Doubt, ...]

    @property
    def answer(self) -> Answer:
        """Unknown if any doubt has no condition, conditional if there are other doubts, else known."""
        return answer_of(self.doubts)

    @property
    def condition(self) -> str:
        """What must be believed for the interval to hold, because no log can show it; empty if there is nothing."""
        return " and ".join(doubt.condition for doubt in self.doubts if doubt.condition)

    @property
    def lack(self) -> str:
        """What the log lacks and the remedy; empty if it lacks nothing."""
        if self.answer is Answer.UNKNOWN:
            return next(doubt.reason for doubt in self.doubts if not doubt.condition)
        first, *others = [doubt.reason for doubt in self.doubts] or [""]
        return " ".join([first, *map(_sentence, others)])


def answer_of(doubts: tuple[Doubt, ...]) -> Answer:
    """How far doubts let a log answer."""
    if not all(doubt.condition for doubt in doubts):
        return Answer.UNKNOWN
    return Answer.CONDITIONAL if doubts else Answer.KNOWN


#: The policy and the log are not independent.
TAUGHT = Doubt(
    "the policy learned from this very log, where it looks better than it is. Evaluate it on episodes that it had no "
    "part in."
)


@dataclass(frozen=True)
class Estimate(Doubted):
    """Expected discounted return of a policy, from logs of another one.

    `answer` says how far the log answers, `text()` gives it in one line, `lack` says what is missing, and `verdict`
    is all of it in plain words. `mean` is a mere guess if the answer is `Answer.UNKNOWN`.
    """

    mean: float
    stderr: float
    """Noise of the data alone, without the error of estimated propensities; infinite for the guess of a model."""
    interval: tuple[float, float]
    """Where the return lies with this confidence if `condition` holds; unbounded if the log cannot tell."""
    level: float
    """Confidence level of the interval."""
    effective_sample_size: float
    """How many episodes of the policy itself the logs are worth; at most the number of episodes."""
    mean_weight: float
    """Mean importance weight over discounted steps; one if the logs contain all that the policy does."""
    doubts: tuple[Doubt, ...]
    """Why the interval may not mean what it says, the most serious first; empty if there is no reason."""
    method: str
    propensities: str
    """"logged", or how they were estimated."""
    episodes: int

    @property
    def known(self) -> bool:
        """Whether the interval holds without any condition."""
        return self.answer is Answer.KNOWN

    @property
    def taught(self) -> bool:
        """Whether the policy learned from this very log: then it looks better than it is."""
        return TAUGHT in self.doubts

    def of_taught(self) -> Estimate:
        """The same where the policy learned from this very log: no more than a guess, and rather too high."""
        return replace(self, doubts=(TAUGHT, *self.doubts), interval=ANYTHING)

    def text(self) -> str:
        """The answer in one line, for tables and pages."""
        if self.answer is Answer.UNKNOWN:
            return f"not known from this log; the {self._source}'s guess is {figure(self.mean)}"
        low, high = self.interval
        shown = f"{figure(self.mean)}, from {figure(low)} to {figure(high)} with {self.level:.0%} confidence"
        return f"{shown}, if {self.condition}" if self.doubts else shown

    @property
    def worth(self) -> str:
        """The effective sample size in words, out of all episodes."""
        return worth(self.effective_sample_size, self.episodes)

    @property
    def verdict(self) -> str:
        """What may be concluded, in plain words."""
        if self.answer is not Answer.UNKNOWN:
            low, high = self.interval
            shown = (
                f"The return is {figure(low)} to {figure(high)} with {self.level:.0%} confidence, "
                f"{figure(self.mean)} most likely; the log is worth {self.worth} episodes of this policy."
            )
            return f"If {self.condition}: {shown} {_sentence(self.lack)}" if self.doubts else shown
        shown = f"This log cannot tell what the policy earns: {self.lack}"
        if self.method == "model":
            guess = figure(self.mean)
            shown += f" The model learned from it guesses {guess}; nothing bounds the error of such a guess."
        return shown

    @property
    def _source(self) -> str:
        return "model" if self.method == "model" else "weighted log"

    def __repr__(self) -> str:
        return f"Estimate({self.text()}; {self.method}, {self.effective_sample_size:.0f} effective episodes)"


@dataclass(frozen=True)
class Comparison(Doubted):
    """Two policies on the same logs: the difference `first - second`, paired over episodes."""

    difference: float
    stderr: float
    interval: tuple[float, float]
    """Where the difference lies if `condition` holds; unbounded if the log cannot tell."""
    doubts: tuple[Doubt, ...]
    """Why the interval may not mean what it says, the most serious first; empty if there is no reason."""
    first: Estimate
    second: Estimate

    def of_taught(self, first: bool, second: bool) -> Comparison:
        """The same where one of the policies learned from this very log, or both."""
        if not first and not second:
            return self
        return replace(
            self,
            interval=ANYTHING,
            doubts=(TAUGHT, *self.doubts),
            first=self.first.of_taught() if first else self.first,
            second=self.second.of_taught() if second else self.second,
        )

    @property
    def distinguishable(self) -> bool:
        """Whether the difference is known and the interval leaves out zero."""
        return self.answer is Answer.KNOWN and self._apart

    @property
    def _apart(self) -> bool:
        low, high = self.interval
        return not low <= 0.0 <= high

    @property
    def verdict(self) -> str:
        """Which policy is better, if these logs can tell."""
        low, high = self.interval
        if self.answer is Answer.UNKNOWN:
            unknown = [
                f", for want of knowledge of the {which}"
                for which, one in (("first", self.first), ("second", self.second))
                if one.answer is Answer.UNKNOWN
            ]
            why = (unknown or [""])[0]
            return f"This log cannot tell the two policies apart{why}: {self.lack}"
        if low == high:
            return "This log cannot tell the two policies apart: they do the same in all that it shows."
        if not self._apart:
            return (
                f"This log cannot tell the two policies apart: the difference is {figure(low)} to {figure(high)} "
                f"with {self.first.level:.0%} confidence."
            )
        better = "first" if self.difference > 0 else "second"
        smaller, larger = sorted(abs(end) for end in self.interval)
        shown = (
            f"The {better} policy earns more, by {figure(smaller)} to {figure(larger)} "
            f"with {self.first.level:.0%} confidence."
        )
        if self.answer is Answer.KNOWN:
            return shown
        return f"If {self.condition}: {shown} {_sentence(self.lack)}"

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Comparison({self.difference:.4g}, {self.first.level:.0%} interval {low:.4g} to {high:.4g})"


def worth(size: float, episodes: int) -> str:
    """An effective sample size in words, out of all episodes."""
    return f"{size:.0f} of {episodes}" if size >= 1.0 else f"less than one of {episodes}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
