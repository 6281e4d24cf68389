"""What nobody tried is never preferred, whatever rewards are like."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import uqf
from uqf.episodes.propensities import ActionShares, last_observations
from uqf.learn.limits import needed_steps
from uqf.learn.memory.hidden import Growth
from uqf.learn.model_q import ModelSettings
from uqf.learn.support import Support

SMALL = ModelSettings(models=2, growth=Growth(states=6, first=3, explore=3, settle=3))

LEARNERS = {
    "UQF": lambda: uqf.UQF(3, 0.9, on_divergence="horizon"),
    "UQF, returns": lambda: uqf.UQF(3, 0.9, target="return"),
    "SpectralQ": lambda: uqf.SpectralQ(0.9),
    "SummaryQ": lambda: uqf.SummaryQ(0.9),
    "BeliefQ": lambda: uqf.BeliefQ(0.9, states=6, models=1),
    "ContextQ": lambda: uqf.ContextQ(0.9),
    "TableQ": lambda: uqf.TableQ(0.9),
    "ModelQ": lambda: uqf.ModelQ(0.9, settings=SMALL),
    "ModelQ, noisy": lambda: uqf.ModelQ(0.9, model="noisy", settings=SMALL),
}


def log(seed, shift, untaken, lucky=()):
    """Random episodes in which some of five actions were never taken; rewards are around `shift`.

    lucky : steps that took action 4 and were paid far more than any other
    """
    rng = np.random.default_rng(seed)
    taken = np.setdiff1d(np.arange(5), untaken)
    episodes, length = 60, 6
    steps = episodes * length
    actions, rewards = rng.choice(taken, size=steps), shift + rng.normal(size=steps)
    actions[list(lucky)], rewards[list(lucky)] = 4, shift + 10.0
    return uqf.Trajectories(
        actions,
        rng.integers(3, size=steps),
        rewards,
        np.arange(0, steps + 1, length),
        n_actions=5,
        n_observations=3,
        behavior_probs=np.full(steps, 1.0 / len(taken)),
    )


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    shift=st.sampled_from([-100.0, -1.0, 0.0, 50.0]),
    untaken=st.sets(st.integers(0, 4), min_size=1, max_size=4),
    temperature=st.sampled_from([0.0, 0.5, 1e6]),
)
def test_an_action_that_was_never_taken_has_no_probability(name, seed, shift, untaken, temperature):
    data = log(seed, shift, sorted(untaken))
    try:
        learner = LEARNERS[name]().fit(data)
    except uqf.UQFError:
        assume(False)  # the data refuse this learner
    policy = learner.policy_.with_temperature(temperature)
    probs = uqf.policies.policy.probs_along(policy, data)
    assert (probs[:, sorted(untaken)] == 0.0).all()
    assert np.allclose(probs.sum(axis=1), 1.0)
    assert not np.isin(learner.predict(data), sorted(untaken)).any()
    assert any("never taken" in note for note in learner.diagnostics_["notes"])


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    shift=st.sampled_from([-100.0, -1.0, 0.0, 50.0]),
    lucky=st.sets(st.integers(0, 359), min_size=1, max_size=7),
    temperature=st.sampled_from([0.0, 0.5]),
)
def test_an_action_of_a_few_lucky_steps_has_no_probability(name, seed, shift, lucky, temperature):
    """A tenth of an equal share of 360 steps are 7.2: up to seven steps are chance, however well they were paid."""
    data = log(seed, shift, [4], sorted(lucky))
    try:
        learner = LEARNERS[name]().fit(data)
    except uqf.UQFError:
        assume(False)  # the data refuse this learner
    probs = uqf.policies.policy.probs_along(learner.policy_.with_temperature(temperature), data)
    assert (probs[:, 4] == 0.0).all()
    assert any("fewer than 7.2 steps" in note for note in learner.diagnostics_["notes"])


def avoiding(seed, shift, opens):
    """Random episodes of three actions and four observations, in which action o is never taken after o."""
    rng = np.random.default_rng(seed)
    episodes, length, wide = 100, 8, 4
    seen = rng.integers(wide, size=(episodes, length + 1))
    actions = (seen[:, :-1] + rng.integers(1, 3, size=(episodes, length))) % 3
    actions = np.where(seen[:, :-1] == 3, rng.integers(3, size=actions.shape), actions)
    if not opens:
        actions[:, 0] = rng.integers(3, size=episodes)
    rewards = shift + rng.normal(size=actions.shape) + 2.0 * (actions == 0)
    return uqf.Trajectories(
        actions.ravel(),
        seen[:, 1:].ravel(),
        rewards.ravel(),
        np.arange(0, episodes * length + 1, length),
        n_actions=3,
        n_observations=wide,
        first_observations=seen[:, 0] if opens else None,
    )


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    shift=st.sampled_from([-100.0, -1.0, 0.0, 50.0]),
    opens=st.booleans(),
    temperature=st.sampled_from([0.0, 0.5, 1e6]),
)
def test_an_action_that_was_never_taken_after_an_observation_has_no_probability_there(
    name, seed, shift, opens, temperature
):
    data = avoiding(seed, shift, opens)
    try:
        learner = LEARNERS[name]().fit(data)
    except uqf.UQFError:
        assume(False)  # the data refuse this learner
    policy = learner.policy_.with_temperature(temperature)
    other = avoiding(seed + 1, 0.0, opens)
    last, probs = last_observations(other), policy.probs_along(other)
    assert (probs[np.arange(other.n_steps), np.minimum(last, 2)][last < 3] == 0.0).all()
    assert np.allclose(probs.sum(axis=1), 1.0)
    assert (learner.predict(other)[last < 3] != last[last < 3]).all()
    # The same one step at a time, and in many episodes at once.
    state = policy.initial_state(int(other.first_observations[0]) if opens else None)
    for step in range(8):
        np.testing.assert_array_equal(policy.action_probs(state), probs[step])
        state = policy.update(state, int(other.actions[step]), int(other.observations[step]))
    batch = policy.batch(5)
    batch.update(np.ones(5, int), np.arange(5) % 3)
    assert (batch.action_probs()[np.arange(5), np.arange(5) % 3] == 0.0).all()
    (note,) = [note for note in learner.diagnostics_["notes"] if "not chosen there" in note]
    assert "after 3 of 4 observations" in note and "0 after 0" in note


def test_an_observation_that_was_seen_too_seldom_limits_nothing():
    """Ten steps an action are a tenth of an equal share of one step: with fewer, none at all is chance."""
    rng = np.random.default_rng(0)
    actions, seen = rng.integers(1, 3, size=58), np.arange(58) // 57
    data = uqf.Trajectories(
        [*actions, 0, 0], [*seen, 1, 1], np.zeros(60), [0, 29, 60], n_actions=3, n_observations=2
    )
    assert ActionShares.of(data).taken.tolist() == np.bincount(data.actions).tolist()
    support = Support.of(ActionShares.of(data), 2)
    assert support.after.tolist() == [0] and support.then.tolist() == [[False, True, True]]
    assert Support.of(ActionShares.of(data[:1]), 2).after.tolist() == []


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50).filter(any))
def test_some_action_always_has_support_and_ten_steps_always_are_enough(taken):
    needed = needed_steps(np.array(taken))
    assert 0.0 < needed <= 10.0 and max(taken) >= needed


def test_the_front_door_says_so():
    learner = uqf.fit(log(0, -10.0, [1, 3]), discount=0.9)
    assert any("2 of 5 actions were never taken" in note for note in learner.diagnostics_["notes"])
    assert (uqf.policies.policy.probs_along(learner.policy_, log(1, 0.0, []))[:, [1, 3]] == 0.0).all()
