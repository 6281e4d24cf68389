"""What a policy would gain on logged episodes, by single steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import behaviour, last_symbols, propensities
from uqf.episodes.sums import returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.page.parts import figure, plus_minus
from uqf.policies.masks import supported_along
from uqf.policies.policy import CompiledPolicy, Policy, in_parts, logged_probs

#: Discounts above this make the gain of one step too noisy.
MAX_DISCOUNT = 0.95

#: Share of the steps of a log that a policy must be worth to be compared by them.
EFFECTIVE_SHARE = 0.5

#: Steps from which a temperature is read.
TEMPERATURE_STEPS = 5_000


@dataclass(frozen=True)
class Gain:
    """What is gained at the steps of an episode: `totals` (n_episodes,), in units of reward."""

    totals: FloatArray

    @property
    def mean(self) -> float:
        """Mean over episodes."""
        return float(self.totals.mean())

    @property
    def stderr(self) -> float:
        """Standard error of the mean; infinite for a single episode, which says nothing of its own error."""
        count = len(self.totals)
        return float(self.totals.std(ddof=1) / np.sqrt(count)) if count > 1 else np.inf

    @property
    def evidence(self) -> float:
        """Mean in standard errors; ±inf if every episode gains the same, 0 from a single episode."""
        if self.stderr > 0.0 or self.mean == 0.0:
            return self.mean / (self.stderr or 1.0)
        return float(np.copysign(np.inf, self.mean))

    @property
    def text(self) -> str:
        """The mean with its standard error, or why there is none."""
        return with_error(self.mean, self.stderr)


def with_error(mean: float, stderr: float) -> str:
    """A mean with its standard error, or why there is none."""
    if 0.0 < stderr < np.inf:
        return figure(mean) + plus_minus(stderr)
    why = "the same in every episode" if stderr == 0.0 else "from a single episode"
    return f"{figure(mean)}, {why}, so that nothing shows its error"


@dataclass(frozen=True)
class Baseline:
    """Mean return by last symbol: what the advantages of held-out steps are measured against."""

    symbols: NDArray[np.int64]
    values: FloatArray
    average: float
    discount: float

    @classmethod
    def of(cls, data: Trajectories, discount: float) -> Baseline:
        """Learned from the episodes that the policies are learned from, not from those they are evaluated on."""
        horizon = min(discount, MAX_DISCOUNT)
        returns = returns_to_go(data, horizon)
        symbols, place = np.unique(last_symbols(data), return_inverse=True)
        sums, counts = np.bincount(place, returns), np.bincount(place)
        average = float(returns.mean())
        return cls(symbols, (sums + average) / (counts + 1.0), average, horizon)

    def advantages(self, data: Trajectories) -> FloatArray:
        """Return of every step minus the baseline, (n_steps,)."""
        wanted = last_symbols(data)
        place = np.minimum(np.searchsorted(self.symbols, wanted), len(self.symbols) - 1)
        known = np.where(self.symbols[place] == wanted, self.values[place], self.average)
        return returns_to_go(data, self.discount) - known


def gain(probs: FloatArray, advantages: FloatArray, data: Trajectories) -> Gain:
    """Σ_t (π(a_t|h_t) / b(a_t|h_t) − 1) A_t of every episode.

    How much the logging policy would gain by taking, at one step at a time, the action of another policy whose
    probability of the logged action is `probs`. Whole-episode importance weights measure the true return but
    are all noise on long episodes; this is the first-order part of it.
    """
    gains = (probs / propensities(data) - 1.0) * advantages
    return Gain(np.add.reduceat(gains, data.offsets[:-1]))


def policy_gain(policy: Policy | None, baseline: Baseline, data: Trajectories) -> Gain:
    """The gain of a policy on held-out episodes."""
    return gain(logged_probs(policy, data), baseline.advantages(data), data)


def comparable_probs(policy: Policy | None, data: Trajectories) -> FloatArray:
    """π(a | h) of every logged action, (n_steps,), of a policy that is as sharp as the log allows.

    A greedy policy among many actions agrees with few steps of a log, and its gain is nearly all noise: beside one that
    hardly departs from the log it would show nothing. Weights π/b of mean square m make n steps worth n/m. Where the
    log is worth less than half of its steps to a policy, the logged behaviour b is tilted towards what it values
    instead, as far as that allows: π ∝ b · exp(values / temperature). No temperature is higher than the range of the
    values. A policy in Python stays as it is.
    """
    few = data[: int(np.searchsorted(data.offsets[1:], TEMPERATURE_STEPS)) + 1]
    if not isinstance(policy, CompiledPolicy) or not _too_sharp(
        logged_probs(policy, few) / propensities(few)
    ):
        return logged_probs(policy, data)
    behaves = behaviour(data)

    def tilted(part: Trajectories) -> Callable[[float], FloatArray]:
        """π/b of the logged actions at a temperature."""
        steps, open_to_it = np.arange(part.n_steps), supported_along(policy, part)
        values = np.where(open_to_it, policy.q_values_along(part), -np.inf)
        values -= values.max(axis=1, keepdims=True)
        base = behaves(part)

        def weights(temperature: float) -> FloatArray:
            tilts = np.exp(values / max(temperature, 1e-300))
            mass = np.maximum((base * tilts).sum(axis=1), 1e-300)
            return np.asarray(tilts[steps, part.actions] / mass)

        return weights

    weights, known = tilted(few), policy.q_values_along(few)[supported_along(policy, few)]
    low, high = policy.temperature, float(np.ptp(known)) if len(known) else 0.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _too_sharp(weights(middle)) else (low, middle)
    temperature = max(high, policy.temperature)
    tilts = np.concatenate([tilted(part)(temperature) for part in in_parts(data)])
    return np.asarray(propensities(data) * tilts)


def _too_sharp(weights: FloatArray) -> bool:
    """Whether steps with these weights are worth less than half of their number."""
    return float(np.square(weights).mean()) * EFFECTIVE_SHARE > 1.0
