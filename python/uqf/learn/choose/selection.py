"""Choosing parameters from data alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from uqf.episodes.checks import instance, positive, seed_number, whole
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError, kind_of
from uqf.estimator import clone, is_estimator
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.candidates import Settings
from uqf.learn.choose.play import earned_in, models_to_play_in
from uqf.learn.improve.gain import Baseline, Gain, policy_gain
from uqf.learn.learner import Learner
from uqf.policies.policy import Policy
from uqf.reading.shards import checked_data
from uqf.types import Raw, Record

Grid = Mapping[str, Sequence[Raw]]
Judge = Callable[[Policy], Gain]
JudgeOf = Callable[[Trajectories, Trajectories, float, int], Judge]


@dataclass(frozen=True)
class Selection:
    """Outcome of a search.

    Attributes
    ----------
    best_learner : a learner
        With the best setting, fitted to all data.
    table : list of dict
        One row per setting, best first.
    chosen : dict
        The best setting.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=100, seed=0)
    >>> search = uqf.select(uqf.ContextQ(0.95), data, {"depth": [1, 2]})
    >>> len(search.table)
    2
    """

    best_learner: Learner
    table: list[Record]
    chosen: Record


def select(
    learner: Learner,
    data: Trajectories,
    grid: Grid | Sequence[Grid],
    *,
    judge: str | JudgeOf = "models",
    folds: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Selection:
    """The setting of `grid` whose policy does best by the data alone, a standard error taken off.

    Gains are in units of reward per episode. A setting that a fold refuses (a rank beyond the data, say) gets the
    reason in its row and cannot win.

    Parameters
    ----------
    learner : a learner
        Anything with `fit(data)` and a `policy_`.
    data : Trajectories
        What is learned from and judged by.
    grid : mapping or sequence of mappings
        Parameter names and the values to try; all combinations of each mapping are tried.
    judge : "models" or "gain"
        Policies are played in the models that `BeliefQ` learns from the episodes; or their gain is measured on
        held-out episodes one step at a time (`uqf.learn.improve.gain`), which is quick, and blind to what a policy does
        when it goes where the log does not; or a function (train, test, discount, seed) → (policy → Gain).
    folds : int, optional
        Parts of the data, each held out once. With 1, the default of "models", the policies of all episodes are judged
        by all episodes: greedy policies of two halves say little about that of the whole. The default of "gain" is 2.
    seed : int
        Draws the folds, and the models that judge.
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
    >>> search = uqf.select(uqf.UQF(discount=0.9), data, {"rank": [3, 6]})
    >>> search.best_learner.rank in (3, 6)
    True
    """
    checked_data(data)
    if not is_estimator(learner):
        raise TypeError(f"learner is {kind_of(learner)}: give a learner, not its class")
    instance(
        "grid", grid, (Mapping, Sequence), "lists of values by the name of a parameter, or several of them"
    )
    if threads is not None:
        positive("threads", threads)
    if not callable(judge) and (not isinstance(judge, str) or judge not in JUDGES):
        raise ValueError(f"judge = {judge!r}: choose {' or '.join(map(repr, JUDGES))}, or give a function")
    settings = [
        one for part in ([grid] if isinstance(grid, Mapping) else grid or [{}]) for one in _combinations(part)
    ]
    fewest = 2 if judge == "gain" else 1
    folds = fewest if folds is None else folds
    if not fewest <= whole("folds", folds) <= len(data):
        raise ValueError(f"folds = {folds}: give {fewest} to {len(data)}, the number of episodes")
    splits = [(data, data)]
    if folds > 1:
        parts = np.array_split(np.random.default_rng(seed_number(seed)).permutation(len(data)), folds)
        splits = [(data[np.setdiff1d(np.arange(len(data)), part)], data[np.sort(part)]) for part in parts]
    discount = getattr(learner, "discount", 1.0)
    judge_of = JUDGES[judge] if isinstance(judge, str) else judge
    judges = [(train, judge_of(train, test, discount, seed)) for train, test in splits]
    jobs = [(setting, *judging) for setting in settings for judging in judges]
    # Every core has a setting to fit; BLAS splitting each of them once more made this ten times slower.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(lambda job: _judged(learner, *job), jobs))
    rows = [_row(setting, outcomes[n * folds : (n + 1) * folds]) for n, setting in enumerate(settings)]
    order = sorted(range(len(rows)), key=lambda n: -rows[n]["score"])
    if rows[order[0]]["score"] == -np.inf:
        raise UQFError(f"every setting was refused; the first said: {rows[0]['problem']}")
    best = clone(learner).set_params(**settings[order[0]]).fit(data)
    return Selection(best, [rows[n] for n in order], settings[order[0]])


def _combinations(grid: Grid) -> list[Record]:
    instance("grid", grid, Mapping, "lists of values by the name of a parameter")
    if not grid or any(not isinstance(values, Sequence) or len(values) == 0 for values in grid.values()):
        raise ValueError(f"grid = {dict(grid)!r}: give at least one value for every parameter")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def by_single_steps(train: Trajectories, test: Trajectories, discount: float, seed: int) -> Judge:
    """Measures what a policy gains on the test episodes, one step at a time."""
    baseline = Baseline.of(train, discount)
    return lambda policy: policy_gain(policy, baseline, test)


def by_playing(
    train: Trajectories, test: Trajectories, discount: float, seed: int, settings: Settings | None = None
) -> Judge:
    """Plays a policy in models of the test episodes; by single steps where these are too large to play in."""
    settings = settings or Settings()
    worlds = models_to_play_in(BeliefQ(discount, seed=seed).models_of(test), discount, test, settings)
    if not worlds:
        return by_single_steps(train, test, discount, seed)
    earned = float(test.returns(discount).mean())
    return lambda policy: Gain(np.array(list(earned_in(worlds, policy, seed, settings))) - earned)


JUDGES: dict[str, JudgeOf] = {"models": by_playing, "gain": by_single_steps}


def _judged(learner: Learner, setting: Record, train: Trajectories, judge: Judge) -> Gain | str:
    """Gain of a setting on the held-out part, or why there is none."""
    try:
        return judge(clone(learner).set_params(**setting).fit(train).policy_)
    except UQFError as problem:
        return str(problem)


def _row(setting: Record, outcomes: list[Gain | str]) -> Record:
    problems = [problem for problem in outcomes if isinstance(problem, str)]
    if problems:
        return setting | {"score": -np.inf, "gain": np.nan, "stderr": np.nan, "problem": problems[0]}
    gains = [gain for gain in outcomes if isinstance(gain, Gain)]
    mean = float(np.mean([gain.mean for gain in gains]))
    stderr = float(np.sqrt(np.sum([gain.stderr**2 for gain in gains])) / len(gains))
    return setting | {"score": mean - stderr, "gain": mean, "stderr": stderr, "problem": None}
