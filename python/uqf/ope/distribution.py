"""How the returns of a policy are distributed, from logs of another one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray, number, probability
from uqf.ope import doubts
from uqf.ope.estimates import Answer, Doubt, Doubted, answer_of
from uqf.ope.evaluator import Evaluator, Logs, ReturnRange
from uqf.ope.ratios import resamples
from uqf.ope.weights import overlap
from uqf.policies.policy import Policy

#: Places between returns at which resamples are compared.
PLACES = 400


class Banded(NamedTuple):
    """A number, and where it lies with the confidence of the distribution."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ReturnDistribution(Doubted):
    """The returns of a policy: logged returns, each with a share of the probability.

    The band holds the whole distribution function at once: all quantiles, means of the worst and probabilities that are
    read from it hold together. It supposes nothing about tails.
    """

    returns: FloatArray
    """Of logged episodes, in increasing order, (n_episodes,)."""
    shares: FloatArray
    """Probability of every one, (n_episodes,)."""
    margin: float
    """Half the height of the band around the distribution function; infinite if the log cannot tell."""
    level: float
    logged_mean: float
    """Mean return of the log itself."""
    return_range: tuple[float, float]
    """What an episode can earn; unbounded if nobody says so."""
    effective_sample_size: float
    doubts: tuple[Doubt, ...]

    def at_least(self, value: float) -> Banded:
        """Probability of a return of at least this much."""
        share = float(self.shares[self.returns >= number("value", value)].sum())
        return Banded(share, max(0.0, share - self.margin), min(1.0, share + self.margin))

    @property
    def at_least_logged_mean(self) -> Banded:
        """Probability of a return of at least the mean of the log."""
        return self.at_least(self.logged_mean)

    def quantile(self, share: float) -> Banded:
        """The return that this share of the episodes does not exceed."""
        probability("share", share)
        return Banded(*(self._at(share + shift) for shift in (0.0, -self.margin, self.margin)))

    def worst(self, share: float) -> Banded:
        """Mean return of this share of the episodes, the worst ones: the conditional value at risk.

        Its lower end is bounded only with `return_range`.
        """
        probability("share", share)
        if share == 0.0:
            raise ValueError("share = 0: give the share of the episodes whose mean is wanted, such as 0.1")
        (worst, best), margin = self.return_range, self.margin
        unseen, beyond = min(margin, share), min(share, max(share + margin - 1.0, 0.0))
        low = self._area(share - unseen) + (unseen * worst if unseen > 0.0 else 0.0)
        high = self._area(share + margin) - self._area(margin) + (beyond * best if beyond > 0.0 else 0.0)
        return Banded(self._area(share) / share, low / share, high / share)

    def _area(self, share: float) -> float:
        """The integral of the quantile function from 0 to this share."""
        before = np.cumsum(self.shares) - self.shares
        return float(np.clip(share - before, 0.0, self.shares) @ self.returns)

    def _at(self, share: float) -> float:
        """The least return with at least this share at or below it; the range ends where the log does."""
        if share <= 0.0:
            return self.return_range[0] if share < 0.0 else float(self.returns[0])
        if share > 1.0:
            return self.return_range[1]
        place = int(np.searchsorted(np.cumsum(self.shares), share - 1e-12))
        return float(self.returns[min(place, len(self.returns) - 1)])

    def __repr__(self) -> str:
        middle = self.quantile(0.5)
        return (
            f"ReturnDistribution(median {middle.value:.4g}, from {middle.low:.4g} to {middle.high:.4g} with "
            f"{self.level:.0%} confidence; {self.effective_sample_size:.0f} effective episodes)"
        )


def distribution(
    policy: Policy | None,
    data: Logs,
    *,
    discount: float,
    level: float = 0.95,
    replicates: int = 1000,
    return_range: ReturnRange = None,
    seed: int = 0,
) -> ReturnDistribution:
    """How the returns of a policy are distributed: quantiles, the mean of the worst, probabilities.

    Whole episodes are weighed by how much likelier the policy makes them. That needs more overlap than the mean does,
    where later actions do not weigh on earlier rewards.

    Parameters
    ----------
    policy, data, discount, level, replicates, return_range, seed : as in `uqf.ope.evaluate`

    Returns
    -------
    ReturnDistribution
        With a band that holds everywhere at once. It is `UNKNOWN` where the log overlaps too little with the policy, or
        where the recording of episodes stopped early.

    Examples
    --------
    >>> import numpy as np, uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=800, horizon=3, seed=0)
    >>> listening = uqf.TablePolicy(np.tile([0.6, 0.2, 0.2], (7, 1)), 2)
    >>> returns = uqf.ope.distribution(listening, log, discount=1.0, replicates=200)
    >>> returns.quantile(0.5).value, returns.at_least(-50).low > 0.4
    (-3.0, True)
    """
    log = Evaluator.of(data, discount, level, replicates, return_range, seed)
    logs, episodes = log.replay(policy), len(log.data)
    whole = np.zeros(logs.weights.horizon)
    whole[-1] = 1.0
    common = overlap(logs.weights, whole, log.discount)
    returns, weights = log.unit * log.data.returns(log.discount), logs.weights.upto[log.data.offsets[1:] - 1]
    order = np.argsort(returns, kind="stable")
    shares = weights / max(float(weights.sum()), 1e-300)
    every = [*doubts.of_overlap(common, episodes), *doubts.of_behavior(log.behavior)]
    if log.truncation.early:
        stopped = next(iter(log.truncation.doubts(log.unit)))
        every.append(Doubt(stopped.reason))
    every.sort(key=lambda doubt: bool(doubt.condition))
    unknown = answer_of(tuple(every)) is Answer.UNKNOWN
    return ReturnDistribution(
        returns[order],
        shares[order],
        math.inf if unknown else _margin(order, weights, log) * common.stretch,
        level,
        float(returns.mean()),
        (-math.inf, math.inf) if return_range is None else return_range,
        common.size,
        tuple(every),
    )


def _margin(order: NDArray[np.int64], weights: FloatArray, log: Evaluator) -> float:
    """Half the height of a band that holds the whole distribution function: by resamples of episodes, and never less
    than for as many episodes of the policy itself (Dvoretzky, Kiefer and Wolfowitz).
    """
    count = len(weights)
    groups = min(count, 1000)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count) * PLACES // count
    sums = np.bincount((np.arange(count) % groups) * PLACES + place, weights, minlength=groups * PLACES)
    upto = sums.reshape(groups, PLACES).cumsum(axis=1)
    drawn = resamples(groups, log.replicates, log.seed) @ upto
    drawn = drawn / np.maximum(drawn[:, -1:], 1e-300)
    whole = upto.sum(axis=0) / upto[:, -1].sum()
    size = float(weights.sum()) ** 2 / float((weights**2).sum())
    least = math.sqrt(math.log(2.0 / (1.0 - log.level)) / (2.0 * size))
    return max(float(np.quantile(np.abs(drawn - whole).max(axis=1), log.level)), least)
