"""The exact filter against brute force, and acting on plans."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import uqf
from mazes import grid_4x3
from uqf.learn.plan.belief_model import BeliefModel, expected_rewards
from uqf.learn.plan.plan_policy import PlanPolicy

TIGER = uqf.make("tiger").tabular()


@st.composite
def small_pomdps(draw, max_states=3, max_actions=2, max_observations=3):
    """A random POMDP, with sparse rows, every form of rewards, and sometimes terminal states."""
    states, actions, observations = (
        draw(st.integers(1, largest)) for largest in (max_states, max_actions, max_observations)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    concentration = draw(st.sampled_from([0.1, 1.0, 10.0]))
    form = draw(st.integers(2, 4))
    terminal = np.zeros(states, np.bool_)
    terminal[1:] = rng.random(states - 1) < 0.3 * draw(st.integers(0, 1))

    def rows(*shape):
        table = rng.dirichlet(np.full(shape[-1], concentration), size=shape[:-1])
        table[table < 1e-3] = 0.0
        return table / table.sum(axis=-1, keepdims=True)

    return uqf.TabularPOMDP(
        rows(actions, states, states),
        rows(actions, states, observations),
        rng.normal(size=(actions, states, states, observations)[:form]),
        rows(1, states)[0],
        draw(st.sampled_from([0.3, 0.9])),
        terminal=terminal,
    )


def brute_force(pomdp, history):
    """P(state now, observations, never ended | actions), summed over all paths of states."""
    joint = np.zeros(pomdp.n_states)
    for path in itertools.product(range(pomdp.n_states), repeat=len(history) + 1):
        prob = pomdp.start[path[0]]
        for (action, observation), here, there in zip(history, path, path[1:], strict=False):
            prob *= pomdp.transitions[action, here, there] * pomdp.observations[action, there, observation]
            prob *= not pomdp.terminal[there]
        joint[path[-1]] += prob
    return joint


def all_successors(model, beliefs):
    """(..., A, O, S), zeros where nothing may follow."""
    places, rows = model.successors(beliefs)
    assert (rows.sum(axis=1) > 0.0).all()
    found = np.zeros((*beliefs.shape[:-1], model.n_actions, model.n_observations, model.n_states))
    found.reshape(-1, model.n_states)[places] = rows
    return found


@settings(max_examples=150, deadline=None)
@given(small_pomdps(), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=4))
def test_filter_is_bayes(pomdp, numbers):
    model = BeliefModel(pomdp)
    belief, mass, history = pomdp.start, 1.0, []
    for action, observation in ((a % pomdp.n_actions, o % pomdp.n_observations) for a, o in numbers):
        history.append((action, observation))
        joint = brute_force(pomdp, history)
        likelihood = model.likelihood(belief, action)[observation]
        assert mass * likelihood == pytest.approx(joint.sum(), abs=1e-12)
        np.testing.assert_allclose(
            all_successors(model, belief), belief @ model.joint_operators(), atol=1e-15
        )
        assume(joint.sum() >= 1e-9)
        belief, mass = model.update(belief, action, observation), mass * likelihood
        np.testing.assert_allclose(belief, joint / joint.sum(), atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(small_pomdps())
def test_batches_are_rows(pomdp):
    model = BeliefModel(pomdp)
    beliefs = np.random.default_rng(0).dirichlet(np.ones(pomdp.n_states), size=(2, 3))
    np.testing.assert_allclose(all_successors(model, beliefs)[1, 2], all_successors(model, beliefs[1, 2]))
    np.testing.assert_allclose(model.likelihood(beliefs, 0)[1, 2], model.likelihood(beliefs[1, 2], 0))
    observation = int(model.likelihood(beliefs, 0).min(axis=(0, 1)).argmax())
    assume(model.likelihood(beliefs, 0)[..., observation].min() > 0)
    updated = model.update(beliefs, 0, observation)
    np.testing.assert_allclose(updated[1, 2], model.update(beliefs[1, 2], 0, observation))


@settings(max_examples=50, deadline=None)
@given(small_pomdps())
def test_expected_rewards_are_means_over_outcomes(pomdp):
    outcomes = pomdp.transitions[..., np.newaxis] * pomdp.observations[:, np.newaxis]
    np.testing.assert_allclose(
        expected_rewards(pomdp), (outcomes * pomdp.rewards_by_outcome()).sum(axis=(2, 3)), atol=1e-12
    )


def test_the_filter_knows_that_the_episode_goes_on():
    grid = grid_4x3()
    model = BeliefModel(grid)
    belief = model.update(grid.start, 3, int(model.likelihood(grid.start, 3).argmax()))
    assert not belief[grid.terminal].any()
    assert model.likelihood(grid.start, 3).sum() < 1.0


def test_ties_are_split_evenly():
    policy = PlanPolicy(TIGER, [[1.0, 1.0], [2.0, 0.0], [0.0, 1.9]], [0, 1, 2])
    state = policy.initial_state()
    assert isinstance(policy, uqf.Policy)
    np.testing.assert_array_equal(policy.action_probs(state), [0.5, 0.5, 0.0])
    assert policy.action(state) == 0
    assert {policy.action(state, np.random.default_rng(seed)) for seed in range(20)} == {0, 1}
    assert policy.action(policy.update(state, 0, 0)) in (0, 1)


@settings(max_examples=50, deadline=None)
@given(small_pomdps(), st.integers(0, 2**32 - 1))
def test_an_action_is_worth_its_best_plan_or_the_best_one_after_a_step(pomdp, seed):
    rng = np.random.default_rng(seed)
    model, count = BeliefModel(pomdp), pomdp.n_actions + 2
    vectors, actions = rng.normal(size=(count, pomdp.n_states)), rng.integers(pomdp.n_actions, size=count)
    belief = rng.dirichlet(np.ones(pomdp.n_states))
    direct = PlanPolicy(pomdp, vectors, actions).q_values(belief)
    ahead = PlanPolicy(pomdp, vectors, actions, lookahead=True).q_values(belief)
    for action in range(pomdp.n_actions):
        plans = vectors[actions == action]
        assert direct[action] == pytest.approx((plans @ belief).max(initial=-np.inf), rel=1e-12)
        after = all_successors(model, belief)[action]
        following = sum((vectors @ one).max() for one in after)
        expected = model.rewards[action] @ belief + model.discount * following
        assert ahead[action] == pytest.approx(expected, abs=1e-9)


def test_staged_plans_count_the_steps_down_and_end_in_indifference():
    vectors, actions, stages = np.eye(3, 2), [0, 1, 2], [2, 2, 1]
    policy = PlanPolicy(TIGER, vectors, actions, stages=stages)
    belief, left = policy.initial_state()
    assert left == 2
    np.testing.assert_array_equal(policy.q_values((belief, 2)), [0.5, 0.5, -np.inf])
    after = policy.update((belief, 2), 0, 0)
    assert after[1] == 1
    np.testing.assert_array_equal(policy.q_values(after), [-np.inf, -np.inf, 0.0])
    last = policy.update(policy.update(after, 0, 0), 0, 0)
    assert last[1] == 0
    np.testing.assert_array_equal(policy.action_probs(last), np.full(3, 1 / 3))
