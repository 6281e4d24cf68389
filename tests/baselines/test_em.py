"""Baum–Welch: exact counts, a likelihood that never falls, the true model's in the end."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from strategies import pomdps
from uqf.baselines import EM, PSR, TPSR
from uqf.baselines.baum_welch import Tables, expected_counts


@given(pomdps(max_states=3, reward_axes=(3,), terminal=False, horizon=4), st.integers(0, 10_000))
def test_expected_counts_are_those_of_all_paths(pomdp, seed):
    data = uqf.rollout(pomdp, episodes=2, seed=seed)
    model = Tables(pomdp.start, pomdp.transitions, pomdp.observations)
    total, (start, transitions, shown), rewards = expected_counts(data, model)
    likelihood, counts = 0.0, [np.zeros_like(x) for x in (start, transitions, shown, rewards)]
    for episode in data:
        paths, weights = list(itertools.product(range(pomdp.n_states), repeat=len(episode.rewards) + 1)), []
        for path in paths:
            weight = pomdp.start[path[0]]
            for (a, o), s, t in zip(episode.history, path[:-1], path[1:], strict=True):
                weight *= pomdp.transitions[a, s, t] * pomdp.observations[a, t, o]
            weights.append(weight)
        likelihood += np.log(sum(weights))
        for path, weight in zip(paths, np.array(weights) / sum(weights), strict=True):
            counts[0][path[0]] += weight
            steps = zip(episode.history, path[:-1], path[1:], episode.rewards, strict=True)
            for (a, o), s, t, reward in steps:
                counts[1][a, s, t] += weight
                counts[2][a, t, o] += weight
                counts[3][a, s, t] += weight * reward
    assert total == pytest.approx(likelihood)
    for mine, brute in zip((start, transitions, shown, rewards), counts, strict=True):
        np.testing.assert_allclose(mine, brute, atol=1e-9)


@settings(max_examples=8)
@given(pomdps(terminal=False), st.integers(1, 4))
def test_the_likelihood_never_falls(pomdp, n_states):
    data = uqf.rollout(pomdp, episodes=30, seed=1)
    rounds = []
    learner = EM(n_states, iterations=15, tolerance=0.0, pseudo_count=0.0)
    learner.fit(data, progress=lambda number, value: rounds.append(value))
    assert (np.diff(learner.log_likelihoods_) >= -1e-9).all()
    np.testing.assert_array_equal(rounds, learner.log_likelihoods_)
    assert learner.score(data) == pytest.approx(learner.log_likelihoods_[-1], abs=1e-4)


def test_likelihood_and_transitions_approach_the_true_models(noisy):
    data, held_out = uqf.rollout(noisy, episodes=2000, seed=1), uqf.rollout(noisy, episodes=2000, seed=2)
    learner = EM(3, restarts=3, iterations=150).fit(data)
    truth = PSR(uqf.WFA.from_pomdp(noisy, target="probability"), 2, 3).log_likelihood(held_out)
    share = np.bincount(held_out.observations) / held_out.n_steps
    blind = share @ np.log(share)
    assert truth - learner.score(held_out) < 0.02 * (truth - blind)
    assert truth - TPSR(3, max_prefix=2, max_suffix=2).fit(data).score(held_out) < 0.2 * (truth - blind)
    # States come in any order: match them by what they show.
    order = learner.model_.observations[0].argmax(axis=1)
    assert sorted(order) == [0, 1, 2]
    by_place = np.empty((2, 3, 3))
    by_place[np.ix_([0, 1], order, order)] = learner.model_.transitions
    np.testing.assert_allclose(by_place, noisy.transitions, atol=0.06)
