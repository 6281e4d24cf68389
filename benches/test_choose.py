"""`uqf.fit` as a whole: models of several learners, the choice among them, and plans, beside one model of hmmlearn."""

import os
from pathlib import Path

import numpy as np
import pytest
from race import Reference, race

import uqf
from uqf.baselines import PBVI
from uqf.learn.plan.points import point_plan

#: Worlds as `.pomdp` files, where there are some.
FILES = Path(os.environ.get("POMDP_FILES", "."))
LOGS = {"gridworld-far": 800, "spocman": 500, "hallway": 1_000}
SAMPLE, ITERATIONS, STATES = 2_000, 100, 60


def world_named(name):
    if name != "hallway":
        return uqf.make(name)
    if not (FILES / "hallway.pomdp").exists():
        pytest.skip("set POMDP_FILES to a folder with hallway.pomdp")
    return uqf.load_pomdp(FILES / "hallway.pomdp")


def hmmlearn_iteration(data):
    """One iteration of one model of the observations alone, on the first episodes."""
    hmm = pytest.importorskip("hmmlearn.hmm")
    sample = data[: max(1, int(np.searchsorted(data.offsets, SAMPLE)) - 1)]
    codes = np.unique(sample.observations, return_inverse=True)[1].reshape(-1, 1)
    model = hmm.CategoricalHMM(STATES, n_iter=1, tol=-np.inf, random_state=0, implementation="scaling")
    return lambda: model.fit(codes, sample.lengths), ITERATIONS * data.n_steps / sample.n_steps


@pytest.mark.parametrize("name", LOGS)
def test_whole_choice(benchmark, name):
    world = world_named(name)
    data = uqf.rollout(world, episodes=LOGS[name], horizon=50 if name == "hallway" else None, seed=9999)
    iteration, scale = hmmlearn_iteration(data)
    race(
        benchmark,
        lambda: uqf.fit(data, discount=world.discount),
        [Reference(f"hmmlearn, {ITERATIONS} iterations, {STATES} states", iteration, scale=scale)],
        stage="uqf.fit", case=f"{name}, {LOGS[name]:,} episodes", amount=data.n_steps, unit="steps", rounds=1,
    )  # fmt: skip


def test_point_based_plan(benchmark):
    """A plan in the true model of hallway: 60 states, 21 observations. The baseline is stopped after two seconds."""
    world = world_named("hallway")
    transitions, shown = world.transitions, world.observations
    rewards = world.rewards if world.rewards.ndim == 2 else world.rewards.sum(axis=-1)
    starts = world.start[np.newaxis]
    race(
        benchmark,
        lambda: point_plan(transitions, shown.transpose(0, 2, 1), rewards, starts, world.discount),
        [Reference("PBVI of the baselines, 2 s", lambda: PBVI(seconds=2.0).solve(world), "self")],
        stage="plan", case="hallway", amount=1, unit="plans", rounds=2,
    )  # fmt: skip
