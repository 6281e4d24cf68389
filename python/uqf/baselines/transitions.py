"""Logged steps as transitions between cuts: what batch Q-learning of every kind reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf.trajectories import Trajectories

Floats = NDArray[np.float64]


def checked_data(data: Any) -> Trajectories:
    """The argument of every `fit`, or an error that says what to give instead."""
    if not isinstance(data, Trajectories):
        raise TypeError(
            f"data is a {type(data).__name__}: give uqf.Trajectories (see uqf.Trajectories.from_episodes)"
        )
    return data


def checked_discount(name: str, discount: float) -> float:
    """A discount, or an error that names it."""
    if not 0.0 <= discount <= 1.0:
        raise ValueError(f"{name} = {discount}: give a number in [0, 1]")
    return float(discount)


class Transitions:
    """The steps of a data set between *cuts*: places before, between and after the steps of an episode.

    An episode of T steps has T + 1 cuts, so what is computed at all cuts (steps + episodes of them) serves as
    "state" of one step and "next state" of the step before it.

    Attributes
    ----------
    before, after : (n_steps,) cut at which each step begins and ends
    goes_on : (n_steps,) whether the value of the cut after it belongs into the step's target: not after a
        step that ended the episode; after one where only the recording stopped, if `bootstrap_truncated`
    """

    def __init__(self, data: Trajectories, *, bootstrap_truncated: bool = True) -> None:
        episode = np.repeat(np.arange(len(data)), data.lengths)
        self.before = np.arange(data.n_steps) + episode
        self.after = self.before + 1
        self.goes_on = np.ones(data.n_steps, np.bool_)
        self.goes_on[data.offsets[1:] - 1] = ~data.terminated & bootstrap_truncated
        self.rewards: Floats = data.rewards

    def targets(self, values: Floats, discount: float) -> Floats:
        """Reward + discount · max_a Q(next, a), from values (cuts, A) of any sign."""
        best = values.max(axis=1)
        return np.asarray(self.rewards + discount * np.where(self.goes_on, best[self.after], 0.0))
