"""A policy that keeps doing what it did, in theory and in play."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from random_policies import behaviour, some_episodes


@given(st.floats(0.0, 0.99), st.integers(1, 4), st.integers(1, 3))
def test_probabilities_are_those_of_the_definition(repeat, n_actions, n_observations):
    policy = uqf.Persistent(repeat, n_actions, n_observations)
    data = some_episodes(policy)
    starts = np.isin(np.arange(data.n_steps), data.offsets)
    last = np.eye(n_actions)[np.roll(data.actions, 1)]
    expected = np.where(starts[:, None], 1 / n_actions, repeat * last + (1 - repeat) / n_actions)
    np.testing.assert_allclose(behaviour(policy), expected, rtol=1e-12)
    np.testing.assert_allclose(policy.q_values_along(data), np.log(expected), atol=1e-12)
    first = policy.initial_state(first=0)
    np.testing.assert_allclose(policy.action_probs(first), np.full(n_actions, 1 / n_actions))


def test_it_is_played_saved_and_improved_upon(tmp_path):
    env = uqf.make("gridworld-near")
    policy = uqf.Persistent(0.8, env.n_actions, env.n_observations)
    data = uqf.rollout(env, policy, episodes=400, seed=1)
    again = np.ones(data.n_steps, bool)
    again[data.offsets[:-1]] = False
    share = (data.actions == np.roll(data.actions, 1))[again].mean()
    assert share == pytest.approx(0.85, abs=5 * np.sqrt(0.85 * 0.15 / again.sum()))
    np.testing.assert_allclose(np.unique(data.behavior_probs.round(9)), [0.05, 0.25, 0.85])
    uqf.save(policy, tmp_path / "persistent.safetensors")
    np.testing.assert_array_equal(behaviour(uqf.load(tmp_path / "persistent.safetensors")), behaviour(policy))
    improved = uqf.ContextQ(env.discount).improve(data, policy, 0.3)
    score, before = (uqf.estimate_return(env, one, episodes=1000, seed=2) for one in (improved, policy))
    assert score.mean > before.mean + 3 * before.stderr
