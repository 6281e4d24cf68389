"""POMCP where the answer is known exactly, and the published figures on PocMan (slow)."""

import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from uqf.baselines import POMCP

RANDOM_NEAR = 0.2306  # discounted return of uniform actions, exact


def tiger_optimum(horizon: int, discount: float) -> float:
    """Exact value of Tiger: the belief is the difference of noises heard on either side."""

    @cache
    def value(difference: int, steps: int) -> float:
        if steps == 0:
            return 0.0
        left = 1.0 / (1.0 + (0.15 / 0.85) ** difference)
        hear_left = 0.85 * left + 0.15 * (1.0 - left)
        heard_left, heard_right = value(difference + 1, steps - 1), value(difference - 1, steps - 1)
        after = hear_left * heard_left + (1.0 - hear_left) * heard_right
        door = max(10.0 - 110.0 * left, 10.0 - 110.0 * (1.0 - left)) + discount * value(0, steps - 1)
        return max(-1.0 + discount * after, door)

    return value(0, horizon)


@st.composite
def one_step_worlds(draw):
    """Random POMDPs that last one step, with a known start."""
    actions, states, observations = draw(st.integers(2, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rewards = rng.normal(scale=draw(st.sampled_from([0.1, 100.0])), size=(actions, states))
    transitions = rng.dirichlet(np.ones(states), size=(actions, states))
    shown = rng.dirichlet(np.ones(observations), size=(actions, states))
    start = np.eye(states)[draw(st.integers(0, states - 1))]
    return uqf.TabularPOMDP(transitions, shown, rewards, start, 0.9, horizon=1)


@settings(max_examples=30, deadline=None)
@given(env=one_step_worlds())
def test_values_of_a_single_step_are_its_rewards(env):
    planner = POMCP(env, simulations=20, rollouts="uniform")
    state = planner.initial_state()
    expected = env.rewards[:, np.argmax(env.start)]
    np.testing.assert_allclose(planner.q_values(state), expected, rtol=1e-12)
    assert planner.action(state) == np.argmax(expected)
    assert planner.exploration == np.ptp(env.rewards)


def test_a_sure_path_is_valued_exactly():
    """Two actions: stay (0) or go on (1) along three states to the end, which pays 8; discount 1/2."""
    transitions = np.zeros((2, 4, 4))
    transitions[0] = np.eye(4)
    transitions[1] = np.eye(4, k=1)
    transitions[1, 3, 3] = 1.0
    rewards = np.zeros((2, 4, 4))
    rewards[1, 2, 3] = 8.0
    env = uqf.TabularPOMDP(
        transitions,
        np.ones((2, 4, 1)),
        rewards,
        np.eye(4)[0],
        0.5,
        terminal=[False, False, False, True],
        horizon=3,
    )
    planner = POMCP(env, simulations=20_000, exploration=2.0)
    values = planner.q_values(planner.initial_state())
    assert values[1] == pytest.approx(2.0, abs=0.05)
    assert values[0] == 0.0, "one stay leaves too few steps to reach the end"


def test_tiger_listens_first_and_never_beats_the_exact_optimum():
    env = uqf.make("tiger")
    for seed in range(5):
        planner = POMCP(env, simulations=500, rollouts="preferred", seed=seed)
        assert planner.action(planner.initial_state()) == 0
    score = uqf.estimate_return(env, POMCP(env, simulations=512, rollouts="preferred"), episodes=200, seed=1)
    optimum = tiger_optimum(env.horizon, env.discount)
    assert optimum - 12.0 < score.mean < optimum + 4.0 * score.stderr


def test_gridworld_beats_random_clearly():
    env = uqf.make("gridworld-near")
    score = uqf.estimate_return(env, POMCP(env, simulations=128), episodes=60, seed=3)
    assert score.mean - 4.0 * score.stderr > RANDOM_NEAR + 0.2


@pytest.mark.parametrize("rollouts", ["legal", "preferred", "uniform"])
def test_same_bits_for_any_number_of_threads(rollouts):
    env = uqf.make("pocman", maze="mini", horizon=15)
    planner = POMCP(env, simulations=20, rollouts=rollouts, seed=5)
    first, *others = (
        uqf.rollout(env, planner, episodes=6, epsilon=0.2, seed=9, threads=n) for n in (1, 2, 4)
    )
    for other in others:
        np.testing.assert_array_equal(first.symbols, other.symbols)
        np.testing.assert_array_equal(first.rewards, other.rewards)
        np.testing.assert_array_equal(first.offsets, other.offsets)
    assert set(np.round(first.behavior_probs, 12)) <= {0.05, 0.85}


def test_the_search_has_a_random_stream_of_its_own():
    env = uqf.make("pocman", horizon=30)
    scores = [
        uqf.estimate_return(env, POMCP(env, simulations=8, seed=s), episodes=8, seed=2) for s in (0, 0, 1)
    ]
    np.testing.assert_array_equal(scores[0].returns, scores[1].returns)
    assert not np.array_equal(scores[0].returns, scores[2].returns)


@pytest.mark.parametrize("name", uqf.environments())
def test_every_world_can_be_planned_step_by_step(name):
    env = uqf.make(name)
    planner = POMCP(env, simulations=32, particles=50, rollouts="preferred")
    simulation = env.simulation(seed=4)
    state = planner.initial_state()
    for _ in range(12):
        before = planner.q_values(state)
        action = planner.action(state)
        assert action == np.argmax(before)
        np.testing.assert_array_equal(planner.action_probs(state), np.eye(env.n_actions)[action])
        observation, _, terminated = simulation.step(action)
        if terminated:
            break
        following = planner.update(state, action, observation)
        np.testing.assert_array_equal(planner.q_values(state), before)
        assert np.isfinite(planner.q_values(following)).any()
        state = following


def test_walls_are_not_legal_and_not_tried():
    env = uqf.make("pocman")
    planner = POMCP(env, simulations=64)
    values = planner.q_values(planner.initial_state())
    assert np.isneginf(values).tolist() == [True, False, True, False]
    free = POMCP(env, simulations=64, rollouts="uniform")
    assert np.all(np.isfinite(free.q_values(free.initial_state())))


def test_a_planner_survives_pickling():
    env = uqf.make("spocman", ghosts="chasing")
    planner = POMCP(env, simulations=16, exploration=7.0, seed=3)
    copy = pickle.loads(pickle.dumps(planner))
    assert repr(copy) == repr(planner)
    assert copy.exploration == 7.0
    np.testing.assert_array_equal(
        copy.q_values(copy.initial_state()), planner.q_values(planner.initial_state())
    )


@pytest.mark.slow
@pytest.mark.parametrize(("simulations", "episodes", "published"), [(64, 600, 55.0), (1024, 200, 73.0)])
def test_pocman_reaches_the_published_return(simulations, episodes, published):
    env = uqf.make("pocman", horizon=89)
    score = uqf.estimate_return(env, POMCP(env, simulations=simulations), episodes=episodes, discount=0.95)
    assert score.stderr < 1.5
    assert score.mean == pytest.approx(published, abs=5.0)


@pytest.mark.slow
def test_tiger_approaches_the_exact_optimum():
    env = uqf.make("tiger")
    planner = POMCP(env, simulations=16_384, rollouts="preferred")
    score = uqf.estimate_return(env, planner, episodes=200)
    assert score.mean == pytest.approx(tiger_optimum(env.horizon, env.discount), abs=1.0 + 4.0 * score.stderr)
