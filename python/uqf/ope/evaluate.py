"""What a policy earns, and which of two earns more, from logs of another."""

from __future__ import annotations

from collections.abc import Sequence

from uqf.episodes.checks import instance, one_of, probability
from uqf.ope.estimates import Comparison, Estimate
from uqf.ope.estimators import METHODS, ValueModel
from uqf.ope.evaluator import Evaluator, Logs, ReturnRange
from uqf.policies.policy import Policy, probs_along


def evaluate(
    policy: Policy | None,
    data: Logs,
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
    data : Trajectories, or a list of them
        Logs of other policies. Without `behavior_probs`, or where the actions refute them, the propensities are
        estimated, for every log by itself (`uqf.ope.behavior`).
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
        log. Without it nothing is known unconditionally: no log shows what happens less often than in three of its
        episodes.
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
    There is an interval only where the log answers for the return: "model" has none, since the error of a model may be
    many times the noise of the data. Whatever no log can show is a condition of the interval (`Estimate.condition`).

    Examples
    --------
    >>> import numpy as np, uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=500, horizon=3, seed=0)
    >>> listening = uqf.TablePolicy(np.tile([0.6, 0.2, 0.2], (7, 1)), 2)
    >>> estimate = uqf.ope.evaluate(listening, log, discount=0.95, return_range=(-300, 30), replicates=100)
    >>> estimate.known, estimate.interval[0] < estimate.mean < estimate.interval[1]
    (True, True)
    """
    if method is not None:
        one_of("method", method, METHODS)
    log = Evaluator.of(data, discount, level, replicates, return_range, seed, model)
    logs = log.replay(policy)
    return log.estimate(logs, method or log.method(logs))


def compare(
    first: Policy | None,
    second: Policy | None,
    data: Logs,
    *,
    discount: float,
    method: str | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    model: ValueModel | None = None,
    return_range: ReturnRange = None,
    seed: int = 0,
) -> Comparison:
    """Which of two policies earns more, if these logs can tell.

    Both are estimated on the same resampled episodes, so noise that they share cancels.

    Parameters
    ----------
    first, second : None (uniform), a compiled policy, or any object with the policy protocol
    data, discount, method, level, replicates, model, return_range, seed : as in `evaluate`

    Returns
    -------
    Comparison
        The difference with its interval, and the answer in words (`verdict`).

    Examples
    --------
    >>> import numpy as np, uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=500, horizon=3, seed=0)
    >>> listening = uqf.TablePolicy(np.tile([0.6, 0.2, 0.2], (7, 1)), 2)
    >>> result = uqf.ope.compare(listening, None, log, discount=0.95, return_range=(-300, 30), replicates=100)
    >>> result.distinguishable
    True
    """
    if method is not None:
        one_of("method", method, METHODS)
    log = Evaluator.of(data, discount, level, replicates, return_range, seed, model)
    logs = [log.replay(policy) for policy in (first, second)]
    if method is None:
        method = min((log.method(one) for one in logs), key=("model", "doubly-robust").index)
    return log.compared(logs, [log.estimate(one, method) for one in logs])


def versions(
    policies: Sequence[tuple[Policy | None, float]],
    data: Logs,
    *,
    discount: float,
    level: float = 0.95,
    replicates: int = 1000,
    return_range: ReturnRange = None,
    seed: int = 0,
) -> list[Estimate]:
    """What cautious versions of policies earn, by weighted episodes: each decides in a share of the steps.

    Parameters
    ----------
    policies : list of (policy, float in [0, 1])
        At every step the policy decides with this probability; else somebody acts as in the log.
    data, discount, level, replicates, return_range, seed : as in `evaluate`

    Returns
    -------
    list of Estimate
        By the method "importance", in the order of the policies, under the rules of `evaluate`.

    Examples
    --------
    >>> import numpy as np, uqf
    >>> log = uqf.rollout(uqf.make("tiger"), episodes=500, horizon=3, seed=0)
    >>> listening = uqf.TablePolicy(np.tile([1.0, 0.0, 0.0], (7, 1)), 2)
    >>> versions = [(listening, share) for share in (0.0, 0.2, 1.0)]
    >>> estimates = uqf.ope.versions(versions, log, discount=0.95, replicates=100)
    >>> [one.answer.value for one in estimates]
    ['conditional', 'conditional', 'unknown']
    """
    log = Evaluator.of(data, discount, level, replicates, return_range, seed)
    instance("policies", policies, Sequence, "pairs of a policy and its share of the steps")
    for pair in policies:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise TypeError(f"policies: {pair!r} is no pair of a policy and its share of the steps")
        probability("share", pair[1])
    probs = {id(policy): probs_along(policy, log.data) for policy, _ in policies}
    return [log.estimate(log.seen_with(probs[id(policy)], share), "importance") for policy, share in policies]
