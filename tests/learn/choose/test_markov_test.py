"""Is the last observation a state? Size and power over random worlds, and what the test says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from strategies import trajectories
from uqf.learn.choose.markov_test import MIN_GAIN, Finding


def random_world(seed, *, states=6, shown=None, actions=2):
    """A random world whose states are seen (shown = states), or look alike in groups."""
    rng = np.random.default_rng(seed)
    shown = states if shown is None else shown
    transitions = rng.dirichlet(np.full(states, 0.3), size=(actions, states))
    looks = np.eye(shown)[np.arange(states) % shown]
    return uqf.TabularPOMDP(
        transitions,
        np.stack([looks] * actions),
        rng.normal(size=(actions, states)).round(1),
        np.full(states, 1.0 / states),
        0.9,
        horizon=20,
    )


def log(world, episodes, seed):
    """Random episodes."""
    return uqf.rollout(world, episodes=episodes, seed=seed)


@pytest.mark.parametrize("seed", range(8))
def test_states_that_are_seen_pass(seed):
    test = uqf.markov_test(log(random_world(seed), 400, seed))
    assert test.markov, test.verdict
    assert "is a state as far as the data show" in test.verdict


@pytest.mark.parametrize("seed", range(8))
def test_states_that_look_alike_do_not(seed):
    test = uqf.markov_test(log(random_world(seed, shown=2), 400, seed))
    assert not test.markov, test.verdict
    assert test.findings[0].matters and "is not a state: given" in test.verdict


@pytest.mark.slow
def test_size_and_power_over_random_worlds():
    """Of worlds whose states are seen at most one in fifty is refused; of those that look alike most are found out."""
    seen = [uqf.markov_test(log(random_world(seed), 300, seed)) for seed in range(100)]
    alike = [uqf.markov_test(log(random_world(seed, shown=2), 300, seed)) for seed in range(100)]
    wrong = sum(any(finding.matters for finding in test.findings) for test in seen)
    found = sum(any(finding.matters for finding in test.findings) for test in alike)
    print(
        f"size: {wrong} of 100 worlds with visible states refused; power: {found} of 100 aliased ones found"
    )
    assert wrong <= 2 and found >= 80
    assert not any(test.markov for test in alike)


def test_a_reward_for_the_last_but_one_observation_is_found():
    rng = np.random.default_rng(0)
    seen = rng.integers(2, size=(300, 12))
    rewards = np.concatenate([np.zeros((300, 2)), (seen[:, 1:-1] == seen[:, :-2])[:, :10]], axis=1)
    data = uqf.Trajectories(
        rng.integers(2, size=3600),
        seen.ravel(),
        rewards.ravel().astype(float),
        np.arange(301) * 12,
        n_actions=2,
        n_observations=2,
    )
    assert uqf.markov_test(data).findings[0].event == "rewards and ends"


@pytest.mark.parametrize("episodes", [1, 19])
def test_too_few_episodes_say_nothing(episodes):
    test = uqf.markov_test(log(random_world(0), episodes, 0))
    assert not test.markov
    assert ("tell whether the last observation is a state" in test.verdict) and test.as_dict()[
        "markov"
    ] is False


@given(trajectories(max_episodes=30), st.integers(0, 9))
def test_any_data_get_a_verdict_and_constants_gain_nothing(data, seed):
    test = uqf.markov_test(data, summaries={"nothing": np.zeros(data.n_steps, np.int64)}, seed=seed)
    assert test.verdict.endswith(".")
    for finding in test.findings:
        if finding.summary == "nothing":
            assert finding.gain == 0.0


def test_findings_are_certain_large_or_doubtful():
    assert Finding("x", "y", 2 * MIN_GAIN, 0.1 * MIN_GAIN).matters
    assert not Finding("x", "y", 2 * MIN_GAIN, MIN_GAIN).matters
    assert not Finding("x", "y", 0.5 * MIN_GAIN, 0.5 * MIN_GAIN).clear
    assert Finding("x", "y", 0.0, 0.5 * MIN_GAIN).clear


def test_a_bandit_with_other_arms_in_every_episode_is_found_by_what_an_arm_did_last_time():
    rng = np.random.default_rng(0)
    episodes, steps, arms = 400, 60, 6
    pays = rng.random((episodes, arms))
    actions = rng.integers(arms, size=(episodes, steps))
    won = rng.random((episodes, steps)) < np.take_along_axis(pays, actions, axis=1)
    test = uqf.markov_test(steps_of(actions, won, won))
    assert not test.markov and test.findings[0].summary == "what followed the action last time"


def test_what_certainly_matters_a_little_leaves_doubts():
    rng = np.random.default_rng(0)
    actions = rng.integers(2, size=(1500, 20))
    seen = rng.integers(2, size=(1500, 20))
    # What is seen two steps later is a little likelier to be the same.
    seen[:, 2:] = np.where(rng.random((1500, 18)) < 0.12, seen[:, :-2], seen[:, 2:])
    data = steps_of(actions, seen, np.zeros_like(seen))
    test = uqf.markov_test(data)
    assert test.markov and test.doubted and "nearly a state" in test.verdict
    assert not uqf.markov_test(log(random_world(0), 300, 0)).doubted
    chosen = uqf.fit(data[:300], discount=0.9)
    assert len(chosen.diagnostics_["chosen"]["candidates"]) >= 2


def test_what_reset_showed_long_ago_is_found():
    """A cue is shown by `reset`, noise follows, and the last reward depends on the cue alone."""
    rng = np.random.default_rng(0)
    cue, actions = rng.integers(2, size=400), rng.integers(2, size=(400, 8))
    rewards = np.zeros((400, 8))
    rewards[:, -1] = actions[:, -1] == cue
    test = uqf.markov_test(steps_of(actions, rng.integers(2, size=(400, 8)), rewards, first_observations=cue))
    assert not test.markov
    assert (test.findings[0].summary, test.findings[0].event) == ("the first observation", "rewards and ends")


def steps_of(actions, observations, rewards, **more):
    """Episodes as matrices, (episodes, steps)."""
    episodes, steps = actions.shape
    return uqf.Trajectories(
        actions.ravel(),
        observations.ravel().astype(int),
        rewards.ravel().astype(float),
        np.arange(episodes + 1) * steps,
        n_actions=int(actions.max()) + 1,
        n_observations=2,
        **more,
    )
