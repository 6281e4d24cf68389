"""States seen through a sensor that is wrong now and then: their model, and its plans."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from mazes import corridor
from strategies import trajectories
from uqf.learn.noisy_q import Model, Steps


@pytest.fixture(scope="module")
def logged():
    return uqf.rollout(corridor(0.3), episodes=800, seed=0)


def test_how_often_observations_are_wrong_is_found_out(logged):
    learner = uqf.NoisyQ(0.9).fit(logged)
    # A wrong observation is any of five: 0.3 wrong leaves 0.76 right.
    assert learner.diagnostics_["observations_right"] == pytest.approx(0.76, abs=0.08)
    assert (
        uqf.NoisyQ(0.9)
        .fit(uqf.rollout(corridor(0.0), episodes=800, seed=0))
        .diagnostics_["observations_right"]
        > 0.97
    )


def test_it_walks_on_though_the_sensor_is_wrong(logged):
    world = corridor(0.3)
    found = uqf.estimate_return(world, uqf.NoisyQ(0.9).fit(logged).policy_, episodes=2000, seed=1)
    always_right = uqf.ContextPolicy(
        parents=np.zeros(0, int), symbols=np.zeros(0, int), values=np.array([[0.0, 1.0]]), n_observations=5
    )
    assert found.mean > 0.97 * uqf.estimate_return(world, always_right, episodes=2000, seed=1).mean


def test_beliefs_of_the_policy_are_those_of_bayes_rule(logged):
    learner = uqf.NoisyQ(0.9).fit(logged)
    model, shown = learner.model_, learner.shown_
    belief, episode = learner.start_, logged[:1]
    values = learner.policy_.weights[:5].T
    rows = learner.policy_.q_values_along(episode)
    for step, (action, observation) in enumerate(zip(episode.actions, episode.observations, strict=True)):
        np.testing.assert_allclose(rows[step], values @ belief, rtol=1e-4)
        belief = belief @ (model.transitions[action] * (1.0 - learner.ends_)) * shown[:, observation]
        belief /= belief.sum()


@settings(max_examples=15)
@given(trajectories(max_observations=5), st.integers(0, 3))
def test_every_log_has_a_model_with_probabilities(data, seed):
    steps = Steps.of(data)
    model = Model.seen(steps, data.n_observations).trained(steps.data, np.random.default_rng(seed))
    for rows in (model.start, model.transitions, model.symbols):
        np.testing.assert_allclose(rows.sum(axis=-1), 1.0)
        assert (rows >= 0.0).all()
    assert np.isfinite(model.rewards).all()
    assert len(steps.data) == len(data)
    assert steps.data.n_steps == data.n_steps + len(data) * (data.first_observations is not None)
    learner = uqf.NoisyQ(0.9, seed=seed).fit(data)
    again = uqf.NoisyQ(0.9, seed=seed).fit(data)
    np.testing.assert_array_equal(learner.policy_.q_values_along(data), again.policy_.q_values_along(data))


def test_without_mistakes_the_model_counts(logged):
    """A model that trusts what it sees has the likelihood of a table of what follows what."""
    clear = uqf.rollout(corridor(0.0), episodes=300, seed=0)
    steps = Steps.of(clear)
    model = Model.seen(steps, 5, 1.0)
    shown = steps.shown[steps.data.observations]
    symbol = np.bincount(steps.data.observations) / np.bincount(shown)[steps.shown]
    total = 0.0
    for episode in steps.data:
        seen = steps.shown[episode.observations]
        total += np.log(symbol[episode.observations]).sum()
        total += np.log(model.start @ model.transitions[episode.actions[0], :, seen[0]])
        total += np.log(model.transitions[episode.actions[1:], seen[:-1], seen[1:]]).sum()
    assert model.counted(steps.data)[0] == pytest.approx(total, rel=1e-3)


def test_a_first_action_that_is_always_the_same_is_no_reset():
    """Where nothing was shown first, where episodes begin says nothing about where that action leads."""
    rng = np.random.default_rng(0)
    shown = rng.integers(3, size=(200, 4))
    shown[:, 3] = 2  # action 0 always leads to 2, but for the first time
    actions = np.tile([0, 1, 1, 0], 200)
    log = {"n_actions": 2, "n_observations": 3}
    offsets = np.arange(201) * 4
    data = uqf.Trajectories(actions, shown.ravel(), np.zeros(800), offsets, **log)
    model = Model.seen(Steps.of(data), 3)
    visited = np.bincount(shown[:, 2], minlength=3) > 0
    assert visited.all() and (model.transitions[0, :, 2] > 0.99).all()
    first = rng.integers(2, size=200)
    opened = Steps.of(
        uqf.Trajectories(actions, shown.ravel(), np.zeros(800), offsets, first_observations=first, **log)
    )
    np.testing.assert_allclose(
        Model.seen(opened, 3).transitions[-1],
        np.tile(np.bincount(first, minlength=3) / 200, (3, 1)),
        atol=0.01,
    )


def test_too_many_observations_are_refused():
    data = uqf.rollout(uqf.make("spocman"), episodes=3, seed=0)
    with pytest.raises(
        uqf.UQFError, match="observations: NoisyQ has a state for each, 32 at most; use BeliefQ"
    ):
        uqf.NoisyQ().fit(data)


def test_what_was_learned_can_be_saved(logged, tmp_path):
    learner = uqf.NoisyQ(0.9).fit(logged)
    learner.save(tmp_path / "policy")
    np.testing.assert_array_equal(
        uqf.load(tmp_path / "policy").q_values_along(logged[:3]), learner.policy_.q_values_along(logged[:3])
    )
