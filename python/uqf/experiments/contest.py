"""What every experiment does with a learner: choose, fit, score, and play one episode to look at."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from uqf.environments import Environment
from uqf.errors import UQFError
from uqf.evaluate import estimate_return
from uqf.experiments.cells import Result
from uqf.learn.selection import select
from uqf.trajectories import Trajectories

#: Seeds of scoring: away from those of training data, which are small numbers.
SCORING_SEEDS = 1_000_000

#: A fit below so many seconds is timed by the median of so many fits: one alone measures the machine's mood.
QUICK, REPEATS = 0.2, 5

#: Singular values that are kept for the report.
SPECTRUM = 40


@dataclass(frozen=True)
class Contestant:
    """A learner, the settings that `select` may choose among, and what is set afterwards.

    `final` holds what costs time but is no choice, such as the full number of rounds of fitted-Q.
    """

    label: str
    learner: Any
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    final: Mapping[str, Any] = field(default_factory=dict)

    def setting(self) -> dict[str, Any]:
        """Everything that makes this contestant what it is, in JSON types."""
        grid = {name: list(values) for name, values in self.grid.items()}
        return {"learner": " ".join(repr(self.learner).split()), "grid": grid, "final": dict(self.final)}


@dataclass(frozen=True)
class Trained:
    """A contestant after its training; `policy` is None (play uniformly) if the data were refused."""

    policy: Any
    learner: Any
    figures: Result


def train(
    contestant: Contestant, data: Trajectories, *, folds: int, seed: int, progress: Any = None
) -> Trained:
    """Chooses by `select`, then fits once more under the clock.

    Figures: `seconds` of that fit alone (median of `REPEATS` where it is quick), `selection_seconds`, what
    was `chosen`, `singular_values` where the learner has them, and `refused`, the reason,
    where the data allow no policy at all.
    """
    learner = clone(contestant.learner)
    if "seed" in learner.get_params():
        learner.set_params(seed=seed)
    chosen: dict[str, Any] = {}
    began = time.perf_counter()
    try:
        if contestant.grid:
            search = select(learner, data, contestant.grid, folds=folds, seed=seed)
            chosen = {name: search.table[0][name] for name in contestant.grid}
        selection_seconds = time.perf_counter() - began
        learner.set_params(**chosen, **contestant.final)
        began = time.perf_counter()
        learner.fit(data) if progress is None else learner.fit(data, progress=progress(learner))
    except UQFError as problem:
        return Trained(None, learner, {"seconds": time.perf_counter() - began, "refused": str(problem)})
    seconds = time.perf_counter() - began
    if progress is None and seconds < QUICK:
        seconds = float(np.median([seconds] + [_seconds(learner, data) for _ in range(REPEATS - 1)]))
    figures: Result = {
        "seconds": seconds,
        "selection_seconds": selection_seconds,
        "chosen": chosen,
        "refused": None,
    }
    if hasattr(learner, "singular_values_"):
        figures["singular_values"] = learner.singular_values_[:SPECTRUM].tolist()
    return Trained(learner.policy_, learner, figures)


def _seconds(learner: Any, data: Trajectories) -> float:
    fresh = clone(learner)
    began = time.perf_counter()
    fresh.fit(data)
    return time.perf_counter() - began


def score(env: Environment, policy: Any, *, episodes: int, seed: int) -> Result:
    """Mean return over fresh episodes (`return`) and its standard error (`stderr`)."""
    found = estimate_return(env, policy, episodes=episodes, seed=SCORING_SEEDS + seed)
    return {"return": found.mean, "stderr": found.stderr, "length": float(found.lengths.mean())}


def replay(env: Environment, policy: Any, *, seed: int) -> Result:
    """The first scoring episode step by step: pictures, values of all actions, what was done and earned."""
    simulation = env.simulation(SCORING_SEEDS + seed, 0)
    state = policy.initial_state()
    frames: list[Result] = []
    picture = simulation.render()
    for _ in range(env.horizon):
        probs = np.asarray(policy.action_probs(state), np.float64)
        action = simulation.choose(probs / probs.sum())
        observation, reward, ended = simulation.step(action)
        values = [round(float(value), 6) for value in policy.q_values(state)]
        frames.append({"picture": picture, "q": values, "action": action, "reward": reward})
        picture = simulation.render()
        if ended:
            break
        state = policy.update(state, action, observation)
    frames.append({"picture": picture, "q": None, "action": None, "reward": 0.0})
    return {"world": env.name, "actions": env.action_names, "frames": frames}
