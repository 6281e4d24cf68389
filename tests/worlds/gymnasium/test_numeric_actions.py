"""Boxes of actions: cut into values on request; what agents do is what the environment takes."""

import json
import pickle
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app
from uqf.worlds.gymnasium.finite import box_bins, coding, whole_bins


class Follow(gymnasium.Env):
    """Pays for coming close to what was shown before; ends after eight steps."""

    observation_space = spaces.Discrete(3)

    def __init__(self, action_space=None):
        self.action_space = action_space or spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time, self.seen = 0, int(self.np_random.integers(3))
        return self.seen, {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.time += 1
        reward = 1.0 - abs(
            float(np.ravel(action["push"] if isinstance(action, dict) else action)[0]) - (self.seen - 1)
        )
        self.seen = int(self.np_random.integers(3))
        return self.seen, reward, self.time == 8, False, {}


def follow(space=None, **options):
    return uqf.GymnasiumWorld(partial(Follow, space), horizon=8, **options)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-2.0, 2.0, (1,)),
        spaces.Box(np.array([0.0, -1.0]), np.array([1.0, 3.0]), dtype=np.float64),
        spaces.Box(0, 10, (), np.int32),
        spaces.Box(0, 3, (2, 1), np.uint8),
        spaces.Box(0, 1, (2,), np.int64),
        spaces.Dict(push=spaces.Box(-1.0, 1.0, (1,)), mode=spaces.Discrete(2)),
        spaces.Tuple([spaces.Discrete(2, start=1), spaces.Box(-1.0, 1.0, (2,))]),
    ],
    ids=str,
)
def test_values_are_elements_of_the_space_and_their_own_codes(space):
    codes = coding(space, "action", 3)
    elements = [codes.decode(code) for code in range(codes.n)]
    assert all(space.contains(element) for element in elements)
    assert codes.encode(elements).tolist() == list(range(codes.n))


def test_finite_spaces_of_numbers_are_told_as_they_are():
    switches = whole_bins(spaces.MultiDiscrete([3, 2], start=[1, 0]))
    assert switches.name(3) == switches.describe(3) == "[2, 1]"
    floors = whole_bins(spaces.Discrete(3, start=5))
    assert [floors.decode(code) for code in range(3)] == [5, 6, 7] and floors.describe(0) == "action = 5"
    assert floors.encode([6]).tolist() == [1]
    for other in (spaces.Discrete(3), spaces.MultiDiscrete([2000, 2]), spaces.MultiBinary(65)):
        assert whole_bins(other) is None


def test_bounds_are_among_the_values_and_others_go_to_the_nearest():
    bins = box_bins(spaces.Box(np.float32([-2.0, 0.0]), np.float32([2.0, 1.0])), 5)
    assert bins.n == 25 and bins.decode(0).tolist() == [-2.0, 0.0] and bins.decode(24).tolist() == [2.0, 1.0]
    assert bins.decode(bins.encode([[0.4, 0.6]])[0]).tolist() == [0.0, 0.5]
    assert bins.decode(0).dtype == np.float32 and bins.name(1) == "[-2, 0.25]"


def test_what_is_deployed_earns_what_was_tested(tmp_path):
    world = follow(action_bins=5)
    assert world.action_names == ["[-1]", "[-0.5]", "[0]", "[0.5]", "[1]"] and world.codebook.n_codes is None
    learner = uqf.fit(uqf.rollout(world, episodes=400, seed=0), discount=0.5)
    tested = uqf.estimate_return(world, learner.policy_, episodes=50, discount=1.0, seed=3)
    assert tested.mean == 8.0, "the shown place is reached at every step"
    learner.save(tmp_path / "follow.safetensors")
    known = uqf.inspect_policy(tmp_path / "follow.safetensors").codebook
    again = uqf.GymnasiumWorld(Follow, horizon=8, codebook=known)
    played = uqf.estimate_return(again, learner.policy_, episodes=50, discount=1.0, seed=3)
    assert (played.returns == tested.returns).all()
    agent, env = uqf.Agent(tmp_path / "follow.safetensors"), Follow()
    total, over = 0.0, False
    shown, _ = env.reset(seed=5)
    agent.reset(shown)
    while not over:
        action = agent.act()
        shown, reward, over, _, _ = env.step(action)
        agent.observe(shown, action=action)
        total += reward
    assert total == 8.0
    agents = uqf.Agent(learner, n=2)
    agents.reset([0, 2])
    done = agents.act()
    assert [one.tolist() for one in done] == [[-1.0], [1.0]]
    done[0] *= 7.0
    assert [one.tolist() for one in agents.act()] == [[-1.0], [1.0]], (
        "what was done belongs to the environment"
    )


def test_worlds_with_cut_actions_are_pickled_iterated_and_learn_their_codebook_anew():
    world = follow(action_bins=3)
    assert uqf.rollout(pickle.loads(pickle.dumps(world)), episodes=3) == uqf.rollout(world, episodes=3)
    found = uqf.policy_iteration(world, uqf.ContextQ(0.5), iterations=3, episodes=100)
    assert uqf.estimate_return(world, found.policy, episodes=20, discount=1.0).mean > 7.5
    space = spaces.Dict(push=spaces.Box(-1.0, 1.0, (1,)), mode=spaces.Discrete(2))
    nested = follow(space, action_bins=3)
    assert nested.n_actions == 6 and uqf.rollout(nested, episodes=2).n_steps == 16


def test_minari_data_have_the_same_cells():
    from types import SimpleNamespace

    episode = SimpleNamespace(
        observations=np.array([0, 1, 2]),
        actions=np.array([[-0.9], [0.1]], np.float32),
        rewards=np.array([0.0, 1.0]),
        terminations=np.array([False, True]),
    )
    dataset = SimpleNamespace(
        action_space=Follow().action_space,
        observation_space=spaces.Discrete(3),
        iterate_episodes=lambda: [episode],
    )
    data = uqf.from_minari(dataset, action_bins=5)
    assert data.actions.tolist() == [0, 2] and data.n_observations == 3
    assert data.codebook == follow(action_bins=5).codebook
    with pytest.raises(TypeError):
        uqf.from_minari(dataset)


def test_the_command_line_refuses_a_box_without_a_policy_that_cuts_it(tmp_path):
    run = CliRunner().invoke(app, ["watch", "--env", "Pendulum-v1"])
    assert isinstance(run.exception, ValueError) and "Pendulum-v1: the action space holds Box" in str(
        run.exception
    )
    world = uqf.GymnasiumWorld("Pendulum-v1", action_bins=3, codebook=uqf.Codebook().fit(np.eye(3)))
    push = uqf.TablePolicy(np.eye(3)[[2] * (world.n_symbols + 1)], world.n_observations)
    uqf.save(push, tmp_path / "push.safetensors", codebook=world.codebook)
    arguments = ["watch", str(tmp_path / "push.safetensors"), "--env", "Pendulum-v1", "--json"]
    shown = json.loads(CliRunner().invoke(app, arguments, catch_exceptions=False).stdout)
    assert {frame["action"] for frame in shown["frames"]} == {"[2]", None}
