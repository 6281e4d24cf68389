import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

import uqf
from dynamic_programming import random_value
from random_policies import InPython, random_table
from strategies import pomdps

VARIANTS = [
    ("tiger", {}),
    ("gridworld-far", {}),
    ("gridworld-hamilton", {}),
    ("pocman", {"maze": "micro"}),
    ("pocman", {}),
    ("spocman", {"ghosts": "published"}),
    ("spocman", {"ghosts": "chasing"}),
]


def table_for(env):
    return random_table(env.n_actions, env.n_observations)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_same_bits_for_any_number_of_threads(name, options):
    env = uqf.make(name, **options)
    for policy in (None, table_for(env)):
        one, two, five = (
            uqf.rollout(env, policy, episodes=1100, epsilon=0.1, seed=3, threads=threads)
            for threads in (1, 2, 5)
        )
        assert one == two == five
        assert one != uqf.rollout(env, policy, episodes=1100, epsilon=0.1, seed=4)
        scores = [
            uqf.estimate_return(env, policy, episodes=1100, seed=3, threads=threads) for threads in (1, 4)
        ]
        assert np.array_equal(scores[0].returns, scores[1].returns)
        assert np.array_equal(scores[0].lengths, scores[1].lengths)


FINGERPRINT = """
import hashlib, uqf
digest = hashlib.sha256()
for name in uqf.environments():
    data = uqf.rollout(uqf.make(name), episodes=300, seed=12, threads=THREADS)
    for array in (data.actions, data.observations, data.rewards, data.offsets, data.terminated):
        digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_same_bits_in_two_processes():
    digests = {
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT.replace("THREADS", threads)], capture_output=True, check=True
        ).stdout
        for threads in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_scores_are_the_returns_of_the_same_episodes(name, options):
    env = uqf.make(name, **options)
    policy = table_for(env)
    data = uqf.rollout(env, policy, episodes=300, seed=8)
    score = uqf.estimate_return(env, policy, episodes=300, seed=8)
    np.testing.assert_allclose(score.returns, data.returns(env.discount), rtol=1e-12, atol=1e-12)
    assert np.array_equal(score.lengths, data.lengths)
    assert score.mean == score.returns.mean()
    assert score.stderr == pytest.approx(score.returns.std(ddof=1) / np.sqrt(300))


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_a_python_policy_plays_as_its_compiled_twin(name, options):
    env = uqf.make(name, **options)
    table = table_for(env)
    compiled = uqf.rollout(env, table, episodes=10, epsilon=0.2, seed=6)
    played = uqf.rollout(env, InPython(table), episodes=10, epsilon=0.2, seed=6)
    for field in ("actions", "observations", "rewards", "offsets", "terminated"):
        assert np.array_equal(getattr(played, field), getattr(compiled, field)), field
    np.testing.assert_allclose(played.behavior_probs, compiled.behavior_probs, rtol=1e-12)
    score = uqf.estimate_return(env, InPython(table), episodes=10, seed=6)
    np.testing.assert_allclose(score.returns, uqf.estimate_return(env, table, episodes=10, seed=6).returns)


@settings(max_examples=25)
@given(pomdps())
def test_recorded_probabilities_are_those_of_the_mixed_policy(pomdp):
    policy = table_for(pomdp)
    data = uqf.rollout(pomdp, policy, episodes=30, epsilon=0.25, seed=1)
    for episode in data:
        state = policy.initial_state()
        for action, observation, recorded in zip(
            episode.actions.tolist(), episode.observations.tolist(), episode.behavior_probs, strict=True
        ):
            expected = 0.75 * policy.action_probs(state)[action] + 0.25 / pomdp.n_actions
            assert recorded == pytest.approx(expected, rel=1e-12)
            state = policy.update(state, action, observation)


@settings(max_examples=25)
@given(pomdps())
def test_the_uniform_policy_earns_its_exact_value(pomdp):
    score = uqf.estimate_return(pomdp, None, episodes=4000, seed=5)
    exact = random_value(pomdp, pomdp.horizon, pomdp.discount)
    assert abs(score.mean - exact) <= 6 * score.stderr + 1e-9


def test_actions_come_as_often_as_their_probability_says():
    env = uqf.make("tiger")
    data = uqf.rollout(env, table_for(env), episodes=5000, epsilon=0.3, seed=2)
    inverse = 1.0 / data.behavior_probs
    for action in range(3):
        weights = inverse * (data.actions == action)
        assert abs(weights.mean() - 1.0) <= 5 * weights.std() / np.sqrt(len(weights))


def test_full_epsilon_is_the_uniform_policy():
    env = uqf.make("tiger")
    data = uqf.rollout(env, table_for(env), episodes=10, epsilon=1.0)
    np.testing.assert_allclose(data.behavior_probs, 1 / 3, rtol=1e-12)


@pytest.mark.parametrize(
    "policy", [None, uqf.TablePolicy(np.full((7, 3), 1 / 3), 2)], ids=["uniform", "table"]
)
def test_rollouts_in_blocks_are_rollouts(policy):
    env = uqf.make("tiger", horizon=9)
    whole = uqf.rollout(env, policy, episodes=50, seed=3)
    blocks = [uqf.rollout(env, policy, episodes=10, first=first, seed=3) for first in range(0, 50, 10)]
    assert uqf.concatenate(blocks) == whole


class Listens:
    """A policy with `action` alone: deterministic."""

    def initial_state(self):
        return 0

    def update(self, state, action, observation):
        return state + 1

    def action(self, state, rng=None):
        return 0


def test_a_policy_with_action_alone_is_deterministic():
    data = uqf.rollout(uqf.make("tiger"), Listens(), episodes=3)
    assert not data.actions.any()
    assert np.all(data.behavior_probs == 1.0)
    assert np.all(data.rewards == -1.0)


def test_progress_is_called_and_may_stop_the_work():
    env, calls = uqf.make("spocman"), []
    uqf.estimate_return(env, None, episodes=20_000, progress=lambda *call: calls.append(call))
    assert calls == sorted(calls) and {(stage, total) for stage, _, total in calls} == {("episodes", 20_000)}
    assert calls[-1][1] <= 20_000

    def stop(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        uqf.rollout(env, episodes=200_000, progress=stop)


def test_a_single_episode_has_no_standard_error():
    assert uqf.estimate_return(uqf.make("tiger"), None, episodes=1).stderr == float("inf")


class Broken(Listens):
    """A policy that returns `answer` whatever happens."""

    def __init__(self, answer):
        self.answer = answer

    def action(self, state, rng=None):
        return self.answer


class BrokenProbs(Broken):
    def action_probs(self, state):
        return self.answer
