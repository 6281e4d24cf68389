"""The last steps as features: the representation that needs no learning."""

from __future__ import annotations

from typing import Literal

from sklearn.base import BaseEstimator

from uqf import _core
from uqf.data.trajectories import Trajectories
from uqf.learn.learner import checked_data


class Window(BaseEstimator):  # type: ignore[misc]
    """Actions and observations of the last `length` steps, the latest first.

    encoding : "one-hot" (an indicator per action and per observation, all zero before the first step) or
        "ordinal" (their numbers, −1 before the first step; half a dozen columns that only trees can read)
    """

    def __init__(self, length: int = 1, encoding: Literal["one-hot", "ordinal"] = "one-hot") -> None:
        self.length = length
        self.encoding = encoding

    def fit(self, data: Trajectories, y: None = None) -> Window:
        """Reads only the sizes of the alphabets."""
        checked_data(data)
        if self.length < 1:
            raise ValueError(f"length = {self.length}: give at least one step")
        if self.encoding not in ("one-hot", "ordinal"):
            raise ValueError(f"encoding = {self.encoding!r}: choose 'one-hot' or 'ordinal'")
        self.features_ = _core.Features(
            length=self.length,
            one_hot=self.encoding == "one-hot",
            n_actions=data.n_actions,
            n_observations=data.n_observations,
        )
        return self
