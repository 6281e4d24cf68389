"""The policy of the first data set."""

from __future__ import annotations

from typing import Self

import numpy as np

from uqf.policies import ContextPolicy


class RandomPolicy(ContextPolicy):
    """Every action alike, whatever happened; ``uqf.rollout(env)`` without a policy plays by the same rule.

    Only the luck differs: with the same seed the two draw other actions.
    """

    def __new__(cls, n_actions: int, n_observations: int) -> Self:
        """A compiled policy for a world of this size."""
        for name, size in (("n_actions", n_actions), ("n_observations", n_observations)):
            if size < 1:
                raise ValueError(f"{name} = {size}: give a positive number")
        # Equal values in the only context: ties are split evenly.
        return super().__new__(cls, [()], np.zeros((1, n_actions)), n_observations)
