"""Whether logged propensities agree with the logged actions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import last_observations
from uqf.episodes.sums import time_within
from uqf.episodes.trajectories import Trajectories

#: Chance of refuting propensities that are right, over all situations together.
LEVEL = 0.01

#: Parts of the log, in its order, that a drift is looked for in.
PARTS = 8

#: A situation needs so many steps to be looked at.
MIN_STEPS = 30


def refutation(data: Trajectories) -> str:
    """In words, where the logged propensities disagree most with the actions; empty if they do not.

    With b(a | h) logged, Σ 1{a_t = a} / b_t over the steps of any situation that is known before the action is at most
    the number of steps in expectation, whatever the behaviour remembers: equal to it where the action is possible. More
    than that beyond chance means that an action is taken more often than logged.
    """
    probs = data.behavior_probs
    if probs is None or data.n_actions == 1:
        return ""
    cells = [
        (name, value, np.flatnonzero(where == value), action)
        for name, where in _situations(data).items()
        for value in np.flatnonzero(np.bincount(where[where >= 0]) >= MIN_STEPS)
        for action in range(data.n_actions)
    ]
    if not cells:
        return ""
    scores = np.array([_excess(data.actions[steps] == action, probs[steps]) for _, _, steps, action in cells])
    worst = int(scores.argmax())
    if scores[worst] <= float(ndtri(1.0 - LEVEL / len(cells))):
        return ""
    name, value, steps, action = cells[worst]
    taken = data.actions[steps] == action
    return (
        f"{name.format(value)} action {action} was taken in {taken.mean():.0%} of {len(steps)} steps, and logged with "
        f"probability {1.0 / (1.0 / probs[steps][taken]).mean():.0%} where it was"
    )


def _excess(taken: NDArray[np.bool_], probs: FloatArray) -> float:
    """By how many standard errors an action is taken more often than its propensities say.

    Only the steps that took it show its probability b; over them, Σ (1 − b) / b² estimates the variance.
    """
    chosen = probs[taken]
    variance = float(((1.0 - chosen) / chosen**2).sum())
    return float((1.0 / chosen).sum() - len(taken)) / np.sqrt(variance) if variance > 0.0 else 0.0


def _situations(data: Trajectories) -> dict[str, NDArray[np.int64]]:
    """What may be known before an action, (n_steps,) each: whole numbers from 0, or -1 where there is nothing."""
    time, shown = time_within(data), last_observations(data)
    before = np.where(time > 0, np.roll(data.actions, 1), -1)
    parts = np.repeat(np.arange(len(data)) * PARTS // len(data), data.lengths)
    return {
        "overall": np.zeros(data.n_steps, np.int64),
        "after action {}": before,
        "after observation {}": np.where(shown < data.n_observations, shown, -1),
        "in steps from number 2**{} on": np.floor(np.log2(time + 1)).astype(np.int64),
        f"in part {{}} of {PARTS} of the log": parts,
    }
