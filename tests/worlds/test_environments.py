import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from strategies import pomdps

VARIANTS = [
    *((name, {}) for name in uqf.environments()),
    ("pocman", {"maze": "mini"}),
    ("pocman", {"maze": "micro"}),
    ("spocman", {"ghosts": "chasing"}),
]


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_every_world_has_names_a_picture_and_a_pickle(name, options):
    env = uqf.make(name, **options)
    assert env.name == name
    assert env.n_symbols == env.n_actions * env.n_observations
    assert len(set(env.action_names)) == env.n_actions
    assert len(set(env.observation_names)) == env.n_observations
    simulation = env.simulation(seed=3)
    assert simulation.render().strip()
    simulation.step(0)
    assert simulation.render().strip()
    copy = pickle.loads(pickle.dumps(env))
    assert uqf.rollout(copy, episodes=3, seed=5) == uqf.rollout(env, episodes=3, seed=5)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_stepping_by_hand_replays_a_rollout(name, options):
    env = uqf.make(name, **options)
    data = uqf.rollout(env, episodes=20, seed=7)
    for number, episode in enumerate(data):
        simulation = env.simulation(seed=7, episode=number)
        for action, observation, reward in zip(*episode[:3], strict=True):
            seen, paid, terminated = simulation.step(int(action))
            assert (seen, paid) == (observation, reward)
        assert terminated == episode.terminated


@given(pomdps())
def test_a_tabular_world_keeps_its_arrays(pomdp):
    assert pomdp.tabular() is pomdp
    np.testing.assert_allclose(pomdp.transitions.sum(-1), 1.0, atol=1e-12)
    assert pomdp.rewards_by_outcome().shape == (*pomdp.transitions.shape, pomdp.n_observations)
    copy = pickle.loads(pickle.dumps(pomdp))
    for name in ("transitions", "observations", "rewards", "start", "terminal"):
        assert not getattr(pomdp, name).flags.writeable
        np.testing.assert_allclose(getattr(copy, name), getattr(pomdp, name), rtol=1e-15)
    assert uqf.rollout(copy, episodes=5, seed=1).n_steps == uqf.rollout(pomdp, episodes=5, seed=1).n_steps


def bernstein(second_moment, largest, n):
    """How far a mean of n draws strays, except with probability 3e-8 (Bernstein's inequality)."""
    return np.sqrt(2 * 18 * second_moment / n) + 2 / 3 * 18 * largest / n


@given(pomdps(terminal=False, horizon=1))
def test_first_steps_follow_the_arrays(pomdp):
    """Frequency of every symbol and the reward that came with it, over many first steps."""
    n = 4000
    data = uqf.rollout(pomdp, episodes=n, seed=2)
    rewards = pomdp.rewards_by_outcome()
    law, paid, squares = (
        np.einsum("s,ast,ato,asto->ao", pomdp.start, pomdp.transitions, pomdp.observations, weight).ravel()
        / pomdp.n_actions
        for weight in (np.ones_like(rewards), rewards, rewards**2)
    )
    frequencies = np.bincount(data.symbols, minlength=pomdp.n_symbols) / n
    means = np.bincount(data.symbols, weights=data.rewards, minlength=pomdp.n_symbols) / n
    assert np.all(frequencies[law == 0.0] == 0.0)
    assert np.all(np.abs(frequencies - law) <= bernstein(law, 1.0, n))
    assert np.all(np.abs(means - paid) <= bernstein(squares, np.abs(rewards).max(), n))


@given(pomdps(max_states=3))
def test_terminal_states_end_episodes(pomdp):
    data = uqf.rollout(pomdp, episodes=200, seed=4)
    assert np.all(data.terminated | (data.lengths == pomdp.horizon))
    if not pomdp.terminal.any():
        assert not data.terminated.any()


def test_rows_slightly_off_are_renormalised_and_worse_ones_named():
    good = np.array([[[0.5, 0.5], [1.0, 0.0]]])
    arrays = {
        "observations": np.ones((1, 2, 1)),
        "rewards": np.zeros((1, 2)),
        "start": [1.0, 0.0],
        "discount": 0.9,
    }
    off = good + 4e-6
    assert uqf.TabularPOMDP(transitions=off, **arrays).transitions.sum(-1) == pytest.approx(1.0, abs=1e-12)


@st.composite
def opening_pomdps(draw):
    """A random POMDP whose episodes show something before their first action."""
    pomdp = draw(pomdps(horizon=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="opening"))
    shown = rng.dirichlet(np.full(pomdp.n_observations, draw(st.sampled_from((0.1, 1.0)))), pomdp.n_states)
    arrays = ("transitions", "observations", "rewards", "start", "discount", "terminal", "horizon")
    return uqf.TabularPOMDP(**{name: getattr(pomdp, name) for name in arrays}, first_observations=shown)


class Witness:
    """A policy in Python that sees what episodes show first."""

    def __init__(self, n_actions):
        self.n_actions = n_actions

    def initial_state(self, first=None):
        return first

    def update(self, state, action, observation):
        return state

    def action_probs(self, state):
        return np.eye(self.n_actions)[state % self.n_actions]


@given(opening_pomdps())
def test_first_observations_follow_their_matrix(pomdp):
    """Frequencies, by rollout, by hand and by a policy in Python."""
    n, law = 3000, pomdp.start @ pomdp.first_observations
    data = uqf.rollout(pomdp, episodes=n, seed=3)
    frequencies = np.bincount(data.first_observations, minlength=pomdp.n_observations) / n
    assert np.all(np.abs(frequencies - law) <= bernstein(law, 1.0, n))
    assert [pomdp.simulation(3, number).first for number in range(9)] == data.first_observations[:9].tolist()
    played = uqf.rollout(pomdp, Witness(pomdp.n_actions), episodes=9, seed=3)
    np.testing.assert_array_equal(played.first_observations, data.first_observations[:9])
    np.testing.assert_array_equal(
        played.actions[played.offsets[:-1]], played.first_observations % pomdp.n_actions
    )
    parts = [uqf.rollout(pomdp, episodes=700, seed=3, first=first, threads=2) for first in (0, 700)]
    np.testing.assert_array_equal(
        np.concatenate([part.first_observations for part in parts]), data.first_observations[:1400]
    )
    np.testing.assert_array_equal(data[[5, 2]].first_observations, data.first_observations[[5, 2]])


@given(opening_pomdps())
def test_a_known_model_conditions_on_what_is_shown_first(pomdp):
    """The belief before the first action is that of Bayes, in the exact filter and in POMCP's particles."""
    exact = uqf.baselines.QMDP().solve(pomdp).policy_
    blind = exact.initial_state()
    np.testing.assert_allclose(blind, pomdp.start)
    for first in range(pomdp.n_observations):
        joint = pomdp.start * pomdp.first_observations[:, first]
        if joint.sum() == 0.0:
            with pytest.raises(uqf.NumericalError):
                exact.initial_state(first)
            continue
        np.testing.assert_allclose(exact.initial_state(first), joint / joint.sum(), rtol=1e-12)
    means = [
        exact.initial_state(o) * p for o, p in enumerate(pomdp.start @ pomdp.first_observations) if p > 0
    ]
    np.testing.assert_allclose(np.sum(means, axis=0), blind, atol=1e-12)


def cued(probability=1.0):
    """A T-maze without a corridor: what is shown first is, with this probability, the side that pays."""
    shown = np.array([[probability, 1.0 - probability], [1.0 - probability, probability]])
    return uqf.TabularPOMDP(
        [np.eye(2)] * 2,
        np.full((2, 2, 2), 0.5),
        np.eye(2),
        [0.5, 0.5],
        0.9,
        horizon=1,
        first_observations=shown,
    )


@pytest.mark.parametrize(
    "plan",
    [
        lambda world: uqf.baselines.QMDP().solve(world),
        lambda world: uqf.baselines.ExactValueIteration(horizon=1).solve(world),
        lambda world: uqf.baselines.PBVI(tolerance=1e-6).solve(world),
    ],
)
def test_planners_use_a_cue_and_count_it_in_their_bounds(plan):
    """Always the same door earns 10 · ½; the door that a cue of .8 names earns 10 · .8."""
    planner = plan(cued(0.8))
    ends = 1.0 if isinstance(planner, uqf.baselines.ExactValueIteration) else 10.0
    assert planner.lower_bound_ == pytest.approx(0.8 * ends, abs=1e-5)
    assert planner.upper_bound_ >= 0.8 * ends - 1e-6
    assert uqf.estimate_return(cued(), plan(cued()).policy_, episodes=300).mean == 1.0


def test_pomcp_keeps_the_starts_that_show_what_was_shown():
    assert uqf.estimate_return(cued(), uqf.baselines.POMCP(cued(), simulations=32), episodes=100).mean == 1.0


def test_a_first_observation_is_kept_shown_and_refused_where_it_cannot_be_said(tmp_path):
    world = cued(0.75)
    assert world.shows_first and not uqf.make("tiger").shows_first
    again = pickle.loads(pickle.dumps(world))
    np.testing.assert_array_equal(again.first_observations, world.first_observations)
    assert uqf.rollout(again, episodes=9, seed=2) == uqf.rollout(world, episodes=9, seed=2)
    env = uqf.gymnasium_env(world)
    assert env.observation_space.n == 2
    assert uqf.rollout(env, episodes=30, seed=1).first_observations.tolist() == (
        uqf.rollout(world, episodes=30, seed=1).first_observations.tolist()
    )
