"""Fitted-Q: exact where the state is seen, right about ends and signs, compiled trees = scikit-learn's."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.ensemble import ExtraTreesRegressor

import uqf
from random_policies import InPython
from strategies import trajectories
from uqf.baselines import CPSR, PSR, TPSR, FittedQ, MemorylessQ, Window
from uqf.baselines.fitted_q import flattened, joined
from uqf.episodes.sums import returns_to_go
from uqf.policies.policy import ForestPolicy


@pytest.fixture(scope="module")
def observable():
    """A random world of four states whose observation is the state; rewards are negative, a fifth ends it."""
    rng = np.random.default_rng(0)
    return uqf.TabularPOMDP(
        rng.dirichlet(np.ones(5), size=(2, 5)),
        np.broadcast_to(np.eye(5), (2, 5, 5)),
        -rng.random((2, 5)) - 0.1,
        np.array([1.0, 0.0, 0.0, 0.0, 0.0]),
        0.8,
        terminal=np.arange(5) == 4,
        horizon=10,
    )


def values_by_state(learner, n_states):
    """Q (S, A) after one step that led to each state."""
    policy = learner.policy_
    start = policy.initial_state()
    return np.stack([policy.q_values(policy.update(start, 0, s)) for s in range(n_states)])


def test_an_observable_world_gives_the_exact_q(observable):
    data = uqf.rollout(observable, episodes=6000, seed=1)
    learner = FittedQ(Window(1), iterations=30, discount=0.8, trees=5).fit(data)
    following = observable.transitions * ~observable.terminal
    exact = np.zeros((2, 5))
    for _ in range(200):
        exact = observable.rewards + 0.8 * following @ exact.max(axis=0)
    # A recording that stops is not an end: bootstrapped, ten steps of an endless world are enough.
    np.testing.assert_allclose(values_by_state(learner, 4), exact.T[:4], atol=0.08)
    assert (learner.changes_[-1] < 0.02 * learner.changes_[0]) and (learner.changes_ >= 0).all()


def test_without_bootstrapping_truncated_ends_count_as_ends(observable):
    """With one step per episode and no bootstrapping, Q is the mean reward, however negative."""
    data = uqf.rollout(observable, episodes=2000, horizon=1, seed=2)
    assert not data.terminated.all()
    stopped = FittedQ(iterations=5, discount=0.8, bootstrap_truncated=False, trees=3).fit(data)
    means = [data.rewards[data.actions == a].mean() for a in range(2)]
    np.testing.assert_allclose(stopped.policy_.q_values(stopped.policy_.initial_state()), means, atol=1e-6)
    going_on = FittedQ(iterations=5, discount=0.8, trees=3).fit(data)
    assert (going_on.policy_.q_values(going_on.policy_.initial_state()) < np.array(means) - 0.1).all()


def test_trees_on_the_last_symbol_are_the_table():
    """Leaves that hold one context each make fitted-Q the Q-learning of the table."""
    env = uqf.make("tiger", horizon=8)
    data = uqf.rollout(env, episodes=3000, seed=3)
    table = MemorylessQ(target="q-learning", discount=0.7, shrinkage=0.0).fit(data)
    fitted = FittedQ(Window(1), iterations=60, discount=0.7, trees=2, leaf=1, random_splits=2).fit(data)
    for history in [[], *([(a, o)] for a in range(3) for o in range(2))]:
        states = [policy.initial_state() for policy in (table.policy_, fitted.policy_)]
        for action, observation in history:
            policies = (table.policy_, fitted.policy_)
            states = [p.update(s, action, observation) for p, s in zip(policies, states, strict=True)]
        np.testing.assert_allclose(
            fitted.policy_.q_values(states[1]), table.policy_.q_values(states[0]), rtol=1e-5, atol=1e-4
        )


@settings(max_examples=8)
@given(trajectories())
def test_one_round_fits_rewards_and_the_chain_sums_them(data):
    """With one action and a window as long as the episode, Q is the return of those who share the history."""
    single = uqf.Trajectories(
        np.zeros_like(data.actions),
        np.arange(data.n_steps),
        data.rewards - 3.0,
        data.offsets,
        n_actions=1,
        n_observations=data.n_steps,
        terminated=np.ones(len(data), bool),
    )
    longest = int(data.lengths.max())
    learner = FittedQ(Window(1), iterations=longest, discount=0.9, trees=1, leaf=1).fit(single)
    values = learner.policy_.values(learner.policy_.features_along(single))[:, 0]
    returns = returns_to_go(single, 0.9)
    # Every observation is unique, so each step but the first of an episode has a leaf of its own.
    for index, (begin, end) in enumerate(pairwise(data.offsets)):
        cuts = slice(begin + index + 1, end + index)
        np.testing.assert_allclose(values[cuts], returns[begin + 1 : end], rtol=1e-5, atol=1e-5)


def test_compiled_trees_equal_scikit_learns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 6)).astype(np.float32)
    y = np.sin(x[:, 0]) - 5.0 + x[:, 1] * x[:, 2]
    model = ExtraTreesRegressor(7, min_samples_leaf=3, random_state=0).fit(x, y)
    forest = flattened([tree.tree_ for tree in model.estimators_], 1 / 7)
    policy = ForestPolicy(length=1, n_actions=1, n_observations=5, **joined([forest]))
    fresh = rng.normal(size=(3000, 6)).astype(np.float32)
    for threads in (1, 3):
        np.testing.assert_allclose(
            policy.values(fresh, threads=threads)[:, 0], model.predict(fresh), rtol=1e-12
        )


@pytest.mark.parametrize(
    ("representation", "episodes", "iterations"),
    [
        (None, 400, 8),
        (Window(2), 400, 8),
        pytest.param(TPSR(6), 600, 10, marks=pytest.mark.slow),
        pytest.param(CPSR(6, prefix_dim=300, suffix_dim=300), 600, 10, marks=pytest.mark.slow),
        pytest.param(
            uqf.UQF(6, 0.99, projection="hashed", prefix_dim=50, suffix_dim=50),
            400,
            8,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["none", "window", "tpsr", "cpsr", "uqf"],
)
def test_every_representation_learns_the_near_grid(representation, episodes, iterations):
    env = uqf.make("gridworld-near")
    learner = FittedQ(representation, iterations=iterations, discount=0.99, trees=5)
    returns = []
    for seed in range(6):
        policy = learner.fit(uqf.rollout(env, episodes=episodes, seed=seed)).policy_
        returns.append(uqf.estimate_return(env, policy, episodes=300, seed=5).mean)
    assert np.mean(returns) > uqf.estimate_return(env, None, episodes=300, seed=5).mean + 0.1


@pytest.mark.parametrize("representation", [Window(2), TPSR(3)], ids=["window", "tpsr"])
def test_the_compiled_policy_plays_as_its_steps_do(representation):
    env = uqf.make("gridworld-near")
    told = []
    learner = FittedQ(representation, iterations=3, trees=2)
    policy = learner.fit(
        uqf.rollout(env, episodes=50, seed=4), progress=lambda *event: told.append(event)
    ).policy_
    assert told[1:-1] == [("learning: rounds", done, 3) for done in range(4)]
    assert uqf.rollout(env, policy, episodes=5, seed=6) == uqf.rollout(
        env, InPython(policy), episodes=5, seed=6
    )


def test_a_model_or_a_policy_may_be_the_representation(tiger):
    data = uqf.rollout(tiger, episodes=300, seed=0)
    psr = PSR(uqf.WFA.from_pomdp(tiger, target="probability"), 3, 2)
    by_psr = FittedQ(psr, iterations=3, trees=3).fit(data)
    by_policy = FittedQ(psr.tracker, iterations=3, trees=3).fit(data)
    states = by_psr.policy_.features_along(data)
    np.testing.assert_array_equal(by_psr.policy_.values(states), by_policy.policy_.values(states))
    # A cut for every step and one more per episode; before the first step the state is the start's.
    assert states.shape == (data.n_steps + len(data), 2)
    np.testing.assert_allclose(states[0], tiger.start)


def test_threads_do_not_change_the_bits():
    data = uqf.rollout(uqf.make("tiger"), episodes=100, seed=0)
    one, two = (FittedQ(iterations=3, trees=4, seed=3, threads=n).fit(data) for n in (1, 2))
    states = one.policy_.features_along(data)
    np.testing.assert_array_equal(one.policy_.values(states), two.policy_.values(states))


def test_an_action_that_the_log_lacks_is_not_recommended():
    data = uqf.Trajectories([0, 1], [0, 0], [-1.0, -2.0], [0, 1, 2], n_actions=3, n_observations=1)
    learner = FittedQ(iterations=1, leaf=1).fit(data)
    values = learner.policy_.q_values(learner.policy_.initial_state())
    np.testing.assert_allclose(values, [-1.0, -2.0, -2.0])
