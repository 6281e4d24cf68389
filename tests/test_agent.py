"""Agents: what is deployed earns what was tested."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import uqf
from uqf.worlds.gymnasium.finite import coding


class RepeatFirst(gymnasium.Env):
    """Pays for naming what `reset` showed, whatever is shown later."""

    observation_space, action_space = spaces.Discrete(3), spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.first, self.time = int(self.np_random.integers(3)), 0
        return self.first, {}

    def step(self, action):
        self.time += 1
        reward = 0.1 if action == self.first else -0.1
        return int(self.np_random.integers(3)), reward, self.time == 10, False, {}


WORLDS = {
    "repeat first": (lambda: uqf.GymnasiumWorld(RepeatFirst, horizon=20), 400, 0.95),
    "blackjack": (lambda: uqf.GymnasiumWorld("Blackjack-v1", horizon=20), 3000, -0.25),
    "tiger": (lambda: uqf.GymnasiumWorld("uqf/Tiger-v0", discount=0.95), 300, -5.0),
}
EPISODES = 300


def seeded(world, episode):
    env = gymnasium.make("Blackjack-v1") if world.name == "Blackjack-v1" else world._envs[0]
    return env, env.reset(seed=episode)[0]


def by_agent(world, policy):
    agent = uqf.Agent(policy)
    for episode in range(EPISODES):
        env, shown = seeded(world, episode)
        agent.reset(shown)
        total, over = 0.0, False
        while not over:
            shown, reward, terminated, truncated, _ = env.step(agent.act())
            agent.observe(shown)
            total, over = total + reward, terminated or truncated
        yield total


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_deployed_earns_what_was_tested(tmp_path, name):
    make, episodes, least = WORLDS[name]
    world = make()
    learner = uqf.fit(uqf.rollout(world, episodes=episodes, seed=1), discount=world.discount)
    path = tmp_path / "policy.safetensors"
    learner.save(path)
    tested = uqf.estimate_return(world, learner.policy_, episodes=EPISODES, discount=1.0, seed=2).returns
    assert tested.mean() > least
    for deployed in (list(by_agent(world, learner)), list(by_agent(world, str(path)))):
        error = np.sqrt((np.var(tested) + np.var(deployed)) / EPISODES)
        assert abs(np.mean(deployed) - tested.mean()) <= 4 * error + 1e-9


def rule(first):
    """Action 1 iff the last observation is 1; `first` at a start that showed nothing."""
    values = np.array([[1.0, 0.0], [0.0, 1.0], first], np.float64)
    return uqf.ObservationPolicy(values)


def test_states_live_inside_and_observe_needs_an_action():
    agent = uqf.Agent(rule([0.0, 1.0]))
    agent.reset()
    assert agent.act() == 1, "nothing was shown"
    agent.reset(0)
    assert agent.act() == 0
    agent.observe(1)
    assert agent.act() == 1
    agent.reset(2)
    assert agent.act() == 1, "the code after the last is the 'nothing seen yet' of gymnasium_env"
    agent.reset(1)


def test_names_go_in_and_out_and_another_action_may_be_told():
    book = uqf.Codebook.named(["wait", "go"], ["red"])
    table = uqf.TablePolicy(np.eye(2)[[0, 1, 0, 1, 1]], 2)
    agent = uqf.Agent(table, codebook=book)
    agent.reset()
    assert agent.act() == "go"
    agent.observe("red")
    assert agent.act() == "wait"
    with pytest.warns(UserWarning, match="violet"):
        agent.observe("violet")
    assert agent.act() == "go", "an unknown observation has a code of its own"
    agent.observe("red", action="wait")
    assert agent.act() == "wait", "row of (wait, red)"
    numbered = uqf.Agent(table, codebook=book, actions=[np.array([7]), np.array([8])])
    numbered.reset()
    assert numbered.act().tolist() == [8]


def test_parallel_episodes_are_those_of_single_agents():
    policy = uqf.ContextQ(0.9, depth=2).fit(uqf.rollout(uqf.make("tiger"), episodes=200)).policy_
    rng = np.random.default_rng(0)
    many, single = uqf.Agent(policy, n=5), [uqf.Agent(policy) for _ in range(5)]
    firsts = rng.integers(2, size=5)
    many.reset(firsts)
    for agent, first in zip(single, firsts, strict=True):
        agent.reset(int(first))
    for _ in range(30):
        actions = many.act(deterministic=True)
        assert actions == [agent.act(deterministic=True) for agent in single]
        seen, starts = rng.integers(2, size=5), rng.random(5) < 0.2
        many.observe(seen, starts=starts)
        for agent, shown, begins in zip(single, seen.tolist(), starts, strict=True):
            agent.reset(shown) if begins else agent.observe(shown)


def test_vector_environments_show_stacked_parts():
    world = uqf.GymnasiumWorld("Blackjack-v1", horizon=20)
    policy = uqf.ObservationPolicy(np.random.default_rng(0).normal(size=(world.n_observations + 1, 2)))
    vector = gymnasium.make_vec("Blackjack-v1", num_envs=4, vectorization_mode="sync")
    shown, _ = vector.reset(seed=0)
    agent = uqf.Agent(policy, codebook=world.codebook, n=4)
    agent.reset(shown)
    expected = [
        int(policy.q_values(policy.initial_state(first=world.encode([one])[0])).argmax())
        for one in zip(*shown, strict=True)
    ]
    assert agent.act() == expected


@pytest.mark.parametrize(
    ("space", "named"),
    [
        (spaces.Discrete(2, start=5), False),
        (spaces.MultiDiscrete([2, 1]), False),
        (spaces.MultiBinary(1), False),
        (spaces.Tuple([spaces.Discrete(2), spaces.Discrete(1)]), True),
    ],
    ids=str,
)
def test_an_agent_does_numbers_and_arrays_and_names_what_is_neither(tmp_path, space, named):
    class Bandit(gymnasium.Env):
        """The second action pays."""

        observation_space, action_space = spaces.Discrete(2), space

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return 0, {}

        def step(self, action):
            assert self.action_space.contains(action), action
            second = np.ravel(action)[0] == np.ravel(coding(space, "action").decode(1))[0]
            return 0, float(second), False, False, {}

    world = uqf.GymnasiumWorld(Bandit, horizon=3)
    learner = uqf.ContextQ(0.9).fit(uqf.rollout(world, episodes=100, seed=0))
    learner.save(tmp_path / "bandit.safetensors")
    agent = uqf.Agent(tmp_path / "bandit.safetensors")
    agent.reset(0)
    if named:
        assert agent.act() == world.action_names[1], "which no environment takes for a code"
        agent = uqf.Agent(learner, actions=world.actions)
        agent.reset(0)
    assert world._envs[0].step(agent.act())[1] == 1.0
    again = uqf.GymnasiumWorld(Bandit, horizon=3, codebook=world.codebook)
    assert again.codebook == world.codebook and again.action_names == world.action_names


def test_an_agent_needs_neither_scikit_learn_nor_gymnasium(tmp_path):
    path = tmp_path / "policy.safetensors"
    book = uqf.Codebook(max_codes=4).fit(np.arange(60.0).reshape(30, 2))
    uqf.save(uqf.ObservationPolicy(np.eye(2)[np.arange(book.n_codes + 1) % 2]), path, codebook=book)
    code = f"""import sys, uqf
agent = uqf.Agent({str(path)!r})
agent.reset((3.0, 4.0))
print(agent.act(), [name for name in ("sklearn", "scipy", "gymnasium", "onnx") if name in sys.modules])"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == f"{book.encode_one((3.0, 4.0)) % 2} []", run.stderr


def test_names_that_the_logs_never_had_are_counted_and_the_first_one_warns():
    states = np.array(["on", "off"] * 40, object)
    table = {"state": states, "load": np.arange(80.0), "mode": np.array(["a", "b", "b", "a"] * 20, object)}
    rewards = (states == "on") + 2.0 * (table["mode"] == "a")
    for book, seen, column in (
        (uqf.Codebook().fit(table, rewards), lambda name: {"state": name, "load": 1.0, "mode": "a"}, "state"),
        (uqf.Codebook.named(None, ("on", "off")), lambda name: name, "observation"),
    ):
        policy = uqf.ObservationPolicy(np.zeros((book.n_codes + 1, 2)))
        agent = uqf.Agent(policy, codebook=book)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            agent.reset(seen("on"))
            agent.act()
            agent.observe(seen("off"))
            agent.act()
            agent.observe(seen(None))
        agent.act()
        with pytest.warns(UserWarning, match="On"):
            agent.observe(seen("On"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            agent.reset(seen("ON"))
        assert agent.unseen == {column: 2}


def test_only_allowed_actions_are_taken():
    """The policy wants 2 after observation 1, and 0 otherwise; second best is 1."""
    policy = uqf.ObservationPolicy(np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    agent = uqf.Agent(policy)
    agent.reset(1)
    assert agent.act(mask=[True, True, True]) == 2
    assert agent.act(mask=[1, 1, 0]) == 1
    assert agent.act(mask=[True, False, False], deterministic=True) == 0
    agent.observe(0)
    assert agent.act(mask=np.array([False, True, True])) == 1
    assert agent.act() == 0
    many = uqf.Agent(policy, n=3)
    many.reset([1, 0, 1])
    assert many.act(mask=[True, True, False]) == [1, 0, 1]
    many.observe([0, 1, 1], starts=[False, False, True])
    assert many.act(mask=[[False, True, True], [True, True, False], [True, False, False]]) == [1, 1, 0]
    stochastic = uqf.Agent(policy.with_temperature(1.0), seed=3)
    stochastic.reset(0)
    drawn = np.bincount([stochastic.act(mask=[True, False, True]) for _ in range(600)], minlength=3) / 600
    assert drawn[1] == 0.0 and drawn[0] == pytest.approx(1 / (1 + np.exp(-2.0)), abs=0.06)


def test_a_mask_may_come_at_any_time():
    agent = uqf.Agent(uqf.ObservationPolicy(np.eye(3)))
    agent.act()
    agent.observe(1)
    assert agent.act(mask=[True, True, True]) == 1
    assert agent.act(mask=[True, False, False]) == 0
