"""What all learners share: `fit`, and what can be asked of a fitted one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from uqf.data.checks import FloatArray
from uqf.data.progress import Progress
from uqf.data.trajectories import Trajectories
from uqf.learn.gain import Baseline, policy_gain
from uqf.learn.not_fitted import NotFittedError
from uqf.policies import CompiledPolicy, remembered
from uqf.storage.policies import Origin, save

History = Sequence[tuple[int, int]]


class Learner(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator whose samples are episodes.

    Attributes after `fit`
    ----------------------
    policy_ : compiled policy
    diagnostics_ : dict of what was chosen and how well the data support it
    n_features_in_ : number of (action, observation) symbols
    """

    policy_: Any
    diagnostics_: dict[str, Any]
    discount: float

    def fit(
        self, data: Trajectories, y: None = None, *, progress: Callable[[Progress], object] | None = None
    ) -> Self:
        """Learns from episodes; `y` is ignored (scikit-learn passes it).

        `progress` is called now and then with a `uqf.Progress`: the stage, how far it is, the time left.
        """
        self._learn(checked_data(data), progress)
        return self._keep_origin(data)

    def _learn(self, data: Trajectories, progress: Callable[[Progress], object] | None) -> None:
        """Sets `policy_` and `diagnostics_`."""
        raise TypeError(f"{type(self).__name__} does not learn: use one of the learners of uqf")

    def _keep_origin(self, data: Trajectories) -> Self:
        """What scoring and saving need to know of the data."""
        self.baseline_ = Baseline.of(data, self.discount)
        self.n_features_in_ = data.n_symbols
        self.origin_ = Origin.of(data)
        return self

    def decision_function(self, histories: Trajectories | Sequence[History]) -> FloatArray:
        """Q values after each history, a list of (action, observation): (len(histories), n_actions).

        Given `Trajectories`, before each of their steps: (n_steps, n_actions).
        """
        policy = self._fitted()
        if isinstance(histories, Trajectories):
            return np.asarray(policy.q_values_along(histories))
        return np.stack([policy.q_values(remembered(policy, history)) for history in histories])

    def predict(self, histories: Trajectories | Sequence[History]) -> NDArray[np.int64]:
        """The best action after each history, or before each step; ties go to the first, so that it repeats."""
        return np.asarray(self.decision_function(histories).argmax(axis=1))

    def score(self, data: Trajectories, y: None = None) -> float:
        """What the policy gains on these episodes, one step at a time, per episode and in units of reward.

        The first-order part of the difference to the return of the policy that collected the data; for comparing
        learners on held-out episodes, not for expecting a return (`uqf.ope.evaluate` is for that).
        """
        policy, data = self._fitted(), checked_data(data)
        # A learner that read its episodes from files has no baseline of them.
        baseline = getattr(self, "baseline_", None) or Baseline.of(data, self.discount)
        return policy_gain(policy, baseline, data).mean

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy as a file with these settings; `uqf.load` reads it."""
        policy = self._fitted()
        settings = {"learner": type(self).__name__} | self.get_params()
        plain = {
            name: value for name, value in settings.items() if not isinstance(value, (tuple, BaseEstimator))
        }
        save(policy, path, settings=plain, data=self.origin_)

    def _fitted(self) -> CompiledPolicy:
        if not hasattr(self, "policy_"):
            raise NotFittedError.of(self)
        policy: CompiledPolicy = self.policy_
        return policy

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a policy."""
        return hasattr(self, "policy_")


def checked_data(data: Any) -> Trajectories:
    """The argument of `fit`, or an error that says what to give instead."""
    if not isinstance(data, Trajectories):
        raise TypeError(
            f"data is a {type(data).__name__}: give uqf.Trajectories (see uqf.Trajectories.from_episodes and "
            "uqf.read_log)"
        )
    return data


def checked_temperature(temperature: float | None) -> None:
    """Refuses a negative temperature by name."""
    if temperature is not None and not temperature >= 0.0:
        raise ValueError(f"temperature = {temperature}: give 0 (greedy), more, or None")
