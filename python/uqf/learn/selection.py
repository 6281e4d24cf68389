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

from uqf.errors import UQFError
from uqf.learn.estimator import UQF
from uqf.learn.gain import Baseline, Gain, policy_gain
from uqf.trajectories import Trajectories


@dataclass(frozen=True)
class Selection:
    """Outcome of a search: the best learner, fitted to all data, and one row per setting, best first."""

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

    Parameters
    ----------
    learner : UQF, or any learner with `fit(data)` and a compiled `policy_`
    grid : mapping of parameter names to the values to try; all combinations are tried
    folds : int
        Parts of the data, each held out once.
    threads : int, optional
        Settings fitted at the same time; all cores by default.

    The gain is measured one step at a time (see `uqf.learn.gain`), with the logged propensities. Ranks of a
    spectral learner share one pass over the data: lower ranks are cut out of the highest. A setting that a
    fold refuses (a rank beyond the data, say) gets the reason in its row and cannot win.
    """
    settings = _combinations(grid)
    if not 2 <= folds <= len(data):
        raise ValueError(f"folds = {folds}: give 2 to {len(data)}, the number of episodes")
    parts = np.array_split(np.random.default_rng(seed).permutation(len(data)), folds)
    splits = [(data[np.setdiff1d(np.arange(len(data)), part)], data[np.sort(part)]) for part in parts]
    jobs = [(group, split) for group in _groups(learner, settings) for split in splits]
    # Every core has a setting to fit; BLAS splitting each of them once more made this ten times slower.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(lambda job: _judge(learner, *job), jobs))
    gains: dict[int, list[Gain]] = {}
    problems: dict[int, str] = {}
    for (group, _), outcome in zip(jobs, outcomes, strict=True):
        for (index, _), result in zip(group, outcome, strict=True):
            if isinstance(result, str):
                problems[index] = result
            else:
                gains.setdefault(index, []).append(result)
    rows = [
        _row(setting, gains.get(index, []), problems.get(index)) for index, setting in enumerate(settings)
    ]
    rows.sort(key=lambda row: -row["score"])
    if rows[0]["score"] == -np.inf:
        raise UQFError(f"every setting was refused; the first said: {rows[0]['problem']}")
    best = clone(learner).set_params(**{name: rows[0][name] for name in grid})
    return Selection(best.fit(data), rows)


def _combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not grid or any(len(values) == 0 for values in grid.values()):
        raise ValueError(f"grid = {dict(grid)!r}: give at least one value for every parameter")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


Group = list[tuple[int, dict[str, Any]]]


def _groups(learner: Any, settings: list[dict[str, Any]]) -> list[Group]:
    """Settings that can share their pass over the data: those that differ in `rank` alone."""
    groups: dict[str, Group] = {}
    for index, setting in enumerate(settings):
        shares = isinstance(learner, UQF) and setting.get("rank") is not None
        key = (
            repr({name: value for name, value in setting.items() if name != "rank"}) if shares else str(index)
        )
        groups.setdefault(key, []).append((index, setting))
    return list(groups.values())


def _judge(learner: Any, group: Group, split: tuple[Trajectories, Trajectories]) -> list[Gain | str]:
    """Gain of every setting of a group on the held-out part, or why there is none."""
    train, test = split
    baseline = Baseline.of(train, getattr(learner, "discount", 1.0))
    try:
        policies = _policies(learner, [setting for _, setting in group], train)
    except UQFError as problem:
        return [str(problem)] * len(group)
    return [policy if isinstance(policy, str) else policy_gain(policy, baseline, test) for policy in policies]


def _policies(learner: Any, settings: list[dict[str, Any]], train: Trajectories) -> list[Any]:
    if len(settings) == 1:
        return [clone(learner).set_params(**settings[0]).fit(train).policy_]
    widest = max(setting["rank"] for setting in settings)
    spectral = clone(learner).set_params(**(settings[0] | {"rank": None})).spectral_learner()
    state = spectral.fit(train).state
    state = state.truncated(min(widest, state.rank))
    policies: list[Any] = []
    for setting in settings:
        if setting["rank"] > state.rank:
            policies.append(
                f"rank {setting['rank']} exceeds the numerical rank {state.rank} of the Hankel block"
            )
        else:
            policies.append(spectral.decide(state.truncated(setting["rank"]), train).policy)
    return policies


def _row(setting: dict[str, Any], gains: list[Gain], problem: str | None) -> dict[str, Any]:
    if problem is not None or not gains:
        return setting | {"score": -np.inf, "gain": np.nan, "stderr": np.nan, "problem": problem}
    mean = float(np.mean([gain.mean for gain in gains]))
    stderr = float(np.sqrt(np.sum([gain.stderr**2 for gain in gains])) / len(gains))
    return setting | {"score": mean - stderr, "gain": mean, "stderr": stderr, "problem": None}
