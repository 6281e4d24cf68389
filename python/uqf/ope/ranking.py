"""Several policies on the same logs, with intervals that hold all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtri

from uqf.episodes.checks import FloatArray, instance
from uqf.ope.estimates import ANYTHING, Answer, Comparison, Estimate
from uqf.ope.estimators import Measured, Replayed, ValueModel, ratios_of, widened
from uqf.ope.evaluator import Evaluator, Logs, ReturnRange
from uqf.ope.ratios import Studentised, resamples
from uqf.policies.policy import Policy


@dataclass(frozen=True)
class Ranking:
    """Policies by what they earn, the best first; those of which the log cannot tell come last.

    With the confidence of the estimates, all intervals of `estimates` hold at once, and so do all of `differences`.
    """

    estimates: dict[str, Estimate]
    differences: dict[tuple[str, str], Comparison]
    """Of all pairs of which the log can tell, the one that seems better first."""

    @property
    def leaders(self) -> tuple[str, ...]:
        """Those that none is clearly better than: the best policy is among them, of all that the log can tell of."""
        known = [name for name, one in self.estimates.items() if one.answer is not Answer.UNKNOWN]
        beaten = {worse for (_, worse), one in self.differences.items() if one.interval[0] > 0.0}
        return tuple(name for name in known if name not in beaten)

    @property
    def verdict(self) -> str:
        """Which are the best, in plain words."""
        if not self.leaders:
            first = next(iter(self.estimates.values()))
            return f"This log tells of none of the policies: {first.lack}"
        known = [one for one in self.estimates.values() if one.answer is not Answer.UNKNOWN]
        conditions = list(dict.fromkeys(one.condition for one in known if one.condition))
        among = "The best policy is" if len(self.leaders) == 1 else "The best policy is one of"
        shown = f"{among} {', '.join(self.leaders)}, with {known[0].level:.0%} confidence."
        missing = [name for name, one in self.estimates.items() if one.answer is Answer.UNKNOWN]
        if missing:
            shown += f" The log cannot tell what others earn: {', '.join(missing)}."
        return f"If {conditions[0]}: {shown}" if conditions else shown

    def __repr__(self) -> str:
        return f"Ranking({len(self.estimates)} policies; {self.verdict})"


def rank(
    policies: Mapping[str, Policy | None] | Sequence[Policy | None],
    data: Logs,
    *,
    discount: float,
    level: float = 0.95,
    replicates: int = 1000,
    model: ValueModel | None = None,
    return_range: ReturnRange = None,
    seed: int = 0,
) -> Ranking:
    """Which of several policies earn most, if these logs can tell.

    Parameters
    ----------
    policies : dict or list of policies
        By name; those of a list are called by their number.
    data, discount, level, replicates, model, return_range, seed : as in `uqf.ope.evaluate`
        `level` is the confidence that *all* intervals hold at once.

    Returns
    -------
    Ranking
        The estimates, the differences of all pairs, and the policies that may be the best (`leaders`).

    Examples
    --------
    >>> import numpy as np, uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=500, horizon=3, seed=0)
    >>> tables = {f"{share:.0%}": np.tile([share, (1 - share) / 2, (1 - share) / 2], (7, 1)) for share in (0.3, 0.6)}
    >>> policies = {name: uqf.TablePolicy(table, 2) for name, table in tables.items()}
    >>> uqf.ope.rank(policies, log, discount=0.95, return_range=(-300, 30), replicates=200).verdict
    'The best policy is 60%, with 95% confidence.'
    """
    instance("policies", policies, (Mapping, Sequence), "policies by name, or a list of them")
    named = (
        dict(policies) if isinstance(policies, Mapping) else {str(n): one for n, one in enumerate(policies)}
    )
    if len(named) < 2:
        raise ValueError(f"policies has {len(named)}: give at least two to rank")
    log = Evaluator.of(data, discount, level, replicates, return_range, seed, model)
    logs = {name: log.replay(policy) for name, policy in named.items()}
    estimates = {name: log.estimate(one, "model") for name, one in logs.items() if log.method(one) == "model"}
    weighted = [name for name in logs if name not in estimates]
    for name, result in zip(weighted, _at_once([[logs[name]] for name in weighted], log), strict=True):
        estimates[name] = log.estimate_of(logs[name], "doubly-robust", result)
    order = sorted(
        estimates, key=lambda name: (estimates[name].answer is Answer.UNKNOWN, -estimates[name].mean)
    )
    estimates = {name: estimates[name] for name in order}
    answered = [name for name in order if estimates[name].answer is not Answer.UNKNOWN]
    pairs = list(combinations(answered, 2))
    differences = {
        pair: log.comparison_of([logs[name] for name in pair], [estimates[name] for name in pair], result)
        for pair, result in zip(pairs, _at_once([[logs[a], logs[b]] for a, b in pairs], log), strict=True)
    }
    return Ranking(estimates, differences)


def _at_once(cases: list[list[Replayed]], log: Evaluator) -> list[Measured]:
    """Values or differences whose intervals hold all at once: max-t over the same resamples."""
    every = [ratios_of(logs, "doubly-robust") for logs in cases]
    if not every:
        return []
    if every[0].n_groups < 2:
        return [
            widened(logs, "doubly-robust", one, float("inf"), ANYTHING)
            for logs, one in zip(cases, every, strict=True)
        ]
    counts = resamples(every[0].n_groups, log.replicates, log.seed)
    drawn = [Studentised.of(one, counts) for one in every]
    low, high = _critical([one.scores for one in drawn], log.level)
    return [
        widened(
            logs,
            "doubly-robust",
            ratios,
            one.error,
            (one.value - high * one.error, one.value + low * one.error),
        )
        for logs, ratios, one in zip(cases, every, drawn, strict=True)
    ]


def _critical(scores: list[FloatArray], level: float) -> tuple[float, float]:
    """How far below and above the truth, in standard errors, resamples are in all cases at once.

    Never less than with normal errors that have nothing to do with each other.
    """
    tail = (1.0 - level) / 2.0
    usual = float(ndtri((1.0 - tail) ** (1.0 / len(scores))))
    lowest, highest = np.min(scores, axis=0), np.max(scores, axis=0)
    return max(-float(np.quantile(lowest, tail)), usual), max(float(np.quantile(highest, 1.0 - tail)), usual)
