"""Gymnasium environments as worlds of the package."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import uqf
from uqf.frames import play
from uqf.worlds.gymnasium import world as module
from uqf.worlds.gymnasium.spaces import leaves


class Echo(gymnasium.Env):
    """Shows anything of a space and pays the mean of the numbers that it showed before; ends after four steps."""

    def __init__(self, space, show=None, actions=None):
        self.observation_space = space
        self.action_space = spaces.Discrete(2) if actions is None else actions
        self.show = show

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self._shown(), {}

    def step(self, action):
        self.time += 1
        numbers = [one for one in leaves(self.observation_space, self.seen) if not isinstance(one, str)]
        reward = float(np.mean([np.mean(one) for one in numbers]))
        return self._shown(), reward, self.time == 4, False, {}

    def _shown(self):
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        self.seen = self.observation_space.sample() if self.show is None else self.show(self.time)
        return self.seen


OBSERVATIONS = {
    "box": spaces.Box(-1.0, 1.0, (3,)),
    "picture": spaces.Box(0, 255, (2, 2), np.uint8),
    "dictionary": spaces.Dict(place=spaces.Box(0.0, 9.0, (2,)), state=spaces.Discrete(3)),
    "tuple": spaces.Tuple([spaces.Discrete(3), spaces.Box(-1.0, 1.0, ())]),
    "nested": spaces.Dict(a=spaces.Tuple([spaces.Discrete(2), spaces.Dict(b=spaces.Box(0, 1, (1,)))])),
    "many switches": spaces.MultiBinary(20),
    "text": spaces.Tuple([spaces.Text(3), spaces.Discrete(2)]),
}


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_of_any_form_are_coded_one_by_one_as_all_at_once(name, monkeypatch):
    monkeypatch.setattr(module, "LEARNED_EPISODES", 60)
    world = uqf.GymnasiumWorld(lambda: Echo(OBSERVATIONS[name]), horizon=9)
    assert world.n_observations == world.codebook.n_codes >= 2
    raws = [world.begin(0, 5, episode)[0] for episode in range(80)]
    together = world.encode(raws)
    assert together.tolist() == [world.codebook.encode_one(raw) for raw in raws]
    assert len(set(together.tolist())) > 1
    assert all(isinstance(told, str) for told in world.observation_names)
    data = uqf.rollout(world, episodes=20, seed=1)
    assert data.codebook == world.codebook and len(data.first_observations) == 20


def test_finite_spaces_have_a_code_for_every_element():
    world = uqf.GymnasiumWorld("Blackjack-v1", horizon=100)
    assert world.n_observations == 32 * 11 * 2
    raw = (13, 10, 1)
    assert world.encode([raw])[0] == (13 * 11 + 10) * 2 + 1
    assert "13" in world.codebook.describe(int(world.encode([raw])[0]))
    assert uqf.GymnasiumWorld("FrozenLake-v1").codebook is None, "its observations are codes"


def test_episodes_do_not_depend_on_the_copies_nor_on_what_was_played_before(monkeypatch):
    lake = uqf.GymnasiumWorld("FrozenLake8x8-v1")
    policy = uqf.TablePolicy(np.random.default_rng(0).dirichlet(np.ones(4), 4 * 64 + 1), 64)
    for acting in (None, policy):
        whole = uqf.rollout(lake, acting, episodes=70, seed=3, epsilon=0.2 if acting else 0.0)
        monkeypatch.setattr(module, "COPIES", 3)
        few = uqf.rollout(lake, acting, episodes=70, seed=3, epsilon=0.2 if acting else 0.0)
        part = uqf.rollout(lake, acting, episodes=10, seed=3, first=40, epsilon=0.2 if acting else 0.0)
        monkeypatch.undo()
        alone = uqf.rollout(
            gymnasium.make("FrozenLake8x8-v1"), acting, episodes=70, seed=3, epsilon=0.2 if acting else 0.0
        )
        assert whole == few == alone and part == whole[40:50]
        assert whole != uqf.rollout(lake, acting, episodes=70, seed=4)


def test_what_is_recorded_is_what_happened():
    world = uqf.GymnasiumWorld(lambda: Echo(spaces.Discrete(5), int), horizon=3)
    data = uqf.rollout(world, episodes=40, seed=2)
    assert data.observations.tolist() == [1, 2, 3] * 40 and (data.first_observations == 0).all()
    assert not data.terminated.any() and (data.behavior_probs == 0.5).all()
    longer = uqf.rollout(world, episodes=40, horizon=10, seed=2)
    assert (longer.lengths == 4).all() and longer.terminated.all()
    assert np.array_equal(longer.rewards.reshape(40, 4)[:, :3], data.rewards.reshape(40, 3))
    score = uqf.estimate_return(world, None, episodes=40, horizon=10, discount=0.5, seed=2)
    assert np.allclose(score.returns, longer.returns(0.5))


def test_a_policy_is_told_what_reset_shows_and_what_comes_after():
    class Spy:
        """Remembers everything and always does 1."""

        def __init__(self):
            self.told = []

        def initial_state(self, first=None):
            return (first,)

        def update(self, state, action, observation):
            self.told.append((*state, action, observation))
            return (*state, action, observation)

        def action_probs(self, state):
            return np.array([0.0, 1.0])

    world = uqf.GymnasiumWorld(lambda: Echo(spaces.Discrete(5), int), horizon=3)
    spy = Spy()
    uqf.rollout(world, spy, episodes=1)
    assert max(spy.told, key=len) == (0, 1, 1, 1, 2, 1, 3)


def test_a_time_limit_is_a_horizon_with_or_without_a_spec():
    env = Echo(spaces.Discrete(5), int)
    assert env.spec is None
    limited = gymnasium.wrappers.TimeLimit(gymnasium.wrappers.TimeLimit(env, 3), 7)
    assert uqf.GymnasiumWorld(limited).horizon == 3
    assert (uqf.rollout(limited, episodes=4).lengths == 3).all()
    assert uqf.GymnasiumWorld(gymnasium.wrappers.TimeLimit(gymnasium.make("FrozenLake-v1"), 9)).horizon == 9


def test_policy_iteration_and_watching_work_as_in_other_worlds():
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    found = uqf.policy_iteration(lake, uqf.ContextQ(0.99), iterations=6, episodes=200, seed=0)
    assert uqf.estimate_return(lake, found.policy, episodes=100, discount=1.0).mean > 0.9
    world = uqf.GymnasiumWorld("FrozenLake-v1")
    policy = uqf.TablePolicy(np.full((65, 4), 0.25), 16)
    frames = list(play(world, policy, seed=3, episode=2))
    data = uqf.rollout(world, policy, episodes=3, seed=3)[2]
    assert [frame.action for frame in frames[:-1]] == data.actions.tolist()
    assert frames[0].picture.split() == ["@FFF", "FHFH", "FFFH", "HFFG"]
    cart = uqf.GymnasiumWorld("CartPole-v1", codebook=uqf.Codebook().fit(np.eye(4).repeat(9, axis=0)))
    assert "observation" in cart.simulation().render() or "<" in cart.simulation().render()


def test_a_codebook_learned_anew_knows_where_a_policy_goes(monkeypatch):
    monkeypatch.setattr(module, "LEARNED_EPISODES", 40)

    class Walk(gymnasium.Env):
        """Right is action 1; chance stays near 0."""

        observation_space, action_space = spaces.Box(-50.0, 50.0, (1,)), spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.place = 0.0
            return np.array([0.0], np.float32), {}

        def step(self, action):
            self.place += 2.0 * action - 1.0
            reward = float(self.place > 20)
            return np.array([self.place], np.float32), reward, False, False, {}

    world = uqf.GymnasiumWorld(Walk, horizon=40)
    always_right = uqf.ObservationPolicy(np.tile([0.0, 1.0], (world.n_observations + 1, 1)))
    played = uqf.concatenate([uqf.rollout(world, one, episodes=20) for one in (None, always_right)])
    again = world.relearned(played)
    far = [np.array([place], np.float32) for place in (15.0, 25.0)]
    assert len(set(world.encode(far).tolist())) == 1
    assert len(set(again.encode(far).tolist())) == 2
    assert again.horizon == 40
    coded = again.recoded(played)
    assert (
        coded.codebook == again.codebook and coded.behavior_probs.tolist() == played.behavior_probs.tolist()
    )
    np.testing.assert_array_equal(coded.observations, again.encode(list(played.columns)))
    assert world.relearned(played, cells=7).n_observations == 7
    assert uqf.GymnasiumWorld(Walk, horizon=40, cells=5).n_observations == 5
    assert again.recoded(coded) == coded
