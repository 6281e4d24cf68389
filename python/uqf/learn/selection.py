"""Choosing parameters from data alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from uqf.data.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.gain import Baseline, Gain, policy_gain


@dataclass(frozen=True)
class Selection:
    """Outcome of a search.

    Attributes
    ----------
    best_learner : a learner
        With the best setting, fitted to all data.
    table : list of dict
        One row per setting, best first.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=100, seed=0)
    >>> search = uqf.select(uqf.ContextQ(0.95), data, {"depth": [1, 2]})
    >>> len(search.table)
    2
    """

    best_learner: Any
    table: list[dict[str, Any]]


def select(
    learner: Any,
    data: Trajectories,
    grid: Mapping[str, Sequence[Any]],
    *,
    folds: int = 3,
    seed: int = 0,
    threads: int | None = None,
) -> Selection:
    """The setting of `grid` whose policies gain most on held-out episodes, a standard error taken off.

    The gain is measured one step at a time (see `uqf.learn.gain`), in units of reward per episode. A setting that a
    fold refuses (a rank beyond the data, say) gets the reason in its row and cannot win.

    Parameters
    ----------
    learner : a learner
        Anything with `fit(data)` and a `policy_`.
    data : Trajectories
        What is learned from and judged by.
    grid : mapping
        Parameter names and the values to try; all combinations are tried.
    folds : int
        Parts of the data, each held out once.
    seed : int
        Draws the folds.
    threads : int, optional
        Settings fitted at the same time; all cores by default.

    Returns
    -------
    Selection
        The best learner, refitted to all data, and the table of all settings.

    Raises
    ------
    ValueError
        If there are fewer episodes than folds, or the grid is empty.
    UQFError
        If the data allow no setting at all.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("gridworld-near"), episodes=100, seed=0)
    >>> search = uqf.select(uqf.UQF(discount=0.9), data, {"rank": [3, 6]}, folds=2)
    >>> search.best_learner.rank in (3, 6)
    True
    """
    settings = _combinations(grid)
    if not 2 <= folds <= len(data):
        raise ValueError(f"folds = {folds}: give 2 to {len(data)}, the number of episodes")
    parts = np.array_split(np.random.default_rng(seed).permutation(len(data)), folds)
    splits = [(data[np.setdiff1d(np.arange(len(data)), part)], data[np.sort(part)]) for part in parts]
    jobs = [(setting, split) for setting in settings for split in splits]
    # Every core has a setting to fit; BLAS splitting each of them once more made this ten times slower.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(lambda job: _judge(learner, *job), jobs))
    rows = [_row(setting, outcomes[n * folds : (n + 1) * folds]) for n, setting in enumerate(settings)]
    rows.sort(key=lambda row: -row["score"])
    if rows[0]["score"] == -np.inf:
        raise UQFError(f"every setting was refused; the first said: {rows[0]['problem']}")
    best = clone(learner).set_params(**{name: rows[0][name] for name in grid})
    return Selection(best.fit(data), rows)


def _combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not grid or any(len(values) == 0 for values in grid.values()):
        raise ValueError(f"grid = {dict(grid)!r}: give at least one value for every parameter")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _judge(learner: Any, setting: dict[str, Any], split: tuple[Trajectories, Trajectories]) -> Gain | str:
    """Gain of a setting on the held-out part, or why there is none."""
    train, test = split
    baseline = Baseline.of(train, getattr(learner, "discount", 1.0))
    try:
        policy = clone(learner).set_params(**setting).fit(train).policy_
    except UQFError as problem:
        return str(problem)
    return policy_gain(policy, baseline, test)


def _row(setting: dict[str, Any], outcomes: list[Gain | str]) -> dict[str, Any]:
    problems = [problem for problem in outcomes if isinstance(problem, str)]
    if problems:
        return setting | {"score": -np.inf, "gain": np.nan, "stderr": np.nan, "problem": problems[0]}
    gains = [gain for gain in outcomes if isinstance(gain, Gain)]
    mean = float(np.mean([gain.mean for gain in gains]))
    stderr = float(np.sqrt(np.sum([gain.stderr**2 for gain in gains])) / len(gains))
    return setting | {"score": mean - stderr, "gain": mean, "stderr": stderr, "problem": None}
