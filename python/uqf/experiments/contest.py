"""What every experiment does with a learner: choose, fit, score, and play one episode to look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.evaluate import estimate_return, rollout
from uqf.experiments.cells import Cell, Result
from uqf.frames import play
from uqf.learn.choose.selection import select
from uqf.learn.learner import Learner
from uqf.policies.policy import Policy
from uqf.reading.progress import Callback
from uqf.types import Raw, Record
from uqf.worlds.environments import Environment

#: Seeds of scoring: away from those of training data, which are small numbers.
SCORING_SEEDS = 1_000_000

#: A fit below so many seconds is timed by the median of so many fits: one alone measures the machine's mood.
QUICK, REPEATS = 0.2, 5

#: Singular values that are kept for the report.
SPECTRUM = 40

#: What tells how far a learner is, made for that learner.
Watch = Callable[[Learner], Callback]


@dataclass(frozen=True)
class Contestant:
    """A learner, the settings that `select` may choose among, and what is set afterwards.

    `final` holds what costs time but is no choice, such as the full number of rounds of fitted-Q.
    """

    label: str
    learner: Learner
    grid: Mapping[str, Sequence[Raw]] = field(default_factory=dict)
    final: Mapping[str, Raw] = field(default_factory=dict)

    def setting(self) -> Record:
        """Everything that makes this contestant what it is, in JSON types."""
        grid = {name: list(values) for name, values in self.grid.items()}
        return {"learner": " ".join(repr(self.learner).split()), "grid": grid, "final": dict(self.final)}


@dataclass(frozen=True)
class Trained:
    """A contestant after its training; `policy` is None (play uniformly) if the data were refused."""

    policy: Policy | None
    learner: Learner
    figures: Result


def train(
    contestant: Contestant,
    data: Trajectories,
    *,
    folds: int,
    seed: int,
    judge: str = "models",
    progress: Watch | None = None,
) -> Trained:
    """Chooses by `select`, then fits once more under the clock.

    Figures: `seconds` of that fit alone (median of `REPEATS` where it is quick), `cpu_seconds` of it summed
    over cores, `selection_seconds`, what was `chosen`, `singular_values` where the learner has them, and
    `refused`, the reason, where the data allow no policy at all.
    """
    # Learners use all cores themselves; BLAS doing so as well made choosing ten times slower on two cores.
    with threadpool_limits(1, user_api="blas"):
        return _train(contestant, data, folds, seed, judge, progress)


def _train(
    contestant: Contestant, data: Trajectories, folds: int, seed: int, judge: str, progress: Watch | None
) -> Trained:
    learner = clone(contestant.learner)
    if "seed" in learner.get_params():
        learner.set_params(seed=seed)
    chosen: Record = {}
    began = time.perf_counter()
    try:
        if contestant.grid:
            search = select(learner, data, contestant.grid, judge=judge, folds=folds, seed=seed)
            chosen = {name: search.table[0][name] for name in contestant.grid}
        selection_seconds = time.perf_counter() - began
        learner.set_params(**chosen, **contestant.final)
        clock = Clock()
        learner.fit(data) if progress is None else learner.fit(data, progress=progress(learner))
    except UQFError as problem:
        return Trained(None, learner, {"seconds": time.perf_counter() - began, "refused": str(problem)})
    times = [clock.read()]
    if progress is None and times[0]["seconds"] < QUICK:
        times += [_refit(learner, data) for _ in range(REPEATS - 1)]
    figures: Result = {
        **{name: float(np.median([fit[name] for fit in times])) for name in times[0]},
        "selection_seconds": selection_seconds,
        "chosen": chosen,
        "refused": None,
    }
    if hasattr(learner, "singular_values_"):
        figures["singular_values"] = learner.singular_values_[:SPECTRUM].tolist()
    return Trained(learner.policy_, learner, figures)


def run_learner(env: Environment, contestant: Contestant, cell: Cell) -> Result:
    """What a contestant makes of the data of a cell; of BeliefQ on the first seed an episode to look at."""
    data = rollout(env, episodes=cell.setting["episodes"], seed=cell.seed)
    trained = train(contestant, data, **choosing(cell))
    figures = trained.figures | score(env, trained.policy, episodes=cell.setting["scoring"], seed=cell.seed)
    if cell.method == "belief-q" and cell.seed == 0:
        figures["replay"] = replay(env, trained.policy, seed=cell.seed)
    return figures


def choosing(cell: Cell) -> Record:
    """How a learner is chosen in a cell."""
    return {"folds": cell.setting["folds"], "judge": cell.setting["judge"], "seed": cell.seed}


def mean_and_error(scores: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """Mean and its standard error; of a single score nobody knows an error (nan)."""
    error = np.std(scores, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan
    return float(np.mean(scores)), float(error)


class Clock:
    """Time since it was made: on the wall (`seconds`), and used by all cores together (`cpu_seconds`).

    On a machine that others use as well, the second says more than the first.
    """

    def __init__(self) -> None:
        self.began = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Both times so far."""
        wall, cpu = self.began
        return {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}


def _refit(learner: Learner, data: Trajectories) -> dict[str, float]:
    fresh, clock = clone(learner), Clock()
    fresh.fit(data)
    return clock.read()


def score(env: Environment, policy: Policy | None, *, episodes: int, seed: int) -> Result:
    """Mean return over fresh episodes (`return`) and its standard error (`stderr`)."""
    found = estimate_return(env, policy, episodes=episodes, seed=SCORING_SEEDS + seed)
    return {"return": found.mean, "stderr": found.stderr, "length": float(found.lengths.mean())}


def replay(env: Environment, policy: Policy | None, *, seed: int) -> Result:
    """The first scoring episode as the report shows it."""
    frames = [
        {
            "picture": frame.picture,
            "q": frame.q_values and [round(value, 6) for value in frame.q_values],
            "action": frame.action,
            "reward": frame.reward,
        }
        for frame in play(env, policy, seed=SCORING_SEEDS + seed)
    ]
    return {"world": env.name, "actions": env.action_names, "frames": frames}
