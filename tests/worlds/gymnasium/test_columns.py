"""Raw observations beside the codes, and actions that are not always allowed, in worlds of Gymnasium."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import uqf
from uqf import frames
from uqf.episodes.columns import columns_of
from uqf.episodes.propensities import propensities
from uqf.episodes.sums import best_next
from uqf.policies.policy import ValuePolicy, probs_along


class Lamp(gymnasium.Env):
    """Shows a number, a lamp of three colours and a switch; pays for naming the colour of the lamp."""

    observation_space = spaces.Dict(
        {"level": spaces.Box(-1.0, 1.0, (2,)), "lamp": spaces.Discrete(3), "on": spaces.MultiBinary(1)}
    )
    action_space = spaces.Discrete(3)

    def _shown(self):
        self.colour = int(self.np_random.integers(3))
        level = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return {"level": level, "lamp": self.colour, "on": self.np_random.integers(2, size=1, dtype=np.int8)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._shown(), {}

    def step(self, action):
        reward = float(action == self.colour)
        return self._shown(), reward, False, False, {}


class ByColour(ValuePolicy):
    """Names the colour that it sees: column 0 of the world, which Gymnasium sorts by name."""

    n_actions, column_sizes = 3, np.array([3, 0, 0, 2])

    def initial_state(self, first=None):
        return None if first is None else np.asarray(first)

    def update(self, state, action, observation):
        assert observation.dtype == np.float32 and observation.shape == (4,)
        return observation

    def q_values(self, state):
        return np.eye(3)[int(state[0])]


@pytest.fixture(scope="module")
def lamp():
    return uqf.GymnasiumWorld(Lamp, horizon=6)


def test_rollouts_keep_what_was_seen(lamp):
    data = uqf.rollout(lamp, episodes=70, seed=1)
    columns, first, sizes = columns_of(data)
    assert sizes.tolist() == lamp.column_sizes.tolist() == [3, 0, 0, 2]
    assert columns is data.columns and first is data.first_columns
    seen = np.insert(columns, data.offsets[:-1], first, axis=0)
    codes = np.insert(data.observations, data.offsets[:-1], data.first_observations)
    assert lamp.codebook.encode(seen).tolist() == codes.tolist()
    env = Lamp()
    shown = env.reset(seed=int(np.random.SeedSequence([1, 3]).generate_state(1)[0]))[0]
    np.testing.assert_array_equal(first[3], [shown["lamp"], *shown["level"], *shown["on"]])
    np.testing.assert_array_equal(
        columns[data.offsets[3] + 1], uqf.rollout(lamp, episodes=1, first=3, seed=1).columns[1]
    )
    assert pickle.loads(pickle.dumps(lamp)).column_sizes.tolist() == [3, 0, 0, 2]


def test_policies_that_want_columns_see_them_everywhere(lamp, tmp_path):
    policy = ByColour()
    data = uqf.rollout(lamp, policy, episodes=40, seed=2)
    assert (data.rewards == 1.0).all() and uqf.estimate_return(
        lamp, policy, episodes=40, discount=1.0
    ).mean == 6.0
    assert probs_along(policy, data)[np.arange(data.n_steps), data.actions].min() == 1.0
    assert uqf.ope.evaluate(policy, uqf.rollout(lamp, episodes=300, seed=3), discount=1.0).mean > 4.0
    assert sum(frame.reward for frame in frames.play(lamp, policy, seed=4)) == 6.0
    data.to_parquet(tmp_path / "lamp.parquet")
    assert uqf.read_log(tmp_path / "lamp.parquet") == data
    env, agent = Lamp(), uqf.Agent(policy, codebook=lamp.codebook)
    agent.reset(env.reset(seed=5)[0])
    for _ in range(20):
        shown, reward, *_ = env.step(agent.act())
        assert reward == 1.0
        agent.observe(shown)
    many = uqf.Agent(policy, codebook=lamp.codebook, n=2)
    many.reset([{"lamp": 1, "level": [0.0, 0.0], "on": [0]}, {"lamp": 2, "level": [0.0, 0.0], "on": [0]}])
    assert many.act() == [1, 2]
    with pytest.raises(
        ValueError, match=r"column_sizes = \[3, 0, 0, 2\], but CartPole-v1 has \[0, 0, 0, 0\]"
    ):
        uqf.rollout(
            uqf.GymnasiumWorld("CartPole-v1", codebook=uqf.Codebook().fit(np.eye(4))), policy, episodes=1
        )


def test_without_a_codebook_an_agent_is_given_the_columns():
    agent = uqf.Agent(ByColour())
    agent.reset((2, 0.5, 0.5, 1))
    assert agent.act() == 2
    agent.observe(np.array([1, 0.5, np.nan, 0]))
    assert agent.act() == 1
    with pytest.raises(ValueError, match="an observation of 2 values, but of 4 columns"):
        agent.observe([1, 2])


def test_codes_are_one_category_and_need_not_be_kept():
    world = uqf.GymnasiumWorld("FrozenLake-v1")
    data = uqf.rollout(world, episodes=3)
    assert data.columns is None and world.column_sizes.tolist() == [16]
    assert columns_of(data)[2].tolist() == [16]
    blackjack = uqf.rollout(uqf.GymnasiumWorld("Blackjack-v1", horizon=9), episodes=50)
    assert blackjack.column_sizes.tolist() == [32, 11, 2]
    rebuilt, _ = blackjack.codebook.columns_of(blackjack.observations)
    np.testing.assert_array_equal(np.floor(rebuilt), blackjack.columns)


class Countdown(gymnasium.Env):
    """Take one to three from a heap that shows its size; more than there is left is forbidden; the last one pays."""

    observation_space, action_space = spaces.Discrete(8), spaces.Discrete(3)

    def _info(self):
        return {"action_mask": (np.arange(1, 4) <= max(self.left, 1)).astype(np.int8)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(3, 8))
        return self.left, self._info()

    def step(self, action):
        assert action + 1 <= self.left, "a forbidden action was taken"
        self.left -= action + 1
        return self.left, float(action), self.left == 0, False, self._info()


@pytest.fixture(scope="module")
def countdown():
    return uqf.GymnasiumWorld(Countdown, horizon=10, discount=1.0)


#: Wants 3 always; second best is 2.
GREEDY = uqf.ObservationPolicy(np.tile([1.0, 2.0, 3.0], (9, 1)))


def before(data):
    """What the heap was before every step."""
    seen = np.roll(data.observations, 1)
    seen[data.offsets[:-1]] = data.first_observations
    return seen


@pytest.mark.parametrize(
    "policy", [None, GREEDY, GREEDY.with_temperature(1.0)], ids=["chance", "greedy", "warm"]
)
def test_nobody_takes_what_is_forbidden_and_propensities_are_exact(countdown, policy):
    data = uqf.rollout(countdown, policy, episodes=300, epsilon=0.25, seed=7)
    heap = before(data)
    allowed = np.arange(1, 4) <= heap[:, None]
    np.testing.assert_array_equal(data.allowed, allowed)
    probs = np.where(allowed, 1.0 if policy is None else np.exp([1.0, 2.0, 3.0]), 0.0)
    if policy is GREEDY:
        probs = np.eye(3)[np.minimum(heap, 3) - 1]
    probs /= probs.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probs_along(policy, data), probs, atol=1e-12)
    if policy is not None:
        probs = 0.75 * probs + 0.25 * allowed / allowed.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(data.behavior_probs, probs[np.arange(data.n_steps), data.actions])


def test_evaluation_counts_only_what_is_allowed(countdown, tmp_path):
    """Heaps of 3 to 7 earn 2, 2, 3, 4 and 4 if one takes as many as one may."""
    data = uqf.rollout(countdown, episodes=3000, seed=8)
    found = uqf.ope.evaluate(GREEDY, data, discount=1.0)
    assert found.interval[0] <= 3.0 <= found.interval[1] and abs(found.mean - 3.0) < 0.1
    assert abs(uqf.estimate_return(countdown, GREEDY, episodes=1000, seed=9).mean - 3.0) < 0.1
    data.to_parquet(tmp_path / "countdown.parquet")
    assert uqf.read_log(tmp_path / "countdown.parquet") == data


def test_estimated_propensities_are_those_of_the_allowed_actions(countdown):
    """The heap decides what is allowed, and chance chooses: frequencies after the last symbol approach it."""
    data = uqf.rollout(countdown, episodes=3000, seed=13)
    bare = uqf.Trajectories(**data.__getstate__() | {"behavior_probs": None})
    assert np.abs(propensities(bare) - data.behavior_probs).mean() < 0.03
    last = before(data) == 1
    assert last.any() and (propensities(bare)[last] == 1.0).all()


def test_both_of_a_mixture_keep_to_what_is_allowed(countdown):
    mixture = uqf.mix(GREEDY, GREEDY.with_temperature(1.0), 0.25)
    data = uqf.rollout(countdown, mixture, episodes=200, seed=15)
    probs = probs_along(mixture, data)[np.arange(data.n_steps), data.actions]
    np.testing.assert_allclose(probs, data.behavior_probs)


def test_the_best_that_follows_is_allowed(countdown):
    data = uqf.rollout(countdown, episodes=50, seed=14)
    values = np.tile([1.0, 2.0, 3.0], (data.n_steps + len(data), 1))
    heap = data.observations
    expected = data.rewards + np.where(heap > 0, np.minimum(heap, 3), 0.0)
    np.testing.assert_array_equal(best_next(data, values, 1.0), expected)


def test_what_is_learned_is_played_within_the_rules(countdown):
    data = uqf.rollout(countdown, episodes=400, seed=10)
    learner = uqf.fit(data, discount=1.0)
    assert uqf.estimate_return(countdown, learner.policy_, episodes=300, seed=11).mean > 2.8
    assert sum(frame.reward for frame in frames.play(countdown, learner.policy_, seed=12)) >= 0.0


class Pairs(Countdown):
    """Two numbers at a time, each with a mask of its own; an environment that forgets its masks allows all."""

    action_space = spaces.MultiDiscrete([2, 3])

    def _info(self):
        return (
            {"action_mask": (np.array([1, 0], np.int8), np.array([0, 1, 1], np.int8))}
            if self.left > 4
            else {}
        )

    def step(self, action):
        assert self.left <= 4 or (action[0] == 0 and action[1] > 0)
        self.left -= 1
        return self.left, 0.0, self.left == 0, False, self._info()


def test_masks_of_several_parts_are_combined():
    data = uqf.rollout(uqf.GymnasiumWorld(Pairs, horizon=10), episodes=30)
    masks = np.where(before(data)[:, None] > 4, [False, True, True, False, False, False], True)
    np.testing.assert_array_equal(data.allowed, masks)
