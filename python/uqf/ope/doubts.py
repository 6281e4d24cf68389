"""Reasons why the interval of an estimate may not mean what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from uqf.ope.estimates import Doubt, worth
from uqf.ope.estimators import Replayed
from uqf.ope.rare_events import Unseen


@dataclass(frozen=True)
class Bounds:
    """What a log must show before an estimate has an interval."""

    effective_episodes: float = 100.0
    """Below, neither the estimate nor its interval can be trusted."""
    mean_weight: tuple[float, float] = (0.7, 1.4)
    """The mean importance weight is one in expectation; this far off, the logs lack what the policy does."""
    informative_episodes: float = 10.0
    """The usual rule for trusting a proportion: ten of the rarer outcome."""


BOUNDS = Bounds()

#: What no log without propensities can show of itself.
HIDDEN_REASONS = "the logged actions depended on nothing that the log does not show"


def overlaps(logs: Replayed) -> bool:
    """Whether the log is worth enough episodes of the policy for its weighted episodes to be used at all."""
    return not list(_of_overlap(logs))


def doubts_about(logs: Replayed, method: str, unseen: Unseen) -> Iterator[Doubt]:
    """All doubts about an estimate by this method, the most serious first; `unseen` is in units of reward."""
    yield from _of_overlap(logs)
    if unseen.decides:
        yield Doubt(
            f"hardly anything in it is left to chance (noise {unseen.noise:.2g}), and events too rare to be in it may "
            f"add or take {unseen.above:.2g}, even if none exceeds the range of logged returns. Collect more logs, or "
            "give return_range, what an episode can earn."
        )
    if method == "model":
        yield Doubt("'model' rests on a model, whose error no log shows. Ask for 'doubly-robust'.")
    if not logs.behavior.logged:
        yield Doubt(
            "the probabilities of the logged actions (column behavior_prob) are missing. They were estimated from "
            f"{logs.behavior.source}, and nobody can tell whether the actions depended on more. Log them.",
            HIDDEN_REASONS,
        )


def _of_overlap(logs: Replayed) -> Iterator[Doubt]:
    low, high = BOUNDS.mean_weight
    size, mean_weight, episodes = logs.overlap.size, logs.overlap.mean_weight, len(logs.data)
    if size < BOUNDS.effective_episodes or not low <= mean_weight <= high:
        yield Doubt(
            f"the log is worth {worth(size, episodes)} episodes of this policy (at least "
            f"{BOUNDS.effective_episodes:.0f} are needed; the mean weight is {mean_weight:.2f}, near 1 is needed). "
            "Collect logs closer to the policy, or try a policy closer to the logs."
        )
    elif logs.informative < BOUNDS.informative_episodes:
        yield Doubt(
            f"what it earns hangs on about {logs.informative:.0f} of the {episodes} episodes (at least "
            f"{BOUNDS.informative_episodes:.0f} are needed). Collect more logs."
        )
