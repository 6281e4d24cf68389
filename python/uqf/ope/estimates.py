"""What off-policy evaluation reports, in numbers and in plain words."""

from __future__ import annotations

from dataclasses import dataclass

#: Below this many effective episodes neither the estimate nor its interval can be trusted.
ENOUGH_EPISODES = 100.0

#: The usual rule for trusting a proportion: ten of the rarer outcome.
ENOUGH_INFORMATIVE = 10.0

#: The mean importance weight is one in expectation; this far off, the logs lack what the policy does.
FAIR_MEAN_WEIGHT = (0.7, 1.4)

#: What the verdicts call the methods that rest on a model.
MODEL_NAMES = {"model": "The model learned from the logs", "cpsr": "The CPSR learned from the logs"}


@dataclass(frozen=True)
class Estimate:
    """Expected discounted return of a policy, from logs of another one."""

    mean: float
    stderr: float
    interval: tuple[float, float]
    level: float
    """Confidence level of the interval."""
    effective_sample_size: float
    """How many episodes of the policy itself the logs are worth; at most the number of episodes."""
    mean_weight: float
    """Mean importance weight over discounted steps; one if the logs contain all that the policy does."""
    informative_episodes: float
    """About how many effective episodes tell good returns from bad ones; few if reward is rare."""
    sufficient: bool
    """Whether the interval means what it says: enough overlap, and no model with an error of its own."""
    method: str
    propensities: str
    """"logged" or "estimated"."""
    episodes: int

    @property
    def worth(self) -> str:
        """The effective sample size in words, out of all episodes."""
        size = self.effective_sample_size
        return f"{size:.0f} of {self.episodes}" if size >= 1.0 else f"less than one of {self.episodes}"

    @property
    def lack(self) -> str:
        """What insufficient logs lack, and the remedy."""
        if self.informative_episodes < ENOUGH_INFORMATIVE and self.effective_sample_size >= ENOUGH_EPISODES:
            return (
                f"what it earns hangs on about {self.informative_episodes:.0f} of the {self.episodes} episodes "
                f"(at least {ENOUGH_INFORMATIVE:.0f} are needed). Collect more logs."
            )
        return (
            f"they are worth {self.worth} episodes of it (at least {ENOUGH_EPISODES:.0f} are needed; the mean "
            f"weight is {self.mean_weight:.2f}, near 1 is needed). Collect logs closer to the policy, or try a "
            "policy closer to the logs."
        )

    @property
    def verdict(self) -> str:
        """What may be concluded, in plain words."""
        low, high = self.interval
        size = self.worth
        if self.method in MODEL_NAMES:
            text = (
                f"{MODEL_NAMES[self.method]} expects a return of {self.mean:.4g} "
                f"({low:.4g} to {high:.4g}). The interval holds the noise of the data, not the error of the "
                "model, which may be many times larger. "
                f"Without the model the logs are worth {size} episodes of this policy."
            )
        elif self.sufficient:
            text = (
                f"The return is {low:.4g} to {high:.4g} with {self.level:.0%} confidence, "
                f"{self.mean:.4g} most likely; the logs are worth {size} episodes of this policy."
            )
        else:
            text = f"These logs cannot tell what the policy earns: {self.lack}"
        if self.propensities == "estimated":
            text += (
                " The logs hold no propensities; they were estimated from the last symbol, which is "
                "wrong if the behaviour looked further back."
            )
        return text

    def __repr__(self) -> str:
        low, high = self.interval
        enough = "sufficient" if self.sufficient else "not sufficient"
        return (
            f"Estimate({self.mean:.4g}, {self.level:.0%} interval {low:.4g} to {high:.4g}, {self.method}, "
            f"{self.effective_sample_size:.0f} effective episodes, {enough})"
        )


@dataclass(frozen=True)
class Comparison:
    """Two policies on the same logs: the difference `first - second`, paired over episodes."""

    difference: float
    stderr: float
    interval: tuple[float, float]
    first: Estimate
    second: Estimate

    @property
    def sufficient(self) -> bool:
        """Whether the logs overlap enough with both policies."""
        return self.first.sufficient and self.second.sufficient

    @property
    def distinguishable(self) -> bool:
        """Whether the logs are sufficient and the interval leaves out zero."""
        low, high = self.interval
        return self.sufficient and not low <= 0.0 <= high

    @property
    def verdict(self) -> str:
        """Which policy is better, if these logs can tell."""
        low, high = self.interval
        if self.first.method in MODEL_NAMES:
            better = "first" if self.difference > 0 else "second"
            return (
                f"{MODEL_NAMES[self.first.method]} favours the {better} policy (difference {low:.4g} to "
                f"{high:.4g}, without its own error). These logs alone cannot tell the two policies apart."
            )
        if not self.sufficient:
            which, lacking = ("second", self.second) if self.first.sufficient else ("first", self.first)
            known = f"These logs cannot tell the two policies apart, for want of knowledge of the {which}: "
            return known + lacking.lack
        if not self.distinguishable:
            return (
                "These logs cannot tell the two policies apart: the difference is "
                f"{low:.4g} to {high:.4g} with {self.first.level:.0%} confidence."
            )
        better = "first" if self.difference > 0 else "second"
        smaller, larger = sorted(abs(end) for end in self.interval)
        return (
            f"The {better} policy earns more, by {smaller:.4g} to {larger:.4g} "
            f"with {self.first.level:.0%} confidence."
        )

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Comparison({self.difference:.4g}, {self.first.level:.0%} interval {low:.4g} to {high:.4g})"
