"""The grid worlds against exact dynamic programming on their arrays, and both against reference values."""

import numpy as np
import pytest

import uqf
from dynamic_programming import observable_optimum, random_value

#: (uniform random, fully observable optimum) at discount 0.99 and horizon 100
REFERENCE = {
    "gridworld-near": (0.2306, 0.9368),
    "gridworld-mid": (0.1524, 0.9233),
    "gridworld-far": (0.0839, 0.8702),
    "gridworld-hamilton": (0.2172, 0.9294),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_exact_values(name):
    env = uqf.make(name)
    random, optimum = REFERENCE[name]
    assert random_value(env.tabular(), env.horizon, env.discount) == pytest.approx(random, abs=5e-5)
    assert observable_optimum(env.tabular(), env.horizon, env.discount) == pytest.approx(optimum, abs=5e-5)


@pytest.mark.parametrize("name", [*REFERENCE, "tiger"])
def test_random_policy_in_simulation(name):
    env = uqf.make(name)
    score = uqf.estimate_return(env, None, episodes=40_000, seed=11)
    exact = random_value(env.tabular(), env.horizon, env.discount)
    assert abs(score.mean - exact) <= 4 * score.stderr


@pytest.mark.parametrize("name", REFERENCE)
def test_the_compiled_world_and_its_arrays_are_one_law(name):
    """Lengths, returns, ends and the symbols that occur agree between the world and its arrays."""
    env = uqf.make(name)
    direct = uqf.rollout(env, episodes=20_000, seed=1)
    tabular = uqf.rollout(env.tabular(), episodes=20_000, seed=2)
    for statistic in (lambda d: d.lengths, lambda d: d.returns(0.99), lambda d: d.terminated):
        mine, theirs = (np.asarray(statistic(data), float) for data in (direct, tabular))
        assert abs(mine.mean() - theirs.mean()) <= 4 * np.hypot(mine.std(), theirs.std()) / np.sqrt(20_000)
    seen = [np.unique(data.symbols).tolist() for data in (direct, tabular)]
    assert seen[0] == seen[1]


def test_the_map_is_aliased_as_designed():
    pomdp = uqf.make("gridworld-near").tabular()
    walls = pomdp.observations[0].argmax(-1)
    free = ~pomdp.terminal
    assert np.array_equal(pomdp.observations.max(-1), np.ones(pomdp.observations.shape[:2]))
    assert pomdp.n_states == 36
    assert [int((walls == count).sum()) for count in range(5)] == [0, 8, 28, 0, 0]
    assert free.sum() == 35
    assert uqf.make("gridworld-hamilton").tabular().n_states == 52
