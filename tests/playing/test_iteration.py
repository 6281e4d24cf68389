"""Policy iteration: rounds, the best of them, and going on."""

import numpy as np
import pytest

import uqf
from words import context_words


@pytest.fixture(scope="module")
def result():
    env = uqf.make("spocman")
    learner = uqf.ContextQ(env.discount, depth=2)
    return env, learner, uqf.policy_iteration(env, learner, iterations=5, episodes=200, seed=1)


def test_rounds_are_recorded_and_the_best_is_returned(result):
    env, _, found = result
    assert [r.kind for r in found.rounds] == ["random", "steps", "steps", "steps", "steps", "fit"]
    assert sum(r.episodes for r in found.rounds) == 5 * 200
    assert found.best == max(r.mean for r in found.rounds[1:])
    score = uqf.estimate_return(env, found.policy, episodes=1000, seed=5)
    assert score.mean > found.rounds[0].mean + 200
    assert abs(score.mean - found.best) < 40


def test_same_seed_same_rounds(result):
    env, learner, found = result
    again = uqf.policy_iteration(env, learner, iterations=5, episodes=200, seed=1, threads=1)
    assert [r.mean for r in again.rounds] == [r.mean for r in found.rounds]


def test_going_on_never_loses_the_best(result):
    env, learner, found = result
    more = uqf.policy_iteration(env, learner, iterations=2, episodes=100, seed=1, resume=found)
    assert len(more.rounds) > len(found.rounds)
    assert more.rounds[: len(found.rounds)] == found.rounds
    assert more.best >= found.best


def test_the_learner_that_was_given_stays_as_it_is(result):
    _, learner, _ = result
    assert not hasattr(learner, "policy_")


def test_contexts_of_all_rounds_are_one_tree_so_that_acting_takes_no_longer(result):
    _, learner, found = result
    known = set()
    for round_data in found.data:
        known.update(context_words(learner.improve(round_data, None, 0.1)))
    assert set(context_words(found.current)) <= known
    assert len(found.current.values) == len(set(context_words(found.current)))


def test_policies_do_not_grow_with_the_rounds():
    env = uqf.make("tiger")
    learner = uqf.ContextQ(0.95, depth=2)
    found = uqf.policy_iteration(env, learner, iterations=40, episodes=50, seed=0).current
    # No more than all contexts of up to two symbols, however many rounds were added up.
    symbols = env.n_symbols + 1
    assert len(found.values) <= 1 + symbols + symbols * env.n_symbols


def test_one_round_is_a_fit():
    env = uqf.make("spocman")
    found = uqf.policy_iteration(env, uqf.ContextQ(depth=2), iterations=1, episodes=100, seed=2)
    assert len(found.rounds) == 1
    score = uqf.estimate_return(env, found.policy, episodes=200)
    assert score.mean > found.rounds[0].mean + 4 * np.hypot(score.stderr, found.rounds[0].stderr)


def test_another_learner_may_make_the_last_fit():
    env = uqf.make("tiger", horizon=8)
    final = uqf.BeliefQ(0.95, states=4, models=1)
    found = uqf.policy_iteration(env, uqf.ContextQ(0.95), final=final, iterations=3, episodes=100, seed=0)
    assert found.rounds[-1].kind == "fit"
    assert not hasattr(final, "policy_")
    assert isinstance(found.policy, (uqf.BeliefPolicy, uqf.ContextPolicy))
    fits = [
        uqf.policy_iteration(
            env, uqf.ContextQ(0.95), final=final, iterations=1, episodes=100, seed=seed
        ).policy
        for seed in range(2)
    ]
    assert all(isinstance(policy, uqf.BeliefPolicy) for policy in fits)


@pytest.mark.parametrize(("method", "iterations"), [("improved", 1), ("improved", 3), ("paper", 3)])
def test_every_finished_round_is_reported(method, iterations):
    learner, events = uqf.ContextQ(), []
    found = uqf.policy_iteration(
        uqf.make("tiger"),
        learner,
        iterations=iterations,
        episodes=20,
        method=method,
        progress=lambda *event: events.append(event),
    )
    done = np.cumsum([0, *(one.episodes for one in found.rounds)])
    assert events == [("episodes", count, 20 * iterations) for count in done]


def test_a_policy_to_start_with_is_played_first_and_improved():
    env = uqf.make("tiger")
    learner = uqf.ContextQ(0.95, depth=2, learning_discount=0.85)
    start = learner.fit(uqf.rollout(env, episodes=300, seed=5)).policy_
    settings = {"iterations": 2, "episodes": 100, "epsilon": 0.1, "seed": 3}
    found = uqf.policy_iteration(env, learner, start=start, **settings)
    assert [one.kind for one in found.rounds] == ["steps", "steps", "fit"]
    assert found.rounds[0].mean > -100, "random play earns −340"
    # The second policy has the values of the start, in units of its temperature, and the advantages of a step.
    step = learner.improve(found.data[0], None, 0.3)
    second = start.plus(step)
    played = uqf.rollout(env, second, episodes=50, epsilon=0.1, seed=3, first=100)
    np.testing.assert_array_equal(played.actions, found.data[1].actions)
    again = uqf.policy_iteration(env, learner, start=start, **settings)
    assert [one.mean for one in again.rounds] == [one.mean for one in found.rounds]
    single = uqf.policy_iteration(env, learner, start=start, **settings | {"iterations": 1})
    assert single.policy is start


def as_the_paper_has_it(learner=None, **options):
    env = uqf.make("gridworld-near")
    settings = {"iterations": 3, "episodes": 300, "method": "paper", "seed": 0}
    return env, uqf.policy_iteration(env, learner or uqf.UQF(6, 0.95), **(settings | options))


def test_epsilon_begins_at_one_and_is_halved_after_every_round():
    _, found = as_the_paper_has_it()
    np.testing.assert_allclose([r.epsilon for r in found.rounds], [1.0, 0.5, 0.25])
    _, other = as_the_paper_has_it(epsilon=0.3)
    np.testing.assert_allclose([r.epsilon for r in other.rounds], [0.3, 0.15, 0.075])


def test_the_last_policy_is_returned_whatever_it_scored():
    returns = []
    for seed in range(6):
        env, found = as_the_paper_has_it(seed=seed)
        assert found.policy is found.current
        assert [r.kind for r in found.rounds] == ["paper"] * 3
        returns.append(uqf.estimate_return(env, found.policy, episodes=300).mean)
    assert np.mean(returns) > 0.4, "uniform play earns 0.23"


@pytest.mark.slow
def test_the_literal_reading_of_the_paper_earns_more_from_round_to_round():
    learner = uqf.UQF(6, 0.95, occurrences="start", max_prefix=10, max_suffix=10)
    rounds = [as_the_paper_has_it(learner, seed=seed)[1].rounds for seed in range(3)]
    first, last = (np.mean([listed[place].mean for listed in rounds]) for place in (0, -1))
    assert last > first + 0.1


def test_values_are_divided_by_the_probabilities_of_the_policy_that_played():
    _, found = as_the_paper_has_it(iterations=3)
    behavior, epsilon = found.policy.parts()["behavior"]
    assert epsilon == 0.25
    earlier, before = behavior.parts()["behavior"]
    assert before == 0.5
    assert earlier.parts()["behavior"] is None
    assert earlier.parts()["propensities"] is not None


def test_going_on_is_what_a_longer_run_does():
    _, whole = as_the_paper_has_it(iterations=4)
    _, half = as_the_paper_has_it(iterations=2)
    _, more = as_the_paper_has_it(iterations=2, resume=half)
    assert [(r.mean, r.epsilon) for r in more.rounds] == [(r.mean, r.epsilon) for r in whole.rounds]
    np.testing.assert_array_equal(more.policy.weights, whole.policy.weights)
