"""Tables over the last symbols: against exact values, hand-made averages and random ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from strategies import trajectories
from uqf.baselines import MemorylessQ, RandomPolicy
from uqf.episodes.sums import returns_to_go
from words import context_words, first_symbol


@pytest.fixture(scope="module")
def observable():
    """A chain whose observation is the state: actions move left or right, the right end pays and ends."""
    states = 4
    transitions = np.zeros((2, states, states))
    for s in range(states):
        transitions[0, s, max(s - 1, 0)] = 1.0
        transitions[1, s, min(s + 1, states - 1)] += 0.8
        transitions[1, s, s] += 0.2
    rewards = np.full((2, states, states), -0.1)
    rewards[:, :, -1] = 1.0
    return uqf.TabularPOMDP(
        transitions,
        np.broadcast_to(np.eye(states), (2, states, states)),
        rewards,
        np.eye(states)[0],
        0.9,
        terminal=np.arange(states) == states - 1,
        horizon=30,
    )


def exact_q(pomdp, policy=None):
    """Q of the state-level policy, or of the optimal one: (A, S)."""
    immediate = np.einsum("ast,ast->as", pomdp.transitions, pomdp.rewards)
    moves = pomdp.transitions * ~pomdp.terminal
    q = np.zeros_like(immediate)
    for _ in range(2000):
        value = q.max(axis=0) if policy is None else (policy.T * q).sum(axis=0)
        q = immediate + pomdp.discount * moves @ value
    return q


def table_of(learner):
    """What was learned, by context."""
    return dict(zip(context_words(learner.policy_), learner.values_, strict=True))


def learned_q(learner, pomdp):
    """Q (A, S) by the state seen last, read from the contexts (a, s) of both actions."""
    rows = table_of(learner)
    q = np.full((2, pomdp.n_states), np.nan)
    for context, values in rows.items():
        if len(context) == 1 and context[0] < pomdp.n_symbols:
            q[:, context[0] % pomdp.n_observations] = values
    return q


def test_q_learning_finds_the_optimal_q_of_an_observable_world(observable):
    data = uqf.rollout(observable, episodes=20_000, seed=1)
    learner = MemorylessQ(target="q-learning", discount=0.9, shrinkage=0.0).fit(data)
    q, exact = learned_q(learner, observable), exact_q(observable)
    np.testing.assert_allclose(q[:, :3], exact[:, :3], atol=0.02)
    assert learner.change_ < 1e-8


def test_monte_carlo_finds_the_q_of_the_behaviour(observable):
    data = uqf.rollout(observable, episodes=20_000, horizon=200, seed=2)
    learner = MemorylessQ(discount=0.9, shrinkage=0.0).fit(data)
    uniform = np.full((observable.n_states, 2), 0.5)
    np.testing.assert_allclose(
        learned_q(learner, observable)[:, :3], exact_q(observable, uniform)[:, :3], atol=0.02
    )


@pytest.mark.parametrize("discount", [0.5, 0.999, 1.0])
def test_returns_are_discounted_as_the_task_is(discount):
    data = uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)
    learner = MemorylessQ(0, discount=discount, shrinkage=0.0).fit(data)
    expected = [returns_to_go(data, discount)[data.actions == action].mean() for action in range(3)]
    np.testing.assert_allclose(learner.values_[0], expected)


@given(trajectories(), st.integers(0, 3), st.floats(0.0, 5.0))
def test_the_table_is_the_shrunk_mean_of_its_contexts(data, k, shrinkage):
    learner = MemorylessQ(k, discount=0.9, shrinkage=shrinkage).fit(data)
    table = table_of(learner)
    returns, symbols = returns_to_go(data, 0.9), data.symbols
    seen = {}
    for begin, episode in zip(data.offsets[:-1], data, strict=True):
        for step in range(begin, begin + len(episode.actions)):
            history = (first_symbol(data, episode), *symbols[begin:step].tolist())
            for length in range(min(k, len(history)) + 1):
                context = history[len(history) - length :]
                seen.setdefault((context, int(data.actions[step])), []).append(returns[step])
    for (context, action), values in seen.items():
        above = table[context[1:]][action] if context else returns.mean()
        expected = (sum(values) + shrinkage * above) / (len(values) + shrinkage)
        np.testing.assert_allclose(table[context][action], expected, atol=1e-9)


def test_random_policy_is_uniform_and_compiled():
    env = uqf.make("tiger")
    policy = RandomPolicy(env.n_actions, env.n_observations)
    data = uqf.rollout(env, policy, episodes=2000, seed=0)
    np.testing.assert_allclose(data.behavior_probs, 1 / 3)
    np.testing.assert_allclose(np.bincount(data.actions) / data.n_steps, 1 / 3, atol=0.02)
    score, reference = (uqf.estimate_return(env, p, episodes=4000, seed=1) for p in (policy, None))
    assert score.mean == pytest.approx(reference.mean, abs=4 * np.hypot(score.stderr, reference.stderr))
