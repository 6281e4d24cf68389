"""BeliefQ: its expectation step beside the machine's limit, and whole fits beside an older version of the project."""

import os
import subprocess
from functools import cache

import numpy as np
import pytest
from experience import random_clones
from race import Reference, race

import uqf
from uqf import _core
from uqf.episodes.propensities import last_observations

#: Python of a checkout of commit 874969b, built there with `make build`: the version that the fits are compared with.
OLD_PYTHON = os.environ.get("UQF_OLD_PYTHON")

OLD_FIT = """
import sys, time
import numpy as np
import uqf

arrays = dict(np.load(sys.argv[1]))
discount = float(arrays.pop("discount"))
sizes = {name: int(arrays.pop(name)) for name in ("n_actions", "n_observations")}
data = uqf.Trajectories(**arrays, **sizes)
learner = uqf.UQF(discount=discount, seed=0, threads=1)
learner.fit(data[:12])
seconds = []
for _ in range(2):
    begin = time.process_time()
    learner.fit(data)
    seconds.append(time.process_time() - begin)
print(min(seconds))
"""

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


@pytest.mark.parametrize(
    ("world", "episodes", "target"),
    [("gridworld-far", 100, 8.0), ("gridworld-far", 800, 10.0), ("tiger", 5000, 6.0), ("spocman", 500, 5.0)],
)
def test_whole_fit_beside_an_older_version(benchmark, tmp_path, world, episodes, target):
    """One thread, default settings, the same episodes. The faster of two fits of either counts."""
    if OLD_PYTHON is None:
        pytest.skip("set UQF_OLD_PYTHON to the Python of a built checkout of commit 874969b")
    env = uqf.make(world)
    data = uqf.rollout(env, episodes=episodes, seed=0)
    names = ("actions", "observations", "rewards", "offsets", "n_actions", "n_observations", "behavior_probs")
    arrays = {name: getattr(data, name) for name in (*names, "terminated")}
    np.savez(tmp_path / "data.npz", discount=env.discount, **arrays)

    @cache
    def old():
        command = [OLD_PYTHON, "-c", OLD_FIT, str(tmp_path / "data.npz")]
        single = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        told = subprocess.run(command, env=single, cwd=tmp_path, check=True, capture_output=True, text=True)
        return float(told.stdout)

    race(
        benchmark,
        lambda: uqf.BeliefQ(env.discount, seed=0, threads=1).fit(data),
        [Reference("commit 874969b", old, "self", target=target, clocked=True)],
        stage="whole fit", case=f"BeliefQ, {world}, {episodes:,} episodes", amount=data.n_steps, unit="steps",
        rounds=2,
    )  # fmt: skip
