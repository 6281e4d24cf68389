"""Sums over the steps of episodes: returns, residuals and their generalisations, for all episodes at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories


def discounted_backward(
    rows: NDArray[np.floating], offsets: NDArray[np.int64], factor: float | FloatArray
) -> None:
    """In place, within every episode: rows[t] += factor · rows[t + 1], from the last step to the first.

    `rows` is (n_steps,) or (n_steps, width), contiguous; `factor` may differ by step, (n_steps,).
    """
    _core.discounted_sums(rows, offsets, factor)


def discounted_forward(rows: NDArray[np.floating], offsets: NDArray[np.int64], factor: float) -> None:
    """In place, within every episode: rows[t] += factor · rows[t − 1], from the first step to the last."""
    _core.discounted_sums(rows, offsets, factor, forward=True)


def standard_error(values: FloatArray) -> float:
    """Standard error of the mean of independent numbers, (n,); infinite for a single one."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")


def time_within(data: Trajectories) -> NDArray[np.int64]:
    """Number of every step within its episode, from 0."""
    return np.arange(data.n_steps) - np.repeat(data.offsets[:-1], data.lengths)


def by_time(data: Trajectories) -> Iterator[NDArray[np.int64]]:
    """The first steps of all episodes, then the second ones of those that have one, and so on."""
    time = time_within(data)
    order = np.argsort(time, kind="stable")
    cuts = np.searchsorted(time[order], np.arange(int(data.lengths.max()) + 1))
    return (order[first:last] for first, last in pairwise(cuts))


def episodes_within(data: Trajectories, steps: int) -> int:
    """How many episodes from the first on have so many steps at most; one at least."""
    return max(1, int(np.searchsorted(data.offsets, steps, side="right")) - 1)


def returns_to_go(data: Trajectories, discount: float) -> FloatArray:
    """G_t = r_t + discount · G_{t+1} of every step, (n_steps,)."""
    returns = data.rewards.copy()
    discounted_backward(returns, data.offsets, discount)
    return returns


def cut_before(data: Trajectories) -> NDArray[np.int64]:
    """The cut before every step, (n_steps,): an episode has one more cut than it has steps."""
    return np.arange(data.n_steps) + np.repeat(np.arange(len(data)), data.lengths)


def goes_on(data: Trajectories, *, truncated: bool = True) -> NDArray[np.bool_]:
    """Whether what follows a step belongs into its target, (n_steps,).

    False where the world ended the episode; where it was truncated, as `truncated` says.
    """
    on = np.ones(data.n_steps, np.bool_)
    on[data.offsets[1:] - 1] = ~data.terminated & truncated
    return on


def reward_classes(data: Trajectories, values: int = 16, quantiles: int = 16) -> NDArray[np.int64]:
    """The class of every reward, (n_steps,): its value if there are up to `values` of them, else its quantile.

    Rewards that differ by less than 1e-9 of the largest are the same value. Classes ascend with the rewards.
    """
    scale = float(np.abs(data.rewards).max()) or 1.0
    rewards = np.round(data.rewards / scale, 9)
    distinct, classes = np.unique(rewards, return_inverse=True)
    if len(distinct) > values:
        borders = np.quantile(rewards, np.linspace(0.0, 1.0, quantiles + 1)[1:-1])
        classes = np.searchsorted(np.unique(borders), rewards, side="right")
    return classes.astype(np.int64)


def best_next(
    data: Trajectories, values: FloatArray, discount: float, *, truncated: bool = True
) -> FloatArray:
    """Targets of Q-learning, (n_steps,): reward + discount · max_a Q(next, a), from values (cuts, actions).

    The best is among the actions that were allowed at the next step; after the last one all are.
    """
    if data.allowed is not None:
        values = values.copy()
        values[cut_before(data)] = np.where(data.allowed, values[cut_before(data)], -np.inf)
    best = values.max(axis=1)[cut_before(data) + 1]
    return np.asarray(data.rewards + discount * np.where(goes_on(data, truncated=truncated), best, 0.0))


def advantages(
    data: Trajectories,
    values: FloatArray,
    discount: float,
    trace: float,
    ratios: FloatArray | None = None,
) -> FloatArray:
    """Generalised advantage estimates: Σ (discount·trace)^i δ_{t+i}, with δ_t = r_t + discount V_{t+1} − V_t.

    `values` holds V at every cut, (n_steps + n_episodes,): also after the last step of an episode, since a truncated
    one still has a future. With `ratios` ρ (n_steps,), the probability of every action under another policy over that
    under the behaviour, estimates are of the other policy: u_t = ρ_t δ_t + discount·trace·min(1, ρ_t) u_{t+1} is what
    follows, and the estimate is δ_t + discount·trace u_{t+1}.
    """
    before = cut_before(data)
    residuals = data.rewards + discount * goes_on(data) * values[before + 1] - values[before]
    if ratios is None:
        discounted_backward(residuals, data.offsets, discount * trace)
        return residuals
    ahead = ratios * residuals
    discounted_backward(ahead, data.offsets, discount * trace * np.minimum(1.0, ratios))
    follows = np.append(ahead[1:], 0.0)
    follows[data.offsets[1:] - 1] = 0.0
    return np.asarray(residuals + discount * trace * follows)
