"""The policy of the first data set."""

from __future__ import annotations

import numpy as np

from uqf.data.checks import positive
from uqf.policies import ContextPolicy


def RandomPolicy(n_actions: int, n_observations: int) -> ContextPolicy:
    """Every action alike, whatever happened; ``uqf.rollout(env)`` without a policy plays by the same rule.

    Only the random numbers differ: with the same seed the two draw other actions.
    """
    # Equal values in the only context: ties are split evenly.
    none = np.zeros(0, np.int64)
    values = np.zeros((1, positive("n_actions", n_actions)))
    sizes = {"n_observations": positive("n_observations", n_observations)}
    return ContextPolicy(parents=none, symbols=none, values=values, **sizes)
