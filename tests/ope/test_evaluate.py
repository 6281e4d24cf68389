"""What a policy earns, told from logs of another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from random_policies import random_table, softened
from strategies import pomdps
from uqf import ope


@given(pomdps(), st.integers(0, 99))
def test_logs_of_the_policy_itself_give_the_mean_return_and_every_episode_counts(pomdp, seed):
    policy = random_table(pomdp.n_actions, pomdp.n_observations, seed)
    data = uqf.rollout(pomdp, policy, episodes=30, seed=seed)
    estimate = ope.evaluate(policy, data, discount=0.8, method="importance", replicates=100)
    assert estimate.mean == pytest.approx(data.returns(0.8).mean(), abs=1e-12)
    assert estimate.effective_sample_size == pytest.approx(30)
    assert estimate.mean_weight == pytest.approx(1)
    assert estimate.stderr == pytest.approx(data.returns(0.8).std() / np.sqrt(30), abs=1e-9)


@given(pomdps(), st.integers(0, 99))
def test_without_a_model_doubly_robust_is_importance_sampling(no_model, pomdp, seed):
    data = uqf.rollout(pomdp, episodes=20, seed=seed)
    policy = random_table(pomdp.n_actions, pomdp.n_observations, seed)
    plain, robust = (
        ope.evaluate(policy, data, discount=0.9, method=method, model=no_model, replicates=100)
        for method in ("importance", "doubly-robust")
    )
    assert robust.mean == pytest.approx(plain.mean, abs=1e-9)
    np.testing.assert_allclose(robust.interval, plain.interval, atol=1e-6)


def test_weights_of_ended_episodes_stay_and_those_of_cut_ones_leave():
    # Two actions; the policy always takes action 1, the logs take either with probability 1/2.
    always = uqf.TablePolicy(np.tile([0.0, 1.0], (3, 1)), 1)

    def value(ended):
        data = uqf.Trajectories(
            [1, 1, 1, 1],
            [0, 0, 0, 0],
            [1.0, 10.0, 1.0, 0.0],
            [0, 3, 4],
            n_actions=2,
            n_observations=1,
            behavior_probs=[0.5] * 4,
            terminated=[True, ended],
        )
        return ope.evaluate(always, data, discount=1.0, method="importance", replicates=100).mean

    # Weights after steps 0, 1, 2: episode 0 has 2, 4, 8; episode 1 has 2, and then keeps it or leaves.
    assert value(True) == pytest.approx(1 * 2 / 4 + 10 * 4 / 6 + 1 * 8 / 10)
    assert value(False) == pytest.approx(1 * 2 / 4 + 10 + 1)


def observable(seed, horizon):
    """A world that shows its state, with random rows and an end."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.ones(4), (2, 4))
    return uqf.TabularPOMDP(
        transitions=transitions,
        observations=np.tile(np.eye(4), (2, 1, 1)),
        rewards=rng.normal(size=(2, 4)),
        start=np.array([1.0, 0, 0, 0]),
        discount=0.9,
        terminal=np.arange(4) == 3,
        horizon=horizon,
    )


def table_value(pomdp, policy, horizon, discount):
    """Exact value of a table policy in a world that shows its state."""
    value = np.zeros((pomdp.n_symbols + 1, pomdp.n_states))
    symbols = np.arange(pomdp.n_symbols).reshape(pomdp.n_actions, pomdp.n_observations)
    goes_on = ~pomdp.terminal
    for _ in range(horizon):
        ahead = np.stack(
            [value[symbols[a], np.arange(pomdp.n_states)] * goes_on for a in range(pomdp.n_actions)]
        )
        q = pomdp.rewards + discount * np.einsum("ast,at->as", pomdp.transitions, ahead)
        value = policy.probs @ q
    return float(value[-1] @ pomdp.start)


@pytest.mark.parametrize("method", ope.METHODS)
def test_every_method_finds_the_exact_value_where_the_last_symbol_is_the_state(method):
    pomdp = observable(0, horizon=8)
    policy = random_table(2, 4, seed=5)
    data = uqf.rollout(pomdp, episodes=5000, seed=1)
    truth = table_value(pomdp, policy, 8, 0.9)
    estimate = ope.evaluate(policy, data, discount=0.9, method=method, replicates=200)
    # A model has no standard error of its own; here it is right, and as precise as the others.
    error = 0.04 if method == "model" else estimate.stderr
    assert abs(estimate.mean - truth) < 5 * error
    assert 0 < error < 0.2
    assert estimate.interval[0] < estimate.mean < estimate.interval[1]


@pytest.mark.parametrize("order", ["as played", "the other start first"])
def test_the_value_under_a_model_is_the_mean_over_what_episodes_show_first(order):
    """Each of two starts pays what it shows, and the policy knows it."""
    shown = np.repeat([0, 1, 1, 1], 50)[:: 1 if order == "as played" else -1]
    rng = np.random.default_rng(0)
    actions = rng.integers(2, size=200)
    data = uqf.Trajectories(
        actions,
        np.zeros(200, int),
        np.where(actions == shown, 1.0 + shown, 0.0),
        np.arange(201),
        n_actions=2,
        n_observations=2,
        behavior_probs=np.full(200, 0.5),
        first_observations=shown,
    )

    class AsShown:
        """Takes the action that the first observation names, with probability 0.9."""

        n_actions, n_observations, temperature = 2, 2, 0.0

        def initial_state(self, first=None):
            return first

        def update(self, state, action, observation):
            return state

        def action_probs(self, state):
            return np.array([0.9, 0.1] if state == 0 else [0.1, 0.9])

    estimate = ope.evaluate(AsShown(), data, discount=1.0, method="model", replicates=100)
    assert estimate.mean == pytest.approx(0.9 * (0.25 * 1.0 + 0.75 * 2.0), abs=0.03)
    assert estimate.stderr == np.inf and estimate.answer is ope.Answer.UNKNOWN, "a guess has no error to name"


def test_one_episode_has_no_standard_error():
    data = uqf.rollout(uqf.make("tiger"), episodes=1, seed=0)
    for method in ope.METHODS:
        assert ope.evaluate(None, data, discount=0.9, method=method).stderr == np.inf


def test_in_a_world_without_chance_the_right_values_leave_no_noise():
    transitions = np.stack([np.roll(np.eye(4), shift, axis=1) for shift in (1, 2)])
    pomdp = uqf.TabularPOMDP(
        transitions,
        np.tile(np.eye(4), (2, 1, 1)),
        np.arange(8.0).reshape(2, 4),
        np.array([1.0, 0, 0, 0]),
        discount=0.9,
        horizon=6,
    )
    data = uqf.rollout(pomdp, episodes=4000, seed=1)
    policy = random_table(2, 4, seed=5)
    plain, robust = (
        ope.evaluate(policy, data, discount=0.9, method=method) for method in ("importance", "doubly-robust")
    )
    assert robust.stderr < 0.05 * plain.stderr


def test_two_policies_are_told_apart_or_not():
    env = uqf.make("gridworld-near")
    data = uqf.rollout(env, episodes=600, horizon=15, seed=0)
    one, other = softened(env, 0.05), softened(env, 0.05, seed=2)
    same = ope.compare(one, one, data, discount=0.95)
    assert same.difference == same.stderr == 0.0
    assert "cannot tell the two policies apart" in same.verdict
    there, back = (ope.compare(*pair, data, discount=0.95) for pair in ((one, other), (other, one)))
    assert there.difference == pytest.approx(-back.difference)
    unpaired = np.hypot(there.first.stderr, there.second.stderr)
    assert there.stderr < 0.8 * unpaired, "the same episodes are resampled for both"
    assert (
        "cannot tell the two policies apart"
        in ope.compare(softened(env, 1.0), softened(env, 1.0, seed=2), data, discount=0.95).verdict
    )


def test_a_clear_difference_is_found():
    tiger = uqf.make("tiger")
    data = uqf.rollout(tiger, episodes=3000, horizon=3, seed=0)
    probs = np.full((tiger.n_symbols + 1, 3), [0.4, 0.3, 0.3])
    listening = uqf.TablePolicy(np.full_like(probs, [0.8, 0.1, 0.1]), tiger.n_observations)
    other = uqf.TablePolicy(probs, tiger.n_observations)
    result = ope.compare(listening, other, data, discount=0.95, return_range=(-300.0, 30.0))
    assert result.distinguishable
    assert result.verdict.startswith("The first policy earns more, by ")
