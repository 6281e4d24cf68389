"""From a policy and logs to an estimate of what the policy earns."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.ope.behavior import behavior_of
from uqf.ope.doubts import doubts_about, overlaps
from uqf.ope.estimates import ANYTHING, Answer, Comparison, Estimate
from uqf.ope.estimators import METHODS, Replayed, ValueModel, measured, replayed
from uqf.ope.last_symbol import LastSymbolModel
from uqf.policies.policy import Policy
from uqf.reading.shards import Data

ReturnRange = tuple[float, float] | None


def _estimate(
    logs: Replayed,
    method: str | None,
    level: float,
    replicates: int,
    return_range: ReturnRange,
    unit: float,
) -> Estimate:
    """The estimate in units of reward as they were logged; `logs` and `return_range` are in multiples of `unit`."""
    chosen = method or ("doubly-robust" if overlaps(logs) else "model")
    value, error, interval = measured([logs], chosen, level, replicates)
    unseen = logs.unseen(value, level, return_range)
    low, high = unseen.around(value, interval)
    found = Estimate(
        mean=unit * value,
        stderr=unit * error,
        interval=(unit * low, unit * high),
        level=level,
        effective_sample_size=logs.overlap.size,
        mean_weight=logs.overlap.mean_weight,
        doubts=tuple(doubts_about(logs, chosen, unseen.times(unit))),
        method=chosen,
        propensities=logs.behavior.source,
        episodes=len(logs.data),
    )
    return replace(found, interval=ANYTHING) if found.answer is Answer.UNKNOWN else found


def _check(data: Data, discount: float, method: str | None, level: float, replicates: int) -> None:
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


def _in_units(data: Trajectories) -> tuple[Trajectories, float]:
    """The log with its largest reward between 1 and 2 in size, and the unit: a power of two, so that no bit is lost.

    Squares and fourth powers of rewards are then finite, whatever the rewards are.
    """
    largest = float(np.abs(data.rewards).max())
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0.0 else 1.0
    if not math.isfinite(largest * float(data.lengths.max())):
        raise ValueError(
            f"rewards: returns of rewards such as {largest:.3g} are beyond floating point; divide them"
        )
    return Trajectories(**data.__getstate__() | {"rewards": data.rewards / unit}), unit


def _in_range(data: Trajectories, discount: float, unit: float, return_range: ReturnRange) -> ReturnRange:
    """What an episode can earn, in these units."""
    if return_range is None:
        return None
    (worst, best), returns = return_range, unit * data.returns(discount)
    if not (math.isfinite(best - worst) and worst <= returns.min() and returns.max() <= best):
        raise ValueError(
            f"return_range = {return_range}: give the least and the most that an episode can earn; the logged ones "
            f"earn from {returns.min():.4g} to {returns.max():.4g}"
        )
    return worst / unit, best / unit


def evaluate(
    policy: Policy | None,
    data: Trajectories,
    *,
    discount: float,
    method: str | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    model: ValueModel | None = None,
    return_range: ReturnRange = None,
    seed: int = 0,
) -> Estimate:
    """Expected discounted return of a policy, up to the length of the longest logged episode.

    Parameters
    ----------
    policy : None (uniform), a compiled policy, or any object with the policy protocol
    data : Trajectories
        Logs of another policy. Without `behavior_probs` the propensities are estimated (`uqf.ope.behavior`).
    discount : float in [0, 1]
        Worth of a reward one step later.
    method : str, optional
        "importance": per-decision weighted importance sampling. "doubly-robust": the same on what a model's
        values leave unexplained. "model": the value under that model. None chooses "doubly-robust" where the logs
        overlap enough with the policy, else "model".
    level : float in (0, 1)
        Confidence of the interval.
    replicates : int
        Resamples of the bootstrap over episodes, at least 100.
    model : ValueModel
        What "doubly-robust" and "model" learn from the logs; `LastSymbolModel` by default.
    return_range : (float, float), optional
        The least and the most that an episode can earn. The interval then holds whatever is too rare to be in the
        log. Without it, a rare event that is worth far more than all that was logged goes unnoticed.
    seed : int
        Of the bootstrap and of the halves that models learn from.

    Returns
    -------
    Estimate
        The answer in words (`text()`, `verdict`), and the figures that it rests on.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the policy has other actions or observations than the data.

    Notes
    -----
    There is an interval only where the log tells the return: "model" has none, since the error of a model may be many
    times the noise of the data. Without `behavior_probs` it holds on a condition (`Estimate.condition`).

    Examples
    --------
    >>> import numpy as np, uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=500, horizon=3, seed=0)
    >>> listening = uqf.TablePolicy(np.tile([0.6, 0.2, 0.2], (7, 1)), 2)
    >>> estimate = uqf.ope.evaluate(listening, log, discount=0.95, replicates=100)
    >>> estimate.known, estimate.interval[0] < estimate.mean < estimate.interval[1]
    (True, True)
    """
    _check(data, discount, method, level, replicates)
    data, unit = _in_units(data)
    bounds = _in_range(data, discount, unit, return_range)
    logs = replayed(policy, data, float(discount), behavior_of(data, seed), model or LastSymbolModel(), seed)
    return _estimate(logs, method, level, replicates, bounds, unit)


def compare(
    first: Policy | None,
    second: Policy | None,
    data: Trajectories,
    *,
    discount: float,
    method: str | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    model: ValueModel | None = None,
    seed: int = 0,
) -> Comparison:
    """Which of two policies earns more, if these logs can tell.

    Both are estimated on the same resampled episodes, so noise that they share cancels.

    Parameters
    ----------
    first, second : None (uniform), a compiled policy, or any object with the policy protocol
    data, discount, method, level, replicates, model, seed : as in `evaluate`

    Returns
    -------
    Comparison
        The difference with its interval, and the answer in words (`verdict`).

    Examples
    --------
    >>> import numpy as np, uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=500, horizon=3, seed=0)
    >>> listening = uqf.TablePolicy(np.tile([0.6, 0.2, 0.2], (7, 1)), 2)
    >>> uqf.ope.compare(listening, None, log, discount=0.95, replicates=100).distinguishable
    True
    """
    _check(data, discount, method, level, replicates)
    data, unit = _in_units(data)
    behavior, value_model = behavior_of(data, seed), model or LastSymbolModel()
    logs = [
        replayed(policy, data, float(discount), behavior, value_model, seed) for policy in (first, second)
    ]
    estimates = [_estimate(one, method, level, replicates, None, unit) for one in logs]
    if method is None and {estimate.method for estimate in estimates} != {"doubly-robust"}:
        estimates = [_estimate(one, "model", level, replicates, None, unit) for one in logs]
    # Nobody should hear of a winner among equals more often than the level allows, and plain intervals leave nothing to
    # spare: 14 of 287 comparisons in 12 drawn worlds (4.9 %). Half the chance of an error is kept in reserve.
    difference, error, (low, high) = measured(logs, estimates[0].method, (1.0 + level) / 2.0, replicates)
    found = Comparison(unit * difference, unit * error, (unit * low, unit * high), *estimates)
    return replace(found, interval=ANYTHING) if found.answer is Answer.UNKNOWN else found
