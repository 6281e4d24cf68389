"""What a policy would gain, judged on logged episodes by single steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from random_policies import random_table
from strategies import trajectories
from uqf.episodes.propensities import propensities
from uqf.episodes.sums import returns_to_go
from uqf.learn.improve.gain import Baseline, Gain, gain, policy_gain
from uqf.policies.policy import probs_along


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("gridworld-near"), episodes=150, seed=3)


def test_the_gain_of_the_behaviour_itself_is_zero(data):
    own = gain(propensities(data), np.ones(data.n_steps), data)
    assert (own.mean, own.stderr, own.evidence) == (0.0, 0.0, 0.0)
    assert policy_gain(None, Baseline.of(data, 0.99), data).mean == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("totals", "stderr", "evidence"),
    [
        ([1.0, 1.0, 1.0], 0.0, np.inf),
        ([-2.0, -2.0], 0.0, -np.inf),
        ([0.0, 0.0], 0.0, 0.0),
        ([5.0], np.inf, 0.0),
        ([1.0, 3.0], 1.0, 2.0),
    ],
)
def test_the_evidence_of_equal_gains_is_infinite_and_that_of_one_episode_nothing(totals, stderr, evidence):
    gain = Gain(np.array(totals))
    assert (gain.stderr, gain.evidence) == (stderr, evidence)


@given(trajectories(), trajectories(), st.floats(0, 1))
def test_the_gain_is_the_sum_of_weighted_advantages_over_a_baseline_by_last_symbol(taught, judge, discount):
    shown = judge.first_observations
    judge = uqf.Trajectories(
        judge.actions % taught.n_actions,
        judge.observations % taught.n_observations,
        judge.rewards,
        judge.offsets,
        n_actions=taught.n_actions,
        n_observations=taught.n_observations,
        behavior_probs=judge.behavior_probs,
        first_observations=None if shown is None else shown % taught.n_observations,
    )
    policy = random_table(taught.n_actions, taught.n_observations)
    horizon = min(discount, 0.95)
    known, returns = {}, returns_to_go(taught, horizon)
    for episode, first in zip(taught, taught.offsets, strict=False):
        before = episode.first_observation
        for step, pair in enumerate(episode.history):
            known.setdefault(before, []).append(returns[first + step])
            before = pair
    probs, behaviour = probs_along(policy, judge), propensities(judge)
    returns_there, totals, step = returns_to_go(judge, horizon), [], 0
    for episode in judge:
        total, before = 0.0, episode.first_observation
        for pair in episode.history:
            seen = known.get(before, [])
            value = (sum(seen) + returns.mean()) / (len(seen) + 1) if seen else returns.mean()
            weight = probs[step, pair[0]] / behaviour[step]
            total += (weight - 1.0) * (returns_there[step] - value)
            before, step = pair, step + 1
        totals.append(total)
    found = policy_gain(policy, Baseline.of(taught, discount), judge)
    np.testing.assert_allclose(found.totals, totals, rtol=1e-6, atol=1e-9)


def test_the_gain_ranks_a_good_policy_above_a_bad_one(data):
    env = uqf.make("gridworld-near")
    good = uqf.WFA.from_pomdp(env.tabular()).discounted(0.99).policy(4, 5)
    baseline = Baseline.of(data, 0.99)
    held_out = uqf.rollout(env, episodes=400, seed=9)
    always_up = uqf.TablePolicy(np.tile([1.0, 0, 0, 0], (21, 1)), 5)
    better, worse = (policy_gain(policy, baseline, held_out) for policy in (good, always_up))
    assert better.mean - worse.mean > 4 * np.hypot(better.stderr, worse.stderr)
    assert better.evidence > 2
