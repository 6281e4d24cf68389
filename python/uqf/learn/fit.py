"""The front door: from a log to the learner that suits it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from uqf.data.checks import probability
from uqf.data.progress import Progress
from uqf.data.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.learn.gain import Baseline, Gain, policy_gain
from uqf.learn.learner import Learner, checked_data

#: The learners that are tried, the quickest first. A learner that registers here takes part in every fit.
CANDIDATES: list[Callable[[float, int], Learner]] = [
    lambda discount, seed: ContextQ(discount),
    lambda discount, seed: BeliefQ(discount, seed=seed),
]


@dataclass(frozen=True)
class Trial:
    """What the choice rests on: the policy of the chosen learner, taught without the held-out episodes."""

    policy: Any
    held_out: NDArray[np.int64]
    """Numbers of the episodes that it was judged on; they taught it nothing."""


def fit(
    data: Trajectories,
    *,
    discount: float = 0.99,
    holdout: float = 0.25,
    seconds: float | None = None,
    seed: int = 0,
    progress: Callable[[Progress], object] | None = None,
) -> Learner:
    """Tries the learners, keeps the one that gains most on held-out episodes, and refits it to all of them.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    holdout : float in (0, 1)
        Share of the episodes that judge and do not teach while learners are compared.
    seconds : float, optional
        No further learner is begun after so long; the first is always tried.
    progress : callable, optional
        Called now and then with a `Progress`.

    Returns
    -------
    The fitted learner. ``diagnostics_["chosen"]`` says which one was taken, why, and how the others did; `trial_` has
    the policy that was judged and the episodes that judged it, for `uqf.ope.evaluate`.
    """
    checked_data(data)
    probability("discount", discount)
    train, held_out = _split(data, holdout, seed)
    taught, judges = data[train], data[held_out]
    tried: Tried = []
    began = time.perf_counter()
    baseline = Baseline.of(taught, discount)
    for number, candidate in enumerate(CANDIDATES):
        if number > 0 and seconds is not None and time.perf_counter() - began > seconds:
            break
        learner = candidate(discount, seed)
        try:
            learner.fit(taught, progress=_named(progress, f"{type(learner).__name__}, trial"))
            tried.append((learner, policy_gain(learner.policy_, baseline, judges)))
        except UQFError as problem:
            tried.append((learner, str(problem)))
    best, gain = _best(tried)
    chosen: Learner = clone(best).fit(data, progress=_named(progress, type(best).__name__))
    chosen.trial_ = Trial(best.policy_, held_out)
    chosen.diagnostics_["chosen"] = _told(best, gain, tried, len(held_out))
    return chosen


def _split(data: Trajectories, holdout: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(episodes that teach, episodes that judge), in the order of the data."""
    if not 0.0 < holdout < 1.0:
        raise ValueError(f"holdout = {holdout}: give a share above 0 and below 1")
    held = max(1, round(holdout * len(data)))
    if held >= len(data):
        raise ValueError(
            f"{len(data)} episodes are too few: {held} would be held out to judge, and none left to learn from"
        )
    order = np.random.default_rng(seed).permutation(len(data))
    return np.sort(order[held:]), np.sort(order[:held])


Tried = list[tuple[Learner, Gain | str]]


def _best(tried: Tried) -> tuple[Learner, Gain]:
    """The learner whose policy gains most on the held-out episodes."""
    judged = [(learner, gain) for learner, gain in tried if isinstance(gain, Gain)]
    if not judged:
        raise UQFError(f"every learner was refused; the first said: {tried[0][1]}")
    return max(judged, key=lambda pair: pair[1].mean)


def _told(best: Learner, gain: Gain, tried: Tried, held_out: int) -> dict[str, Any]:
    """The choice, its evidence and the runners-up."""
    candidates = [
        {"learner": type(learner).__name__, "problem": found}
        if isinstance(found, str)
        else {"learner": type(learner).__name__, "gain": found.mean, "stderr": found.stderr}
        for learner, found in tried
    ]
    why = (
        f"{type(best).__name__} gains most on {held_out:,} held-out episodes: {gain.mean:.4g} ± {gain.stderr:.2g} an "
        "episode, one step at a time"
    )
    return {"learner": type(best).__name__, "why": why, "candidates": candidates}


def _named(
    progress: Callable[[Progress], object] | None, learner: str
) -> Callable[[Progress], object] | None:
    """The callback, told which learner is at work."""
    if progress is None:
        return None
    return lambda told: progress(Progress(f"{learner}: {told.stage}", told.done, told.total, told.seconds))
