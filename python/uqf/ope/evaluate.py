"""From a policy and logs to an estimate of what the policy earns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uqf.ope.estimates import ENOUGH_EPISODES, ENOUGH_INFORMATIVE, FAIR_MEAN_WEIGHT, Comparison, Estimate
from uqf.ope.last_symbol import LastSymbolModel
from uqf.ope.ratios import Ratios, bootstrap
from uqf.ope.replay import estimated_propensities, target_probs
from uqf.ope.weights import Weights, effective_sample_size, importance_weights
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]

METHODS = ("importance", "doubly-robust", "model")

#: Refits of the model for its standard error; each learns from the logs anew.
REFITS = 50


class ValueModel(Protocol):
    """A model that gives the values of a policy: `LastSymbolModel`, or a better one."""

    def fit(self, data: Trajectories, probs: FloatArray, *, discount: float) -> Any:
        """Learns from logs along which the policy has probabilities `probs` (n_steps, n_actions)."""

    def values(self, data: Trajectories, *, horizon: int) -> FloatArray:
        """Q of every action before every step, (n_steps, n_actions); no reward after step `horizon`."""


@dataclass(frozen=True)
class _Replayed:
    """Logs seen with the eyes of one policy."""

    data: Trajectories
    discount: float
    probs: FloatArray
    weights: Weights
    propensities: str
    model: ValueModel
    seed: int

    @property
    def overlap(self) -> tuple[float, float]:
        """(effective sample size, mean weight)."""
        size = effective_sample_size(self.weights, self.data.rewards, self.discount)
        # Weighing the steps by their reward would hide paths that the logs lack; only the discount counts.
        discounts = self.weights.discounts(self.discount)
        totals, counts = self.weights.powers(1), self.weights.powers(0)
        return size, float(discounts @ totals / (discounts @ counts))


def _replayed(policy: Any, data: Trajectories, discount: float, model: ValueModel, seed: int) -> _Replayed:
    probs = target_probs(policy, data)
    known = data.behavior_probs is not None
    behavior = data.behavior_probs if data.behavior_probs is not None else estimated_propensities(data)
    weights = importance_weights(data, probs[np.arange(data.n_steps), data.actions], behavior)
    return _Replayed(data, discount, probs, weights, "logged" if known else "estimated", model, seed)


def _importance(logs: _Replayed) -> Ratios:
    """Σ_t γ^t Σ_i ρ_it r_it / Σ_i ρ_it."""
    weights = logs.weights
    return Ratios(
        weights.sums(weights.upto * logs.data.rewards),
        weights.totals(weights.upto),
        weights.discounts(logs.discount),
    )


def _doubly_robust(logs: _Replayed) -> Ratios:
    """Σ_t γ^t [Σ_i ρ_it (r_it - Q_it) / Σ_i ρ_it + Σ_i ρ_i,t-1 V_it / Σ_i ρ_i,t-1].

    Q and V come from a model fitted to the other half of the episodes, so that its noise and the noise of the
    weights have nothing to do with each other.
    """
    weights, data = logs.weights, logs.data
    values = _cross_fitted(logs)
    taken = values[np.arange(data.n_steps), data.actions]
    expected = (logs.probs * values).sum(1)
    discounts = weights.discounts(logs.discount)
    return Ratios(
        np.hstack(
            [weights.sums(weights.upto * (data.rewards - taken)), weights.sums(weights.before * expected)]
        ),
        np.hstack([weights.totals(weights.upto), weights.totals(weights.before)]),
        np.concatenate([discounts, discounts]),
    )


def _steps_of(data: Trajectories, episodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Steps of the chosen episodes, in the order in which `data[episodes]` has them."""
    lengths = data.lengths[episodes]
    firsts = np.repeat(data.offsets[:-1][episodes] - (np.cumsum(lengths) - lengths), lengths)
    return firsts + np.arange(lengths.sum())


def _cross_fitted(logs: _Replayed) -> FloatArray:
    data = logs.data
    if len(data) < 2:
        return np.zeros((data.n_steps, data.n_actions))
    order = np.random.default_rng([logs.seed, 1]).permutation(len(data))
    halves = np.sort(order[: len(data) // 2]), np.sort(order[len(data) // 2 :])
    values = np.empty((data.n_steps, data.n_actions))
    for learned, valued in (halves, halves[::-1]):
        logs.model.fit(data[learned], logs.probs[_steps_of(data, learned)], discount=logs.discount)
        values[_steps_of(data, valued)] = logs.model.values(data[valued], horizon=logs.weights.horizon)
    return values


def _model_value(logs: _Replayed, episodes: NDArray[np.int64]) -> float:
    """Value of the empty history under the model that these episodes teach."""
    probs = logs.probs[_steps_of(logs.data, episodes)]
    logs.model.fit(logs.data[episodes], probs, discount=logs.discount)
    values = logs.model.values(logs.data[:1], horizon=logs.weights.horizon)
    return float(probs[0] @ values[0])


def _model_values(logs: _Replayed) -> tuple[float, FloatArray]:
    """The model's value, and its values when learned from resampled episodes."""
    count = len(logs.data)
    rng = np.random.default_rng([logs.seed, 2])
    refits = [_model_value(logs, rng.integers(count, size=count)) for _ in range(REFITS)]
    return _model_value(logs, np.arange(count)), np.array(refits)


class _Measured(NamedTuple):
    value: float
    stderr: float
    interval: tuple[float, float]
    informative: float


def _measured(logs: list[_Replayed], method: str, level: float, replicates: int) -> _Measured:
    """The value of one policy, or the difference of two."""
    if method == "model":
        (value, refits), *others = [_model_values(one) for one in logs]
        for other, other_refits in others:
            value, refits = value - other, refits - other_refits
        error = float(refits.std(ddof=1))
        reach = float(ndtri((1.0 + level) / 2.0)) * error
        return _Measured(value, error, (value - reach, value + reach), float("inf"))
    ratios, *rest = [(_importance if method == "importance" else _doubly_robust)(one) for one in logs]
    for subtracted in rest:
        ratios = ratios - subtracted
    error, interval = bootstrap(ratios, level=level, replicates=replicates, seed=logs[0].seed)
    return _Measured(ratios.value(), error, interval, ratios.informative_groups())


def _estimate(logs: _Replayed, method: str | None, level: float, replicates: int) -> Estimate:
    size, mean_weight = logs.overlap
    low, high = FAIR_MEAN_WEIGHT
    chosen = method or "doubly-robust"
    measured = _measured([logs], chosen, level, replicates)
    overlapping = size >= ENOUGH_EPISODES and low <= mean_weight <= high
    sufficient = overlapping and measured.informative >= ENOUGH_INFORMATIVE and chosen != "model"
    if method is None and not sufficient:
        chosen, measured = "model", _measured([logs], "model", level, replicates)
    return Estimate(
        mean=measured.value,
        stderr=measured.stderr,
        interval=measured.interval,
        level=level,
        effective_sample_size=size,
        mean_weight=mean_weight,
        informative_episodes=measured.informative,
        sufficient=sufficient,
        method=chosen,
        propensities=logs.propensities,
        episodes=len(logs.data),
    )


def _check(data: Any, discount: float, method: str | None, level: float, replicates: int) -> None:
    if not isinstance(data, Trajectories):
        raise TypeError(f"data is a {type(data).__name__}: give uqf.Trajectories (see uqf.read_log)")
    if not 0.0 <= discount <= 1.0:
        raise ValueError(f"discount = {discount}: give a number in [0, 1]")
    if method is not None and method not in METHODS:
        raise ValueError(f"method = {method!r}: choose {', '.join(METHODS)} or None")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level = {level}: give a confidence between 0 and 1, such as 0.95")
    if replicates < 100:
        raise ValueError(f"replicates = {replicates}: give at least 100")


def evaluate(
    policy: Any,
    data: Trajectories,
    *,
    discount: float,
    method: str | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    model: ValueModel | None = None,
    seed: int = 0,
) -> Estimate:
    """Expected discounted return of a policy, up to the length of the longest logged episode.

    Parameters
    ----------
    policy : None (uniform), a compiled policy, or any object with the policy protocol
    data : Trajectories
        Logs of another policy. Without `behavior_probs` the propensities are estimated from the last symbol.
    method : "importance", "doubly-robust" or "model"
        None chooses "doubly-robust" where the logs overlap enough with the policy, else "model".
    replicates : int
        Resamples of the bootstrap over episodes.
    model : ValueModel
        What "doubly-robust" and "model" learn from the logs; `LastSymbolModel` by default.

    The interval of "importance" and "doubly-robust" holds only if `sufficient` is true: weights that never
    occurred in the logs do not show in any resample.
    """
    _check(data, discount, method, level, replicates)
    logs = _replayed(policy, data, float(discount), model or LastSymbolModel(), seed)
    return _estimate(logs, method, level, replicates)


def compare(
    first: Any,
    second: Any,
    data: Trajectories,
    *,
    discount: float,
    method: str | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    model: ValueModel | None = None,
    seed: int = 0,
) -> Comparison:
    """Which of two policies earns more, if these logs can tell; arguments as in `evaluate`.

    Both are estimated on the same resampled episodes, so luck that they share cancels.
    """
    _check(data, discount, method, level, replicates)
    value_model = model or LastSymbolModel()
    logs = [_replayed(policy, data, float(discount), value_model, seed) for policy in (first, second)]
    estimates = [_estimate(one, method, level, replicates) for one in logs]
    if method is None and {estimate.method for estimate in estimates} != {"doubly-robust"}:
        estimates = [_estimate(one, "model", level, replicates) for one in logs]
    value, error, interval, _ = _measured(logs, estimates[0].method, level, replicates)
    return Comparison(value, error, interval, *estimates)
