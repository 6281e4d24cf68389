"""The compiled belief learner does what the plain NumPy of `_reference_beliefs` does."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf
from strategies import trajectories
from uqf import _core
from uqf import _reference_beliefs as reference
from uqf.data.propensities import propensities
from uqf.learn.advantages import RIDGE, VALUE_RIDGE, VALUE_TRACE, learn_values, trace
from uqf.learn.belief_q import belief_features


def trained(data, states=5, iterations=3, seed=0):
    return _core.CloneModels.train(
        data, states=states, models=1, iterations=iterations, episodes=10**6, seed=seed, threads=1
    )


def model_of(models):
    arrays = models.model(0)
    shows = np.empty(len(arrays["start"]), np.int64)
    for observation, (low, high) in enumerate(arrays["ranges"]):
        shows[low:high] = observation
    tables = (np.asarray(arrays[name], np.float64) for name in ("start", "transitions", "events"))
    return reference.Model(*tables, shows), np.array(arrays["edges"])


def episodes_of(data, edges):
    for episode in data:
        classes = np.minimum(np.searchsorted(edges, episode.rewards), len(edges) - 1)
        events = 2 * classes
        events[-1] += episode.terminated
        yield episode.actions, episode.observations, events, episode.terminated


def law_of(data, edges):
    law = np.zeros((data.n_actions, 2 * len(edges)))
    for actions, _, events, _ in episodes_of(data, edges):
        np.add.at(law, (actions, events), 1.0)
    return law / np.maximum(law.sum(axis=1, keepdims=True), 1.0)


@given(trajectories(), st.integers(0, 100))
def test_expected_counts_are_those_of_the_reference(data, seed):
    models = trained(data, seed=seed)
    model, edges = model_of(models)
    counts = reference.expectation(model, list(episodes_of(data, edges)))
    transitions, events, start = models.expected_counts(0, data)
    np.testing.assert_allclose(transitions, counts.transitions, atol=1e-4)
    np.testing.assert_allclose(events, counts.events, atol=1e-4)
    np.testing.assert_allclose(start, counts.start, atol=1e-4)
    assert models.score(data)[0] == pytest.approx(counts.log_likelihood / data.n_steps, abs=1e-4)


@given(trajectories(), st.integers(0, 100))
def test_an_iteration_is_that_of_the_reference(data, seed):
    models = trained(data, seed=seed)
    model, edges = model_of(models)
    counts = reference.expectation(model, list(episodes_of(data, edges)))
    expected = reference.maximisation(model, counts, law_of(data, edges))
    found, _ = model_of(models.iterated(data))
    for mine, theirs in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-4)


def test_the_likelihood_rises_with_plain_iterations():
    data = uqf.rollout(uqf.make("gridworld-mid"), episodes=40, seed=1)
    models = trained(data, states=12, iterations=0)
    scores = [models.score(data)[0]]
    for _ in range(15):
        models = models.iterated(data)
        scores.append(models.score(data)[0])
    # Pseudo-counts bend the likelihood by a little.
    assert np.diff(scores).min() > -1e-3
    assert scores[-1] > scores[0] + 0.05


@given(trajectories(), st.integers(0, 100))
def test_beliefs_are_those_of_the_reference(data, seed):
    # Where the world nearly always ends, what is left of a belief in single precision is rounding.
    assume(not data.terminated.any())
    models = trained(data, seed=seed)
    model, _ = model_of(models)
    expected = [reference.beliefs(model, episode.actions, episode.observations) for episode in data]
    np.testing.assert_allclose(models.beliefs_along(data), np.concatenate(expected), atol=1e-4)


@given(trajectories(), st.floats(0.0, 1.0))
def test_values_and_advantages_are_those_of_the_reference(data, discount):
    assume(len(data) > 1)
    models = trained(data)
    features = belief_features(models, 1)
    rows = features.along(data).astype(np.float64)
    cuts = data.offsets + np.arange(len(data) + 1)
    left, right = VALUE_RIDGE * np.eye(features.width), np.zeros(features.width)
    left[0, 0] = 1e-6
    for index, episode in enumerate(data):
        part = rows[cuts[index] : cuts[index + 1]]
        added = reference.temporal_differences(
            part, episode.rewards, episode.terminated, discount, VALUE_TRACE
        )
        left, right = left + added[0], right + added[1]
    learned = learn_values(features, data, discount)
    value = np.linalg.solve(left, right)
    np.testing.assert_allclose(
        rows @ learned.value, rows @ value, atol=1e-3 * max(1.0, np.abs(rows @ value).max())
    )
    targets, before = [], []
    for index, episode in enumerate(data):
        part = rows[cuts[index] : cuts[index + 1]]
        found = reference.generalised_advantages(
            part @ learned.value, episode.rewards, episode.terminated, discount, trace(len(data))
        )
        targets.append(found)
        before.append(part[:-1])
    targets, before = np.concatenate(targets), np.concatenate(before)
    weights = 1.0 / (data.n_actions * propensities(data))
    for action in range(data.n_actions):
        taken = data.actions == action
        expected = reference.ridge_advantages(before[taken], targets[taken], weights[taken], RIDGE)
        np.testing.assert_allclose(
            learned.advantages[:, action], expected, atol=1e-4 * max(1.0, np.abs(targets).max())
        )
