"""`uqf.fit` as a whole: models of several learners, the choice among them, and plans, beside one model of hmmlearn."""

import numpy as np
import pytest
from experience import hallway
from race import Reference, race

import uqf

LOGS = {"gridworld-far": 800, "spocman": 500, "hallway": 1_000}
SAMPLE, ITERATIONS, STATES = 2_000, 100, 60


def hmmlearn_iteration(data):
    """One iteration of one model of the observations alone, on the first episodes."""
    hmm = pytest.importorskip("hmmlearn.hmm")
    sample = data[: max(1, int(np.searchsorted(data.offsets, SAMPLE)) - 1)]
    codes = np.unique(sample.observations, return_inverse=True)[1].reshape(-1, 1)
    model = hmm.CategoricalHMM(STATES, n_iter=1, tol=-np.inf, random_state=0, implementation="scaling")
    return lambda: model.fit(codes, sample.lengths), ITERATIONS * data.n_steps / sample.n_steps


@pytest.mark.parametrize("name", LOGS)
def test_whole_choice(benchmark, name):
    world = hallway() if name == "hallway" else uqf.make(name)
    data = uqf.rollout(world, episodes=LOGS[name], horizon=50 if name == "hallway" else None, seed=9999)
    iteration, scale = hmmlearn_iteration(data)
    race(
        benchmark,
        lambda: uqf.fit(data, discount=world.discount),
        [Reference(f"hmmlearn, {ITERATIONS} iterations, {STATES} states", iteration, scale=scale)],
        stage="uqf.fit", case=f"{name}, {LOGS[name]:,} episodes", amount=data.n_steps, unit="steps", rounds=1,
    )  # fmt: skip
