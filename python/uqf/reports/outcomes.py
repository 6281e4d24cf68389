"""Outcomes that the reader named, and the plain sum of rewards or costs: as logged, and with the policy in part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.ope.evaluator import Evaluator
from uqf.reports.expectations import Ends, interval_of
from uqf.reports.facts import Facts, places
from uqf.reports.frontier import Frontier
from uqf.reports.study import Study
from uqf.types import AnyArray

#: How the sum of rewards is called among outcomes.
REWARDS = "rewards, not discounted"


@dataclass(frozen=True)
class Outcome:
    """A number that is added up over an episode."""

    name: str
    logged: float
    """Mean per episode that goes on as long as the longest one, unless the world ends it."""
    interval: Ends | None
    """With the policy deciding in part, with 95 % confidence; None if the log cannot say."""


@dataclass(frozen=True)
class Outcomes:
    """Before and after."""

    rows: list[Outcome]
    share: float | None
    """Of the decisions that are left to the policy: the boldest whose return is known."""
    per_week: float | None
    """Such episodes in a week."""

    @classmethod
    def of(cls, study: Study, facts: Facts, frontier: Frontier) -> Outcomes:
        """From the held-out episodes; without times and outcomes there is nothing to show."""
        bold = frontier.boldest_known
        share = None if bold is None else bold.setting
        wanted = dict(facts.outcomes)
        if facts.times is not None:
            wanted |= {facts.cost: -study.log.rewards} if facts.cost else {REWARDS: study.log.rewards}
        if not wanted:
            return cls([], share, None)
        numbers = places(study.held_out, study.log)
        rows = [
            Outcome(name, *_before_and_after(study, share, _of_episodes(values, study.log, numbers)))
            for name, values in wanted.items()
        ]
        weekly = facts.episodes_per_week
        if weekly is None:
            return cls(rows, share, None)
        # A week has so many steps: episodes that recording cut off make fewer whole ones.
        length, _ = _before_and_after(study, None, np.ones(study.held_out.n_steps))
        return cls(rows, share, weekly * study.log.n_steps / len(study.log) / length)


def _before_and_after(study: Study, share: float | None, values: FloatArray) -> tuple[float, Ends | None]:
    """Both by the same rule, that of the returns: episodes that recording cut off count for what came before it."""
    data = Trajectories(**study.held_out.__getstate__() | {"rewards": values})
    log = Evaluator.of(data, 1.0, 0.95, 300, None, study.seed, behavior=study.evaluator.behavior)
    shares = [0.0] if share is None else [0.0, share]
    before, *after = (log.estimate(log.seen_with(study.probs, one), "importance") for one in shares)
    return before.mean, interval_of(after[0]) if after else None


def _of_episodes(values: FloatArray, log: Trajectories, numbers: AnyArray) -> FloatArray:
    """The values of the steps of some episodes."""
    return np.concatenate([values[log.offsets[one] : log.offsets[one + 1]] for one in numbers])
