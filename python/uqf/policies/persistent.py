"""A policy that keeps doing what it did."""

from __future__ import annotations

import numpy as np

from uqf.episodes.checks import positive, probability
from uqf.policies.policy import ContextPolicy


def Persistent(repeat: float, n_actions: int, n_observations: int) -> ContextPolicy:
    """Repeats its last action with probability `repeat`, and otherwise takes any, all alike, like the first.

    What random play meets only after a long way is met now and then. Values are logarithms of probabilities, so that
    ``uqf.ContextQ.improve`` can add to them; the table has a row for every symbol.

    Parameters
    ----------
    repeat : float in [0, 1)
        Probability of repeating. The last action is taken with probability repeat + (1 − repeat) / n_actions.
    n_actions, n_observations : int
        Sizes of the alphabets.

    Returns
    -------
    ContextPolicy
        Of depth 1; like every other it is saved, exported and played in batches.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> import uqf
    >>> policy = uqf.Persistent(0.8, n_actions=2, n_observations=3)
    >>> policy.action_probs(policy.update(policy.initial_state(), action=1, observation=0)).round(3).tolist()
    [0.1, 0.9]
    """
    if probability("repeat", repeat) == 1.0:
        raise ValueError(f"repeat = {repeat}: give a probability below 1")
    for name, count in (("n_actions", n_actions), ("n_observations", n_observations)):
        positive(name, count)
    probs = repeat * np.eye(n_actions) + (1.0 - repeat) / n_actions
    # After nothing, or what an episode shows first, all actions are alike.
    values = np.log(
        np.vstack([np.full(n_actions, 1.0 / n_actions), np.repeat(probs, n_observations, axis=0)])
    )
    symbols = np.arange(n_actions * n_observations)
    return ContextPolicy(
        parents=np.zeros_like(symbols),
        symbols=symbols,
        values=values,
        n_observations=n_observations,
        temperature=1.0,
    )
