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
    """Mean per episode."""
    interval: Ends | None
    """With the policy deciding in part, with 95 % confidence; None if the log cannot say."""


@dataclass(frozen=True)
class Outcomes:
    """Before and after."""

    rows: list[Outcome]
    share: float | None
    """Of the decisions that are left to the policy: the boldest whose return is known."""
    per_week: float | None
    """Episodes in a week."""

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
        rows = []
        for name, values in wanted.items():
            data = _with_rewards(study.held_out, _of_episodes(values, study.log, numbers))
            interval = None
            if share is not None:
                behavior = study.evaluator.behavior
                log = Evaluator.of(data, 1.0, 0.95, 300, None, study.seed, behavior=behavior)
                interval = interval_of(log.estimate(log.seen_with(study.probs, share), "importance"))
            rows.append(Outcome(name, float(data.returns(1.0).mean()), interval))
        return cls(rows, share, facts.episodes_per_week)


def _of_episodes(values: FloatArray, log: Trajectories, numbers: AnyArray) -> FloatArray:
    """The values of the steps of some episodes."""
    return np.concatenate([values[log.offsets[one] : log.offsets[one + 1]] for one in numbers])


def _with_rewards(data: Trajectories, rewards: FloatArray) -> Trajectories:
    return Trajectories(**data.__getstate__() | {"rewards": rewards})
