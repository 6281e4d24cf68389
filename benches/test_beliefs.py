"""BeliefQ: its expectation step beside the machine's limit."""

import numpy as np
import pytest
from experience import random_clones
from race import Reference, race

import uqf
from uqf import _core
from uqf.episodes.propensities import last_observations

EXPLORE, STATES, SIDE = 100, 60, 4096


@pytest.mark.parametrize("seen", ["numbers of walls", "one observation"])
def test_expectation_step(benchmark, seen):
    """Iterations on minibatches of 10,000 steps. The limit is a single-precision product of as many multiplications:
    three for every pair of clones of the last and of the next observation.
    """
    data = uqf.rollout(uqf.make("gridworld-far"), episodes=800, seed=0)
    if seen == "one observation":
        hidden = {"observations": np.zeros_like(data.observations), "n_observations": 1}
        data = uqf.Trajectories(**data.__getstate__() | hidden)
    models = random_clones(data, STATES)
    clones = np.append(np.diff(_core.CloneLayout(data, states=STATES).ranges, axis=1)[:, 0], STATES)
    read = EXPLORE * data.n_steps / round(data.n_steps / 10_000)
    pairs = (clones[last_observations(data)] * clones[data.observations]).mean()
    left, right = (np.ones((rows, STATES), np.float32) for rows in (SIDE, STATES))
    scale = read * 3.0 * pairs / (SIDE * STATES**2)
    race(
        benchmark,
        lambda: models.trained(data, explore=EXPLORE, settle=0, first=0, seed=0, threads=1),
        [Reference("sgemm, products only", lambda: left @ right, "limit", scale, 0.4)],
        stage="EM", case=f"expectation step, {STATES} states, {seen}", amount=read, unit="steps", rounds=5,
    )  # fmt: skip
