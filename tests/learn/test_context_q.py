"""Contexts: what is known of the last few symbols."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uqf.learn.along import returns_to_go

import uqf
from strategies import trajectories
from uqf import _core
from uqf.learn.contexts import ContextLearner, ContextTree


def words_before(data, depth):
    """The last symbols before every step, the start counting as one, newest last."""
    words = []
    for episode in data:
        symbols = (data.n_symbols, *(episode.actions * data.n_observations + episode.observations))
        words += [symbols[max(0, t + 1 - depth) : t + 1] for t in range(len(symbols) - 1)]
    return words


@given(trajectories(), st.integers(1, 4))
def test_keys_tell_contexts_apart_and_nothing_else(data, depth):
    keys = _core.context_keys(data, depth)
    for length in range(1, depth + 1):
        words = words_before(data, length)
        whole = [len(word) == length for word in words]
        assert [key != 0 for key in keys[:, length - 1]] == whole
        named = {word: key for word, key, full in zip(words, keys[:, length - 1], whole, strict=True) if full}
        assert all(
            named[word] == key
            for word, key, full in zip(words, keys[:, length - 1], whole, strict=True)
            if full
        )
        assert len(set(named.values())) == len(named)


@given(trajectories(max_episodes=20))
def test_without_shrinkage_the_table_is_the_mean_return(data):
    tree = ContextTree.of(data, 1)
    returns = returns_to_go(data, 0.9)
    advantage, value = tree.advantages(data, returns, (0.0, 0.0)) if _all_tried(data, tree) else (None, None)
    if advantage is None:
        return
    for node in range(1, len(tree)):
        here = tree.deepest == node
        # A context's value leans on the empty one with the weight of one step.
        expected = (returns[here].sum() + value[0]) / (here.sum() + 1)
        assert value[node] == pytest.approx(expected)
        for action in range(data.n_actions):
            taken = here & (data.actions == action)
            assert advantage[node, action] == pytest.approx(returns[taken].mean() - value[node])


def _all_tried(data, tree):
    pairs = np.unique(tree.deepest * data.n_actions + data.actions)
    return len(pairs) == len(np.unique(tree.deepest)) * data.n_actions


@given(trajectories(max_episodes=20), st.integers(1, 3))
def test_the_compiled_policy_finds_the_longest_known_context(data, depth):
    tree = ContextTree.of(data, depth)
    values = np.random.default_rng(0).normal(size=(len(tree), data.n_actions))
    policy = tree.policy(values, data, temperature=0.5)
    step = 0
    for episode in data:
        state = policy.initial_state()
        for action, observation in episode.history:
            np.testing.assert_allclose(policy.q_values(state), values[tree.deepest[step]])
            state = policy.update(state, action, observation)
            step += 1
    powers = np.exp(values[tree.deepest] / 0.5)
    probs = _core.action_probabilities(data, policy)
    np.testing.assert_allclose(probs, powers / powers.sum(axis=1, keepdims=True), atol=1e-12)


def test_sums_of_policies_add_their_values_in_their_own_units():
    data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    first, second = ContextLearner(depth=1).fit(data), ContextLearner(depth=2).step(data, 0.3)
    both = first.plus(second)
    assert both.temperature == 1.0
    for policy in (first, second, both):
        assert policy.greedy().temperature == 0.0
    state = [policy.update(policy.initial_state(), 0, 1) for policy in (first, second, both)]
    expected = first.q_values(state[0]) / first.temperature + second.q_values(state[1]) / second.temperature
    np.testing.assert_allclose(both.q_values(state[2]), expected)


def test_walls_are_learned_in_one_round():
    env = uqf.make("spocman")
    policy = ContextLearner().fit(uqf.rollout(env, episodes=300, seed=1))
    assert uqf.estimate_return(env, policy, episodes=500).mean > -120  # chance has −338
