"""What a data set looks like in a few figures, and whether another one looks the same."""

from __future__ import annotations

import math

import numpy as np

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.types import AnyArray, Record

#: Shares of more codes are not kept.
MAX_CODES = 4096

#: A share has moved if it did by so many standard errors and by so much.
EVIDENCE, LEAST = 4.0, 0.01


def profile(data: Trajectories) -> Record:
    """Shares of actions and observations, mean reward and length, each with its standard error over episodes."""
    each = np.add.reduceat(data.rewards, data.offsets[:-1])
    return {
        "episodes": len(data),
        "steps": data.n_steps,
        "reward": _ratio(each, data.lengths),
        "length": [float(data.lengths.mean()), float(data.lengths.std() / math.sqrt(len(data)))],
        "actions": _shares(data, data.actions, data.n_actions),
        "observations": _shares(data, data.observations, data.n_observations),
    }


def _ratio(sums: FloatArray, lengths: AnyArray) -> list[float]:
    """[mean of a step, standard error] of sums of episodes."""
    scale = float(np.abs(sums).max()) or 1.0
    mean = float((sums / scale).sum() / lengths.sum())
    error = float(np.sqrt(np.square(sums / scale - mean * lengths).sum()) / lengths.sum())
    return [scale * mean, scale * error]


def _shares(data: Trajectories, codes: AnyArray, size: int) -> list[list[float]] | None:
    """[share of the steps, standard error over episodes] of every code."""
    if size > MAX_CODES:
        return None
    episode = np.repeat(np.arange(len(data)), data.lengths)
    pairs, counts = np.unique(episode * size + codes, return_counts=True)
    code, length = pairs % size, data.lengths[pairs // size]
    share = np.bincount(code, counts, size) / data.n_steps
    # Σ (n − p L)² over episodes, of which most have n = 0.
    within = np.bincount(code, counts**2.0 - 2.0 * share[code] * counts * length, size)
    squares: FloatArray = within + np.square(share) * float(np.square(data.lengths.astype(np.float64)).sum())
    errors = np.sqrt(np.maximum(squares, 0.0)) / data.n_steps
    return [[float(one), float(error)] for one, error in zip(share, errors, strict=True)]


def moved(old: Record, new: Record, role: str) -> list[tuple[int, float, float, float]]:
    """(code, old share, new share, standard errors between them) of what has moved, the clearest first."""
    if not old.get(role) or not new.get(role) or len(old[role]) != len(new[role]):
        return []
    changes = []
    for code, ((before, error), (now, other)) in enumerate(zip(old[role], new[role], strict=True)):
        # A code that one of the logs never had shows no error of its own: one step of it would be one.
        spread = math.hypot(error or 1.0 / old["steps"], other or 1.0 / new["steps"])
        if abs(now - before) > max(LEAST, EVIDENCE * spread):
            changes.append((code, before, now, (now - before) / spread))
    return sorted(changes, key=lambda one: -abs(one[3]))


def shifted(old: Record, new: Record, figure: str) -> float:
    """By how many standard errors a mean (reward, length) differs."""
    (before, error), (now, other) = old[figure], new[figure]
    spread = math.hypot(error, other)
    return (
        (now - before) / spread
        if spread > 0
        else 0.0
        if now == before
        else math.copysign(math.inf, now - before)
    )
