import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import VectorEnv

import uqf
from uqf.worlds.gymnasium.finite import coding

WORLDS = ["tiger", "gridworld-near", "gridworld-hamilton", "pocman", "spocman"]


def deterministic_policy(env, seed=0):
    """A table that picks one action for certain after every symbol."""
    choices = np.random.default_rng(seed).integers(env.n_actions, size=env.n_symbols + 1)
    return uqf.TablePolicy(np.eye(env.n_actions)[choices], env.n_observations)


@pytest.mark.filterwarnings("error", "ignore:.*environment not having a spec")
@pytest.mark.parametrize("name", WORLDS)
def test_gymnasiums_own_checker_is_content(name):
    check_env(uqf.gymnasium_env(uqf.make(name), render_mode="ansi"), skip_render_check=False)


@pytest.mark.parametrize("name", WORLDS)
def test_round_trip_is_rollout_bit_for_bit(name):
    env = uqf.make(name)
    policy = deterministic_policy(env)
    recorded = uqf.from_gymnasium(uqf.gymnasium_env(env), policy, episodes=12, seed=9)
    assert recorded == uqf.rollout(env, policy, episodes=12, seed=9)


def test_round_trip_of_the_uniform_policy_agrees_in_law():
    env = uqf.make("tiger")
    recorded = uqf.from_gymnasium(uqf.gymnasium_env(env), episodes=400, horizon=5, seed=1)
    assert np.all(recorded.behavior_probs == 1 / 3)
    law = np.full(env.n_symbols, 1 / 6)
    frequencies = np.bincount(recorded.symbols, minlength=env.n_symbols) / recorded.n_steps
    assert np.all(np.abs(frequencies - law) <= 5 * np.sqrt(law * (1 - law) / recorded.n_steps))


def test_reset_shows_nothing_and_the_horizon_truncates():
    env = uqf.make("tiger", horizon=3)
    gym_env = uqf.gymnasium_env(env)
    observation, _ = gym_env.reset(seed=4)
    assert observation == env.n_observations
    outcomes = [gym_env.step(0) for _ in range(3)]
    assert [outcome[2:4] for outcome in outcomes] == [(False, False), (False, False), (False, True)]
    assert all(outcome[0] < env.n_observations for outcome in outcomes)


def test_unseeded_resets_differ_and_seeded_ones_repeat():
    gym_env = uqf.gymnasium_env(uqf.make("tiger"))

    def play(**options):
        gym_env.reset(**options)
        return [gym_env.step(0)[0] for _ in range(20)]

    assert play(seed=1) == play(seed=1) != play()


def test_the_vector_version_is_the_single_one_in_parallel():
    env = uqf.make("gridworld-near", horizon=8)
    vector = uqf.gymnasium_vector_env(env, 3)
    assert isinstance(vector, VectorEnv)
    assert vector.num_envs == 3
    singles = [uqf.gymnasium_env(env) for _ in range(3)]
    for seed, single in enumerate(singles):
        single.reset(seed=5 + seed)
    first, _ = vector.reset(seed=5)
    assert np.all(first == env.n_observations)
    rng, over = np.random.default_rng(0), np.zeros(3, bool)
    for _ in range(40):
        actions = rng.integers(4, size=3)
        seen, rewards, terminated, truncated, _ = vector.step(actions)
        for i, single in enumerate(singles):
            expected = (single.reset()[0], 0.0, False, False) if over[i] else single.step(actions[i])[:4]
            assert (seen[i], rewards[i], terminated[i], truncated[i]) == expected
        over = terminated | truncated


def test_worlds_are_made_by_name_whatever_is_imported_first():
    code = """import gymnasium
env = gymnasium.make("uqf.worlds.gymnasium:uqf/PocMan-v0", maze="micro", render_mode="ansi")
env.reset(seed=3)
seen = env.step(1)[0]
import uqf
assert seen == uqf.make("pocman", maze="micro").simulation(3, 0).step(1)[0], seen
assert isinstance(gymnasium.make("uqf/Tiger-v0").unwrapped.world, uqf.Environment)"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_every_world_of_the_package_is_registered():
    ours = [spec for name, spec in gymnasium.registry.items() if name.startswith("uqf/")]
    assert [spec.kwargs["name"] for spec in ours] == uqf.environments()


def test_a_gymnasium_that_is_too_old_is_refused_by_name():
    code = "import gymnasium, uqf; gymnasium.__version__ = '0.29.1'; uqf.GymnasiumWorld"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: gymnasium 0.29.1 is too old: pip install --upgrade 'uqf[gym]'" in run.stderr


class Counter(gymnasium.Env):
    """Shows the number of steps so far through any space; ends after four."""

    def __init__(self, observation_space, action_space, show):
        self.observation_space, self.action_space, self.show = observation_space, action_space, show

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.show(0), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.time += 1
        return self.show(self.time), float(self.time), self.time == 4, False, {}


FINITE = [
    (spaces.Discrete(5, start=-2), lambda t: t - 2),
    (spaces.MultiDiscrete([3, 2], start=[1, 5]), lambda t: np.array([1 + t // 2, 5 + t % 2])),
    (spaces.MultiBinary(3), lambda t: np.array([t >> 2 & 1, t >> 1 & 1, t & 1], np.int8)),
    (spaces.Tuple([spaces.Discrete(3), spaces.Discrete(2, start=1)]), lambda t: (t // 2, t % 2 + 1)),
    (
        spaces.Dict(a=spaces.Discrete(3), b=spaces.MultiBinary(1)),
        lambda t: {"a": t // 2, "b": np.array([t % 2])},
    ),
]


@pytest.mark.parametrize(("space", "show"), FINITE)
def test_finite_spaces_become_codes(space, show):
    env = Counter(space, spaces.Discrete(2, start=7), show)
    data = uqf.from_gymnasium(env, episodes=3, horizon=10)
    assert data.observations.tolist() == [1, 2, 3, 4] * 3
    assert data.rewards.tolist() == [1.0, 2.0, 3.0, 4.0] * 3
    assert data.terminated.all()
    assert data.n_actions == 2
    assert data.first_observations is not None
    assert data.first_observations.tolist() == [0, 0, 0], "what reset shows"
    cut = uqf.from_gymnasium(env, episodes=1, horizon=2)
    assert not cut.terminated.any()


@pytest.mark.parametrize("space", [space for space, _ in FINITE])
def test_codes_are_one_to_one_and_may_be_actions(space):
    code = coding(space, "action")
    elements = [code.decode(i) for i in range(code.n)]
    assert all(space.contains(element) for element in elements)
    assert code.encode(elements).tolist() == list(range(code.n))
    env = Counter(spaces.Discrete(5), space, int)
    assert uqf.from_gymnasium(env, episodes=5, horizon=9).n_actions == code.n
