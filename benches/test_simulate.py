"""Steps of every world under the uniform policy, recorded, with one thread."""

import random

import numpy as np
import pytest
from race import Reference, race

import uqf

#: Enough steps that one round takes about a tenth of a second.
EPISODES = {
    "tiger": 50_000,
    "gridworld-near": 20_000,
    "gridworld-far": 20_000,
    "pocman": 10_000,
    "spocman": 10_000,
}


def copying(data):
    """A copy of everything that was recorded: no simulator can be faster than writing down its steps."""
    arrays = [data.actions, data.observations, data.rewards, data.behavior_probs]
    copies = [np.empty_like(array) for array in arrays]

    def copy():
        for array, copied in zip(arrays, copies, strict=True):
            np.copyto(copied, array)

    return copy


def pomdp_py_tiger(steps):
    """pomdp-py's own tiger, the same number of uniformly random steps."""
    tiger = pytest.importorskip("pomdp_py.problems.tiger.tiger_problem")
    world = tiger.TigerProblem.create()
    actions = world.agent.policy_model.get_all_actions()

    def step():
        for _ in range(steps):
            action = random.choice(actions)
            world.env.state_transition(action, execute=True)
            world.env.provide_observation(world.agent.observation_model, action)

    return step


@pytest.mark.parametrize("name", EPISODES)
def test_stepping(benchmark, name):
    world, episodes = uqf.make(name), EPISODES[name]
    data = uqf.rollout(world, episodes=episodes, seed=1)
    references = [Reference("copying the record", copying(data), "limit")]
    race(
        benchmark,
        lambda: uqf.rollout(world, episodes=episodes, seed=1, threads=1),
        references,
        stage="stepping", case=name, amount=data.n_steps, unit="steps",
    )  # fmt: skip


def test_stepping_beside_pomdp_py(benchmark):
    world, sample = uqf.make("tiger"), 5_000
    steps = uqf.rollout(world, episodes=50_000, seed=1).n_steps
    rival = Reference("pomdp-py", pomdp_py_tiger(sample), scale=steps / sample)
    race(
        benchmark,
        lambda: uqf.rollout(world, episodes=50_000, seed=1, threads=1),
        [rival],
        stage="stepping", case="tiger", amount=steps, unit="steps",
    )  # fmt: skip
