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
    if probs is None:
        return ""
    situations = _situations(data)
    tested = [_excesses(data, probs, where) for where in situations.values()]
    if sum(len(excess) for *_, excess in tested) == 0:
        return ""
    worst = max(range(len(tested)), key=lambda number: tested[number][2].max(initial=-np.inf))
    values, actions, excess = tested[worst]
    if excess.max() <= float(ndtri(1.0 - LEVEL / sum(len(one) for *_, one in tested))):
        return ""
    name, where = list(situations.items())[worst]
    value, action = values[excess.argmax()], actions[excess.argmax()]
    there = where == value
    taken = there & (data.actions == action)
    return (
        f"{name.format(value)} action {action} was taken in {taken.sum() / there.sum():.0%} of {there.sum()} steps, "
        f"and logged with probability {1.0 / (1.0 / probs[taken]).mean():.0%} where it was"
    )


def _excesses(
    data: Trajectories, probs: FloatArray, where: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """By how many standard errors actions are taken more often in a situation than their propensities say.

    Of all pairs of a situation with enough steps and an action that was taken there: (situations, actions, excesses).
    Only the steps that took an action show its probability b; over them, Σ (1 − b) / b² estimates the variance.
    """
    steps = np.bincount(where[where >= 0])
    counted = np.flatnonzero(where >= 0)
    counted = counted[steps[where[counted]] >= MIN_STEPS]
    pairs, place = np.unique(where[counted] * data.n_actions + data.actions[counted], return_inverse=True)
    values, actions = np.divmod(pairs, data.n_actions)
    chosen = probs[counted]
    surplus = np.bincount(place, 1.0 / chosen, minlength=len(pairs)) - steps[values]
    variance = np.bincount(place, (1.0 - chosen) / chosen**2, minlength=len(pairs))
    # An action that was certain every time it was taken leaves nothing to chance, and no surplus either.
    scores = np.divide(surplus, np.sqrt(variance), out=np.zeros(len(pairs)), where=variance > 0.0)
    return values, actions, scores


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
