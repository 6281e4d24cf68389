"""ContextQ: what every action is worth after the last few symbols."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf
from strategies import trajectories
from uqf.episodes.propensities import propensities
from uqf.episodes.sums import cut_before, returns_to_go
from uqf.learn.context_q import advantages, fixed_log_policy, retrace
from uqf.learn.memory.contexts import ContextTree


@pytest.fixture(scope="module")
def tiger():
    return uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)


@given(trajectories(max_episodes=20))
def test_without_shrinkage_the_table_is_the_mean_return(data):
    tree = ContextTree.of(data, 1)
    here = tree.at_cuts[cut_before(data)]
    pairs = np.unique(here * data.n_actions + data.actions)
    assume(len(pairs) == len(np.unique(here)) * data.n_actions)
    returns = returns_to_go(data, 0.9)
    advantage, value = advantages(tree, data, returns, (0.0, 0.0))
    for node in range(1, len(tree)):
        inside = here == node
        # A context's value leans on the empty one with the weight of one step.
        assert value[node] == pytest.approx((returns[inside].sum() + value[0]) / (inside.sum() + 1))
        for action in range(data.n_actions):
            taken = inside & (data.actions == action)
            assert advantage[node, action] == pytest.approx(returns[taken].mean() - value[node])


def test_a_rare_context_is_drawn_towards_the_shorter_one(tiger):
    tree = ContextTree.of(tiger, 2)
    returns = returns_to_go(tiger, 0.9)
    plain, _ = advantages(tree, tiger, returns, (5.0, 0.0))
    drawn, _ = advantages(tree, tiger, returns, (5.0, 1e9))
    longer = np.flatnonzero(tree.lengths == 2)
    above = tree.parents[longer - 1]
    np.testing.assert_allclose(drawn[longer], drawn[above], atol=1e-4)
    assert np.abs(plain[longer] - plain[above]).max() > 1.0


def test_values_obey_the_discount(tiger):
    histories = [[], [(0, 0)], [(0, 1), (0, 1)]]
    far, near = (uqf.ContextQ(discount).fit(tiger) for discount in (0.99, 0.2))
    assert np.abs(far.decision_function(histories) - near.decision_function(histories)).max() > 1.0
    assert near.diagnostics_["learning_discount"] == 0.2
    assert far.diagnostics_["learning_discount"] in (0.85, 0.95, 0.99)


def test_a_given_learning_discount_is_used(tiger):
    learner = uqf.ContextQ(0.99, learning_discount=0.3, depth=2).fit(tiger)
    np.testing.assert_array_equal(learner.policy_.values, fixed_log_policy(tiger, 2, 0.3).values)


def test_the_learning_discount_with_the_best_evidence_is_chosen(tiger):
    told = uqf.ContextQ(0.99).fit(tiger).diagnostics_
    evidence = told["learning_discount_evidence"]
    assert set(evidence) == {0.85, 0.95, 0.99}
    assert evidence[told["learning_discount"]] == max(evidence.values())
    few = uqf.ContextQ(0.9).fit(tiger[:10]).diagnostics_
    assert (few["learning_discount"], few["learning_discount_evidence"]) == (0.9, {})


def test_depth_and_temperature_are_obeyed(tiger):
    shallow, deep = (uqf.ContextQ(depth=depth).fit(tiger) for depth in (1, 4))
    assert "of up to 1 symbols" in repr(shallow.policy_)
    assert "of up to 4 symbols" in repr(deep.policy_)
    assert shallow.diagnostics_["contexts"] == len(shallow.policy_.values)
    assert uqf.ContextQ(temperature=0.25).fit(tiger).policy_.temperature == 0.25
    assert shallow.policy_.temperature == shallow.diagnostics_["temperature"] > 0.0


def test_improving_adds_advantages_to_the_policy_that_played(tiger):
    learner = uqf.ContextQ(0.95, depth=2)
    first = learner.improve(tiger, None, 0.3)
    played = uqf.rollout(uqf.make("tiger"), first, episodes=200, seed=1)
    fresh = learner.improve(played, None, 0.2)
    second = learner.improve(played, first, 0.2)
    assert second.temperature == 1.0
    expected = first.q_values_along(played) / first.temperature
    expected += fresh.q_values_along(played) / fresh.temperature
    np.testing.assert_allclose(second.q_values_along(played), expected, rtol=1e-9, atol=1e-12)
    assert not hasattr(learner, "policy_"), "the learner itself is not changed"


def test_a_step_takes_the_learning_discount_that_is_given_or_chosen():
    data = uqf.rollout(uqf.make("gridworld-far"), episodes=150, seed=1)
    chosen = uqf.ContextQ(0.99).fit(data).diagnostics_["learning_discount"]
    assert chosen > 0.85, "the shortest candidate is not the best here"
    given = uqf.ContextQ(0.95, learning_discount=0.6)
    for learner, discount in ((given, 0.6), (uqf.ContextQ(0.99), chosen)):
        step = learner.improve(data, None, 0.3)
        assert step.temperature == pytest.approx(0.3 * returns_to_go(data, discount).std())


@pytest.mark.parametrize("reward", [0.0, 0.1, -1e9])
def test_where_all_returns_are_equal_nothing_is_learned(tiger, reward):
    """One step each, all paid alike: a step leaves the policy that played as it was."""
    rng = np.random.default_rng(0)
    actions, shown = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    equal = uqf.Trajectories(
        actions, shown, np.full(200, reward), np.arange(201), n_actions=3, n_observations=2
    )
    learner = uqf.ContextQ(0.95)
    base = learner.improve(tiger, None, 0.3)
    both = learner.improve(equal, base, 0.3)
    np.testing.assert_allclose(both.probs_along(tiger), base.probs_along(tiger), atol=1e-6)
    for policy in (learner.improve(equal, None, 0.3), learner.fit(equal).policy_):
        np.testing.assert_allclose(policy.probs_along(tiger), 1 / 3, atol=1e-6)


@given(trajectories(max_episodes=10), st.floats(0.0, 1.0), st.integers(0, 100))
def test_retrace_is_its_recursion(data, discount, seed):
    rng = np.random.default_rng(seed)
    v, q, probs = rng.normal(size=(3, data.n_steps))
    probs = np.abs(probs)
    traces = np.minimum(1.0, probs / propensities(data))
    expected = data.rewards.copy()
    for first, last in pairwise(data.offsets):
        for t in range(last - 2, first - 1, -1):
            expected[t] += discount * (v[t + 1] + traces[t + 1] * (expected[t + 1] - q[t + 1]))
    np.testing.assert_allclose(retrace(data, discount, v, q, probs), expected, rtol=1e-9, atol=1e-9)


def test_the_temperature_of_a_step_is_in_units_of_the_spread_of_returns(tiger):
    learner = uqf.ContextQ(0.95, learning_discount=0.8)
    step = learner.improve(tiger, None, 0.3)
    assert step.temperature == pytest.approx(0.3 * returns_to_go(tiger, 0.8).std())


def test_walls_are_learned_in_one_round():
    env = uqf.make("spocman")
    returns = [
        uqf.estimate_return(
            env,
            uqf.ContextQ(env.discount).fit(uqf.rollout(env, episodes=300, seed=seed)).policy_,
            episodes=500,
        ).mean
        for seed in range(4)
    ]
    assert np.mean(returns) > -120, "uniform play earns −338"
