"""Policy iteration: rounds, the best of them, and going on."""

import numpy as np
import pytest

import uqf

SMALL = {"memory": "contexts", "depth": 2}


@pytest.fixture(scope="module")
def result():
    env = uqf.make("spocman")
    return env, uqf.policy_iteration(
        env, uqf.UQF(discount=env.discount, **SMALL), iterations=5, episodes=200, seed=1
    )


def test_rounds_are_recorded_and_the_best_is_returned(result):
    env, found = result
    assert [r.kind for r in found.rounds] == ["random", "steps", "steps", "steps", "steps", "fit"]
    assert sum(r.episodes for r in found.rounds) == 5 * 200
    assert found.best == max(r.mean for r in found.rounds[1:])
    score = uqf.estimate_return(env, found.policy, episodes=1000, seed=5)
    assert score.mean > found.rounds[0].mean + 200
    assert abs(score.mean - found.best) < 40


def test_same_seed_same_rounds(result):
    env, found = result
    again = uqf.policy_iteration(
        env, uqf.UQF(discount=env.discount, **SMALL), iterations=5, episodes=200, seed=1, threads=1
    )
    assert [r.mean for r in again.rounds] == [r.mean for r in found.rounds]


def test_going_on_never_loses_the_best(result):
    env, found = result
    more = uqf.policy_iteration(
        env, uqf.UQF(discount=env.discount, **SMALL), iterations=2, episodes=100, seed=1, resume=found
    )
    assert len(more.rounds) > len(found.rounds)
    assert more.best >= found.best


def test_patience_stops_a_search_that_brings_nothing():
    env = uqf.make("tiger", horizon=2)
    found = uqf.policy_iteration(env, uqf.UQF(**SMALL), iterations=50, episodes=20, patience=3, seed=0)
    assert len(found.rounds) < 50


def test_one_round_is_a_fit():
    env = uqf.make("spocman")
    found = uqf.policy_iteration(env, uqf.UQF(**SMALL), iterations=1, episodes=100, seed=2)
    assert len(found.rounds) == 1
    assert uqf.estimate_return(env, found.policy, episodes=200).mean > found.rounds[0].mean


def test_as_the_paper_writes_it():
    env = uqf.make("gridworld-near")
    learner = uqf.UQF.paper(rank=6, discount=0.95, max_prefix=10, max_suffix=10)
    found = uqf.policy_iteration(
        env, learner, iterations=3, episodes=300, epsilon=0.3, method="paper", seed=0
    )
    np.testing.assert_allclose([r.epsilon for r in found.rounds], [0.0, 0.3, 0.15])
    assert found.rounds[1].mean > found.rounds[0].mean
    assert uqf.estimate_return(env, found.policy, episodes=300).mean > 0.4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iterations": 0}, "iterations = 0"),
        ({"episodes": 0}, "episodes = 0"),
        ({"epsilon": 2.0}, "epsilon = 2.0"),
        ({"method": "magic"}, "method = 'magic'"),
        ({"method": "paper", "decay": 1.0}, "decay = 1.0"),
    ],
)
def test_bad_calls(arguments, message):
    with pytest.raises(ValueError, match=message):
        uqf.policy_iteration(
            uqf.make("tiger"), uqf.UQF(**SMALL), **({"iterations": 1, "episodes": 5} | arguments)
        )


def test_learners_without_steps_need_the_papers_way():
    with pytest.raises(TypeError, match="without step"):
        uqf.policy_iteration(uqf.make("tiger"), object(), iterations=2, episodes=5)
