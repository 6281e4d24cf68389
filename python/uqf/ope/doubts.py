"""Reasons why the interval of an estimate may not mean what it says: the tests that come before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from uqf.ope.behavior import Behavior
from uqf.ope.estimates import Doubt, worth
from uqf.ope.tails import Tails
from uqf.ope.weights import Overlap
from uqf.page.parts import figure


@dataclass(frozen=True)
class Bounds:
    """What a log must show before an estimate has an interval."""

    effective_episodes: float = 100.0
    """Below, neither the estimate nor its interval can be trusted."""
    mean_weight: tuple[float, float] = (0.7, 1.4)
    """The mean importance weight is one in expectation; this far off, the logs lack what the policy does."""


BOUNDS = Bounds()

#: What no log without propensities can show of itself.
HIDDEN_REASONS = "the logged actions depended on nothing that the log does not show"

#: The error of a model is in no interval.
MODELLED = Doubt("'model' rests on a model, whose error no log shows. Ask for 'doubly-robust'.")


def of_overlap(overlap: Overlap, episodes: int) -> Iterator[Doubt]:
    """Whether the log is worth enough episodes of the policy."""
    low, high = BOUNDS.mean_weight
    if overlap.size < BOUNDS.effective_episodes or not low <= overlap.mean_weight <= high:
        yield Doubt(
            f"the log is worth {worth(overlap.size, episodes)} episodes of this policy (at least "
            f"{BOUNDS.effective_episodes:.0f} are needed; the mean weight is {overlap.mean_weight:.2f}, near 1 is "
            "needed). Collect logs closer to the policy, or try a policy closer to the logs."
        )


def of_tails(tails: Tails) -> Iterator[Doubt]:
    """Whether returns are of a kind that so many episodes can average; of no concern if their range is known."""
    remedy = "Collect more logs or logs closer to the policy, or give return_range, what an episode can earn."
    if tails.aliens:
        yield Doubt(
            f"what it earns hangs on {tails.aliens} of the episodes, far beyond what the others lead to expect (at "
            f"least 10 of their kind are needed). {remedy}"
        )
    elif not tails.has_mean:
        yield Doubt(
            "what episodes contribute, returns times weights, has a tail so heavy that so few of them do not give its "
            f"mean. {remedy}"
        )


def of_behavior(behavior: Behavior) -> Iterator[Doubt]:
    """Whether it is known how probable the logged actions were."""
    if behavior.logged:
        return
    why = "the probabilities of the logged actions (column behavior_prob) are missing."
    if behavior.refuted:
        why = (
            "the logged probabilities of actions (column behavior_prob) disagree with the actions: "
            f"{behavior.refuted}."
        )
    yield Doubt(
        f"{why} They were estimated from {behavior.source}, and nobody can tell whether the actions depended on more. "
        "Log them as they are.",
        HIDDEN_REASONS,
    )


def of_rare_events(share: float, size: float) -> Doubt:
    """What no log shows if nobody says what an episode can earn: `size` is that of a rare event that would matter."""
    return Doubt(
        f"what occurs in fewer than {100 * share:.2g} % of the episodes may be missing from it. Give return_range, the "
        "least and the most that an episode can earn.",
        f"nothing that happens in fewer than {100 * share:.2g} % of the episodes is worth more than {figure(size)}",
    )
