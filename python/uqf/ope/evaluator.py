"""A log that is made ready for estimates of any number of policies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from uqf.episodes.checks import FloatArray, instance, number, probability, seed_number, whole
from uqf.episodes.concatenate import concatenate
from uqf.episodes.trajectories import Trajectories
from uqf.ope import doubts
from uqf.ope.behavior import Behavior, behavior_of, joined
from uqf.ope.estimates import ANYTHING, Answer, Comparison, Doubt, Estimate, answer_of
from uqf.ope.estimators import Measured, Replayed, ValueModel, check_model, measured
from uqf.ope.last_symbol import LastSymbolModel
from uqf.ope.tails import unseen_share
from uqf.ope.truncation import Truncation
from uqf.page.parts import figure
from uqf.policies.policy import Policy, probs_along
from uqf.types import Record

ReturnRange = tuple[float, float] | None
Logs = Trajectories | Sequence[Trajectories]


@dataclass(frozen=True)
class Evaluator:
    """One or several logs, how their actions came about, and how estimates are to be made.

    data, return_range : in multiples of `unit`, so that the largest reward lies between 1 and 2 in size
    """

    data: Trajectories
    unit: float
    behavior: Behavior
    truncation: Truncation
    discount: float
    level: float
    replicates: int
    model: ValueModel
    return_range: ReturnRange
    seed: int

    @classmethod
    def of(
        cls,
        data: Logs,
        discount: float,
        level: float,
        replicates: int,
        return_range: ReturnRange,
        seed: int,
        model: ValueModel | None = None,
        behavior: Behavior | None = None,
    ) -> Evaluator:
        """Checked arguments; every log has a behaviour of its own, which is estimated unless it is given."""
        logs = [data] if isinstance(data, Trajectories) else data
        for log in logs if isinstance(logs, Sequence) and logs else [logs]:
            instance("data", log, Trajectories, "uqf.Trajectories (see uqf.read_log), or a list of them")
        if not 0.0 < number("level", level) < 1.0:
            raise ValueError(f"level = {level}: give a confidence between 0 and 1, such as 0.95")
        probability("discount", discount)
        whole("replicates", replicates, 100)
        seed_number(seed)
        if model is not None:
            check_model(model)
        scaled, unit = _in_units(concatenate(list(logs)))
        return cls(
            scaled,
            unit,
            behavior or joined([behavior_of(log, seed) for log in logs]),
            Truncation.of(scaled, float(discount)),
            float(discount),
            level,
            replicates,
            model or LastSymbolModel(),
            _in_range(scaled, discount, unit, return_range),
            seed,
        )

    def replay(self, policy: Policy | None, share: float = 1.0) -> Replayed:
        """The log with the eyes of a policy that decides in a share of the steps, the others being made as logged."""
        return self.seen_with(probs_along(policy, self.data), share)

    def seen_with(self, probs: FloatArray, share: float = 1.0) -> Replayed:
        """The same of a policy with these probabilities before every step, (n_steps, n_actions)."""
        return Replayed(self.data, self.discount, probs, self.behavior, self.model, self.seed, share)

    def method(self, logs: Replayed) -> str:
        """Doubly robust where the log overlaps enough with the policy, else by the model alone."""
        return "model" if list(doubts.of_overlap(logs.overlap, len(self.data))) else "doubly-robust"

    def estimate(self, logs: Replayed, method: str) -> Estimate:
        """What the policy earns."""
        return self.estimate_of(logs, method, measured([logs], method, self.level, self.replicates))

    def estimate_of(self, logs: Replayed, method: str, result: Measured) -> Estimate:
        """The estimate, with its doubts and with what is too rare to be in the log."""
        share = unseen_share(self.level, logs.overlap.size)
        low, high = self._with_rare_events(result, share)
        estimate = Estimate(
            mean=self.unit * result.value,
            stderr=self.unit * result.stderr,
            interval=(self.unit * low, self.unit * high),
            level=self.level,
            effective_sample_size=logs.overlap.size,
            mean_weight=logs.overlap.mean_weight,
            doubts=self.doubts(
                [logs], method, result, self.unit * max(high - result.value, result.value - low)
            ),
            method=method,
            propensities=self.behavior.source,
            episodes=len(self.data),
        )
        return replace(estimate, interval=ANYTHING) if estimate.answer is Answer.UNKNOWN else estimate

    def compared(self, logs: list[Replayed], estimates: list[Estimate]) -> Comparison:
        """The difference of two policies whose estimates are of one method.

        Half the chance of an error is kept in reserve: nobody should hear of a winner among equals more often than the
        level allows, and plain intervals leave nothing to spare (14 of 287 comparisons in 12 drawn worlds, 4.9 %).
        """
        method = estimates[0].method
        result = measured(logs, method, (1.0 + self.level) / 2.0, self.replicates)
        return self.comparison_of(logs, estimates, result)

    def comparison_of(self, logs: list[Replayed], estimates: list[Estimate], result: Measured) -> Comparison:
        """The difference, with its doubts and with what is too rare to be in the log."""
        low, high = result.interval
        if self.return_range is not None and low < high:
            size = min(one.overlap.size for one in logs)
            reach = unseen_share(self.level, size) * (self.return_range[1] - self.return_range[0])
            low, high = low - reach, high + reach
        half = self.unit * max(high - result.value, result.value - low)
        own = self.doubts(logs, estimates[0].method, result, half)
        known = answer_of(own) is not Answer.UNKNOWN
        return Comparison(
            self.unit * result.value,
            self.unit * result.stderr,
            (self.unit * low, self.unit * high) if known else ANYTHING,
            own,
            *estimates,
        )

    def doubts(self, logs: list[Replayed], method: str, result: Measured, half: float) -> tuple[Doubt, ...]:
        """About an estimate, or a difference, whose interval reaches `half` to a side; the most serious first."""
        every = list(dict.fromkeys(self._doubts(logs, method, result, half)))
        return tuple(sorted(every, key=lambda doubt: bool(doubt.condition)))

    def _doubts(self, logs: list[Replayed], method: str, result: Measured, half: float) -> Iterator[Doubt]:
        for one in logs:
            yield from doubts.of_overlap(one.overlap, len(self.data))
        if method == "model":
            yield doubts.MODELLED
        elif self.return_range is None:
            yield from doubts.of_tails(result.tails)
        yield from doubts.of_behavior(self.behavior)
        yield from self.truncation.doubts(self.unit)
        if method != "model" and self.return_range is None:
            share = unseen_share(self.level, min(one.overlap.size for one in logs))
            yield doubts.of_rare_events(share, half / share)

    def _with_rare_events(self, result: Measured, share: float) -> tuple[float, float]:
        """The interval with what occurs in a smaller share of the episodes.

        Within `return_range` it may be anything. Without one, the interval is never narrower than if it were worth as
        much as the best and the worst logged episode are apart.
        """
        (low, high), value = result.interval, result.value
        if self.return_range is not None:
            worst, best = self.return_range
            return low - share * max(value - worst, 0.0), high + share * max(best - value, 0.0)
        reach = share * float(np.ptp(self.data.returns(self.discount)))
        return min(low, value - reach), max(high, value + reach)


def _in_units(data: Trajectories) -> tuple[Trajectories, float]:
    """The log with its largest reward between 1 and 2 in size, and the unit: a power of two, so that no bit is lost.

    Squares of rewards are then finite, whatever the rewards are.
    """
    largest = float(np.abs(data.rewards).max())
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0.0 else 1.0
    if not math.isfinite(largest * float(data.lengths.max())):
        raise ValueError(
            f"rewards: returns of rewards such as {largest:.3g} are beyond floating point; divide them"
        )
    state: Record = data.__getstate__() | {"rewards": data.rewards / unit}
    return Trajectories(**state), unit


def _in_range(data: Trajectories, discount: float, unit: float, return_range: ReturnRange) -> ReturnRange:
    """What an episode can earn, in these units."""
    if return_range is None:
        return None
    if not isinstance(return_range, Sequence) or len(return_range) != 2:
        raise TypeError(
            f"return_range = {return_range!r}: give the least and the most that an episode can earn"
        )
    worst, best = (number("return_range", end) for end in return_range)
    returns = unit * data.returns(discount)
    low, high = float(returns.min()), float(returns.max())
    # Sums of rewards may miss a bound that they reach by rounding.
    slack = 1e-9 * max(abs(worst), abs(best))
    if not (math.isfinite(best - worst) and worst - slack <= low and high <= best + slack):
        raise ValueError(
            f"return_range = {tuple(return_range)}: give the least and the most that an episode can earn; the logged "
            f"ones earn from {figure(low)} to {figure(high)}"
        )
    return min(worst, low) / unit, max(best, high) / unit
