"""The compiled belief learner does what the plain NumPy of `_reference_beliefs` does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from clone_models import iterated, recoded, reference_episodes, reference_model, started
from strategies import trajectories
from uqf import _core
from uqf import _reference_beliefs as reference
from uqf.episodes.propensities import propensities
from uqf.learn.improve.regression import Equations, Regression, ValueSums
from uqf.learn.improve.values import Advantages, learned_value
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.features import Parts

SETTINGS = Regression()

#: Of what a state of a noisy model shows, as `noisy.rs` has it.
SHOWN_PRIOR = 0.02


def law_of(data, edges):
    law = np.zeros((data.n_actions, 2 * len(edges)))
    for actions, _, events, *_ in reference_episodes(data, edges):
        np.add.at(law, (actions, events), 1.0)
    return law / np.maximum(law.sum(axis=1, keepdims=True), 1.0)


@given(trajectories(), st.integers(0, 100), st.booleans())
def test_an_iteration_is_that_of_the_reference(data, seed, noisy):
    layout = _core.CloneLayout(data, states=5, noisy=noisy)
    models = iterated(data, layout=layout, seed=seed)
    model, edges = reference_model(models, data, layout)
    seen = recoded(data, layout)
    counts = reference.expectation(model, list(reference_episodes(seen, edges)))
    prior = {"shown_prior": SHOWN_PRIOR} if noisy else {}
    assert models.score(data)[0] == pytest.approx(counts.log_likelihood / data.n_steps, abs=1e-4)
    expected = reference.maximisation(model, counts, law_of(seen, edges), **prior)
    found, _ = reference_model(models.iterated(data), data, layout)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-4)


def test_the_likelihood_rises_with_plain_iterations():
    data = uqf.rollout(uqf.make("gridworld-mid"), episodes=40, seed=1)
    models = started(data, states=12)
    scores = [models.score(data)[0]]
    for _ in range(15):
        models = models.iterated(data)
        scores.append(models.score(data)[0])
    # Pseudo-counts bend the likelihood by a little.
    assert np.diff(scores).min() > -1e-3
    assert scores[-1] > scores[0] + 0.02


@given(trajectories(), st.integers(0, 100), st.booleans())
def test_beliefs_are_those_of_the_reference(data, seed, noisy):
    # Where the world nearly always ends, what is left of a belief in single precision is rounding.
    data = uqf.Trajectories(**data.__getstate__() | {"terminated": np.zeros(len(data), bool)})
    layout = _core.CloneLayout(data, states=5, noisy=noisy)
    models = iterated(data, layout=layout, seed=seed, models=2)
    rows = BeliefMemory([models], data.n_actions).rows(data, 1)
    expected = []
    for index in range(2):
        model, _ = reference_model(models, data, layout, index)
        parts = [
            reference.beliefs(model, e.actions, e.observations, e.first_observation)
            for e in recoded(data, layout)
        ]
        expected.append(np.concatenate(parts))
    np.testing.assert_array_equal(rows[:, 0], 1.0)
    np.testing.assert_allclose(rows[:, 1:], np.concatenate(expected, axis=1), atol=1e-4)


def episodes_with_rows(rows, data):
    cuts = data.offsets + np.arange(len(data) + 1)
    return [(episode, rows[cuts[index] : cuts[index + 1]]) for index, episode in enumerate(data)]


def two_sizes(data):
    """Beliefs of models of two layouts side by side."""
    return BeliefMemory([iterated(data, states=2), iterated(data, states=6, models=2)], data.n_actions)


# Nearer to 1 the sums in single precision hold nothing of 1 − discount.
@given(trajectories(), st.floats(0.0, 0.999))
def test_values_are_those_of_the_reference(data, discount):
    memory = two_sizes(data)
    rows = memory.rows(data, 1).astype(np.float64)
    left, right = np.zeros((memory.width, memory.width)), np.zeros(memory.width)
    for episode, part in episodes_with_rows(rows, data):
        added = reference.temporal_differences(
            part, episode.rewards, episode.terminated, discount, SETTINGS.value_trace
        )
        left, right = left + added[0], right + added[1]
    sums = ValueSums.of(memory.rows(data, 1), data, discount, SETTINGS.value_trace)
    np.testing.assert_allclose(sums.left, left, atol=1e-5 * data.n_steps)
    np.testing.assert_allclose(sums.right, right, atol=1e-5 * data.n_steps * np.abs(data.rewards).max())
    penalty = np.full(memory.width, SETTINGS.value_ridge)
    penalty[0] = 1e-6
    value = rows @ np.linalg.solve(left + np.diag(penalty), right)
    learned = rows @ learned_value(Parts(memory, data, 1), discount, SETTINGS)
    np.testing.assert_allclose(learned, value, atol=1e-3 * max(1.0, np.abs(value).max()))


@given(trajectories(), st.floats(0.0, 1.0))
def test_advantages_are_those_of_the_reference(data, discount):
    memory = two_sizes(data)
    rows = memory.rows(data, 1).astype(np.float64)
    value = np.random.default_rng(0).normal(size=memory.width)
    targets, before = [], []
    for episode, part in episodes_with_rows(rows, data):
        targets.append(
            reference.generalised_advantages(
                part @ value, episode.rewards, episode.terminated, discount, SETTINGS.decay(len(data))
            )
        )
        before.append(part[:-1])
    targets, before = np.concatenate(targets), np.concatenate(before)
    weights = 1.0 / (data.n_actions * propensities(data))
    penalty = np.full(memory.width, SETTINGS.ridge)
    penalty[0] = SETTINGS.constant_ridge
    sums = Advantages(memory, value, discount, SETTINGS.decay(len(data))).sums(Parts(memory, data, 1))
    ((found, noise),) = Equations(memory, sums.grams, SETTINGS).solved([sums.moments])
    spreads = []
    everything = before.T @ (weights[:, np.newaxis] * before)
    for action in range(data.n_actions):
        taken = data.actions == action
        expected = reference.ridge_advantages(before[taken], targets[taken], weights[taken], penalty)
        size = max(1.0, np.abs(weights[taken] * targets[taken]).sum()) if taken.any() else 1.0
        np.testing.assert_allclose(found[:, action], expected, atol=1e-5 * size)
        if taken.any():
            gram = before[taken].T @ (weights[taken, np.newaxis] * before[taken]) + np.diag(penalty)
            spreads.append(np.trace(np.linalg.solve(gram, everything)) / everything[0, 0])
    expected = np.sqrt((targets**2).mean() * np.mean(spreads))
    assert noise == pytest.approx(expected, rel=1e-3, abs=1e-12)


@given(trajectories(), st.floats(0.0, 1.0))
def test_equations_of_rare_actions_have_the_same_solution(data, discount):
    memory = two_sizes(data)
    value = np.random.default_rng(0).normal(size=memory.width)
    sums = Advantages(memory, value, discount, SETTINGS.decay(len(data))).sums(Parts(memory, data, 1))
    expected = Equations(memory, sums.grams, SETTINGS).solved([sums.moments, sums.moments])
    found = Equations(memory, sums.grams, replace(SETTINGS, noise_actions=1)).solved([sums.moments] * 2)
    for (mine, _), (theirs, _) in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9 * max(1.0, np.abs(theirs).max()))
