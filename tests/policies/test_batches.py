"""Acting in many episodes at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from random_policies import InPython, policies
from uqf import baselines


def some_steps(policy, n, steps, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        actions = rng.integers(policy.n_actions, size=n)
        yield actions, rng.integers(policy.n_observations, size=n), rng.random(n) < 0.2


def moved(policy, states, actions, observations, starts):
    """What single episodes remember after a step; some begin anew."""
    steps = zip(states, actions.tolist(), observations.tolist(), starts, strict=True)
    return [
        policy.initial_state() if start else policy.update(state, action, observation)
        for state, action, observation, start in steps
    ]


@given(policies(), st.integers(1, 5))
def test_a_batch_remembers_what_single_episodes_remember(policy, n):
    batch = policy.batch(n)
    states = [policy.initial_state() for _ in range(n)]
    for actions, observations, starts in some_steps(policy, n, 6):
        np.testing.assert_allclose(batch.action_probs(), [policy.action_probs(state) for state in states])
        batch.update(actions, observations)
        batch.reset(starts)
        states = moved(policy, states, actions, observations, starts)
    assert len(batch) == n


def played(policy, n, threads, seed=3):
    batch = policy.batch(n, seed=seed)
    history = []
    for _, observations, starts in some_steps(policy, n, 5):
        actions = batch.act(threads=threads)
        batch.update(actions, observations, threads=threads)
        batch.reset(starts)
        history.append(actions)
    return np.stack(history)


@given(policies())
def test_batches_act_alike_for_any_number_of_threads(policy):
    one = played(policy, 700, 1)
    assert np.array_equal(one, played(policy, 700, 2))
    assert np.array_equal(one, played(policy, 700, 5))


@pytest.fixture(scope="module")
def learned():
    """Compiled policies, that of a planner, and a user's own."""
    tiger = uqf.make("tiger")
    data = uqf.rollout(tiger, episodes=200, horizon=6, seed=0)
    fitted = baselines.FittedQ(baselines.Window(2), iterations=2).fit(data).policy_
    return {
        "fitted": fitted,
        "qmdp": baselines.QMDP().solve(tiger.tabular()).policy_,
        "random": baselines.RandomPolicy(3, tiger.n_observations),
        "own": InPython(fitted),
    }


KINDS = ["fitted", "qmdp", "random", "own"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_policy_acts_in_parallel_episodes(learned, kind):
    policy, n = learned[kind], 5
    batch = uqf.batch(policy, n, n_actions=3, seed=1)
    states = [policy.initial_state() for _ in range(n)]
    rng = np.random.default_rng(0)
    for _ in range(6):
        probs = batch.action_probs()
        np.testing.assert_allclose(probs, [policy.action_probs(state) for state in states], atol=1e-12)
        actions, observations = batch.act(), rng.integers(2, size=n)
        assert (probs[np.arange(n), actions] > 0).all()
        starts = rng.random(n) < 0.3
        batch.update(actions, observations)
        batch.reset(starts)
        states = moved(policy, states, actions, observations, starts)
    assert len(batch) == n


def episode_of(policy, seed):
    """Actions of an episode, each drawn from a random stream of its own."""
    rng = np.random.default_rng(seed)
    state, actions = policy.initial_state(), []
    for _ in range(200):
        actions.append(policy.action(state, rng))
        state = policy.update(state, actions[-1], int(rng.integers(2)))
    return actions


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "own"])
def test_threads_may_share_a_policy(learned, kind):
    policy = learned[kind]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: episode_of(policy, seed), range(8)))
    assert together == [episode_of(policy, seed) for seed in range(8)]


def test_actions_of_a_batch_have_the_probabilities_of_the_policy():
    probs = np.random.default_rng(0).dirichlet(np.ones(3), 7)
    policy = uqf.TablePolicy(probs, 2)
    actions = policy.batch(30_000, seed=1).act()
    frequency = np.bincount(actions, minlength=3) / len(actions)
    assert np.abs(frequency - probs[-1]).max() < 5 * np.sqrt(0.25 / len(actions))


def test_a_batch_may_be_shared_by_threads():
    policy = uqf.TablePolicy(np.full((7, 3), 1 / 3), 2)
    batch = policy.batch(1000)
    zeros = np.zeros(1000, np.int64)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: (batch.act(threads=2), batch.update(zeros, zeros)), range(50)))
    assert batch.action_probs().shape == (1000, 3)
