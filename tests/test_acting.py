"""Acting in production: batches of episodes, and the interface of Stable-Baselines3."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from test_model_file import policies
from uqf.adapters.sb3 import Predictor

EXAMPLES = Path(__file__).parent.parent / "examples"


def some_steps(policy, n, steps, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        actions = rng.integers(policy.n_actions, size=n)
        yield actions, rng.integers(policy.n_observations, size=n), rng.random(n) < 0.2


@given(policies(), st.integers(1, 5))
def test_a_batch_remembers_what_single_episodes_remember(policy, n):
    batch = policy.batch(n)
    states = [policy.initial_state() for _ in range(n)]
    for actions, observations, starts in some_steps(policy, n, 6):
        np.testing.assert_allclose(batch.action_probs(), [policy.action_probs(state) for state in states])
        batch.update(actions, observations)
        batch.reset(starts)
        states = [
            policy.initial_state() if start else policy.update(state, action, observation)
            for state, action, observation, start in zip(
                states, actions.tolist(), observations.tolist(), starts, strict=True
            )
        ]
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


def test_misuse_of_a_batch_is_named():
    policy = uqf.TablePolicy(np.full((7, 3), 1 / 3), 2)
    with pytest.raises(ValueError, match="n = 0"):
        policy.batch(0)
    batch = policy.batch(2)
    zeros = np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="observation = 2: episode 1 of the batch: choose 0 to 1"):
        batch.update(zeros, np.array([0, 2]))
    with pytest.raises(ValueError, match="array of length 3: there are 2 episodes"):
        batch.update(np.zeros(3, np.int64), zeros)


def test_predict_gives_each_parallel_episode_its_own_memory():
    # After (0, 0) action 1 is taken, after (1, 1) action 0, at the start action 0.
    rule = np.array([1, 1, 1, 0, 0])
    policy = uqf.TablePolicy(np.eye(2)[rule], 2)
    predictor = Predictor(policy)
    actions, state = predictor.predict(np.array([9, 9]))
    assert actions.tolist() == [0, 0], "what reset shows is not looked at"
    actions, state = predictor.predict(np.array([0, 0]), state, np.array([False, True]))
    assert actions.tolist() == [1, 0]
    actions, _ = predictor.predict(np.array([1, 0]), state, deterministic=True)
    assert actions.tolist() == [0, 1]
    single, state = predictor.predict(5)
    assert single.shape == () and int(single) == 0
    with pytest.raises(ValueError, match="2 observations, but state has 1 episodes"):
        predictor.predict(np.array([0, 0]), state)


def test_predict_speaks_names():
    names = uqf.Vocabulary(("wait", "go"), ("red",))
    policy = uqf.TablePolicy(np.eye(2)[[0, 1, 0, 1, 1]], 2)
    predictor = Predictor(policy, vocabulary=names)
    action, state = predictor.predict("red")
    assert action == "go"
    action, state = predictor.predict("red", state)
    assert action == "wait"
    action, _ = predictor.predict("violet", state)
    assert action == "go", "an unknown observation has a code of its own"


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_run(tmp_path, example):
    run = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "mean return" in run.stdout
