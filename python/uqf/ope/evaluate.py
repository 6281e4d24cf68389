"""From a policy and logs to an estimate of what the policy earns."""

from __future__ import annotations

from typing import Any

from uqf.data.trajectories import Trajectories
from uqf.ope.estimates import (
    ANYTHING,
    ENOUGH_EPISODES,
    ENOUGH_INFORMATIVE,
    FAIR_MEAN_WEIGHT,
    HIDDEN_REASONS,
    MODELS,
    Comparison,
    Estimate,
)
from uqf.ope.estimators import METHODS, Replayed, ValueModel, measured, replayed
from uqf.ope.last_symbol import LastSymbolModel


def _estimate(logs: Replayed, method: str | None, level: float, replicates: int) -> Estimate:
    low, high = FAIR_MEAN_WEIGHT
    overlap = logs.overlap
    enough = overlap.size >= ENOUGH_EPISODES and low <= overlap.mean_weight <= high
    enough = enough and logs.informative >= ENOUGH_INFORMATIVE
    chosen = method or ("doubly-robust" if enough else "model")
    told, logged = enough and chosen not in MODELS, logs.propensities == "logged"
    value, error, interval = measured([logs], chosen, level, replicates)
    return Estimate(
        mean=value,
        stderr=error,
        interval=interval if told else ANYTHING,
        level=level,
        effective_sample_size=overlap.size,
        mean_weight=overlap.mean_weight,
        informative_episodes=logs.informative,
        sufficient=told and logged,
        condition="" if logged else HIDDEN_REASONS,
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
    method : str, optional
        "importance": per-decision weighted importance sampling. "doubly-robust": the same on what a model's
        values leave unexplained. "model": the value under that model. "cpsr": the policy played in a world that a
        compressed predictive state representation simulates. None chooses "doubly-robust" where the logs
        overlap enough with the policy, else "model".
    replicates : int
        Resamples of the bootstrap over episodes.
    model : ValueModel
        What "doubly-robust" and "model" learn from the logs; `LastSymbolModel` by default.

    The interval of "importance" and "doubly-robust" holds only if `sufficient` is true: weights that never
    occurred in the logs do not show in any resample. That of "model" and "cpsr" holds the noise of the data but
    not the error of the model, which may be many times larger: never trust it alone.
    """
    _check(data, discount, method, level, replicates)
    logs = replayed(policy, data, float(discount), model or LastSymbolModel(), seed)
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

    Both are estimated on the same resampled episodes, so noise that they share cancels.
    """
    _check(data, discount, method, level, replicates)
    value_model = model or LastSymbolModel()
    logs = [replayed(policy, data, float(discount), value_model, seed) for policy in (first, second)]
    estimates = [_estimate(one, method, level, replicates) for one in logs]
    if method is None and {estimate.method for estimate in estimates} != {"doubly-robust"}:
        estimates = [_estimate(one, "model", level, replicates) for one in logs]
    difference, error, interval = measured(logs, estimates[0].method, level, replicates)
    told = all(estimate.guess is None for estimate in estimates)
    return Comparison(difference, error, interval if told else ANYTHING, *estimates)
