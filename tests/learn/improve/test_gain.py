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
from uqf.learn.improve.gain import Baseline, Gain, comparable_probs, gain, policy_gain
from uqf.policies.policy import logged_probs, probs_along


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


def boxes(n_actions, episodes, seed, **options):
    """Boxes in a row pay the more often the nearer they are to the one that is shown; opened by chance."""
    rng = np.random.default_rng(seed)
    shown = rng.integers(n_actions, size=(episodes, 11))
    actions = rng.integers(n_actions, size=(episodes, 10))
    paid = rng.random(actions.shape) < 0.9 - 0.8 * np.abs(actions - shown[:, :-1]) / n_actions
    return uqf.Trajectories(
        actions.ravel(),
        shown[:, 1:].ravel(),
        1.0 * paid.ravel(),
        np.arange(episodes + 1) * 10,
        n_actions=n_actions,
        n_observations=n_actions,
        first_observations=shown[:, 0],
        behavior_probs=np.full(actions.size, 1.0 / n_actions),
        **options,
    )


def shown_box(n_actions, worth=1.0):
    """Opens the box that is shown; those beside it come next."""
    distance = np.abs(np.arange(n_actions)[:, None] - np.arange(n_actions))
    return uqf.ObservationPolicy(np.vstack([-worth * distance / n_actions, np.zeros(n_actions)]))


def mean_square(probs, data):
    return float(np.square(probs / propensities(data)).mean())


@pytest.mark.parametrize("n_actions", [3, 10, 40])
@pytest.mark.parametrize("worth", [1e-6, 1.0, 1e6])
def test_a_policy_is_compared_where_the_log_is_worth_half_of_its_steps_to_it(n_actions, worth):
    data = boxes(n_actions, 500, seed=0)
    sharp = shown_box(n_actions, worth)
    assert mean_square(logged_probs(sharp, data), data) > 2.1
    assert mean_square(comparable_probs(sharp, data), data) == pytest.approx(2.0, rel=1e-3)
    soft = sharp.with_temperature(10.0 * worth)
    np.testing.assert_array_equal(comparable_probs(soft, data), logged_probs(soft, data))
    np.testing.assert_array_equal(comparable_probs(None, data), logged_probs(None, data))


def test_of_a_log_by_chance_it_is_the_policy_at_a_higher_temperature():
    data = boxes(10, 500, seed=0)
    probs, sharp = comparable_probs(shown_box(10), data), shown_box(10)
    low, high = 0.0, 10.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        short = mean_square(logged_probs(sharp.with_temperature(middle), data), data) > 2.0
        low, high = (middle, high) if short else (low, middle)
    np.testing.assert_allclose(probs, logged_probs(sharp.with_temperature(high), data), rtol=1e-4)


def skilled(n_actions, episodes, seed):
    """Boxes are opened by somebody who opens the shown one in nine of ten steps; the log does not say so."""
    rng = np.random.default_rng(seed)
    shown = rng.integers(n_actions, size=(episodes, 11))
    actions = np.where(
        rng.random((episodes, 10)) < 0.9, shown[:, :-1], rng.integers(n_actions, size=(episodes, 10))
    )
    return uqf.Trajectories(
        actions.ravel(),
        shown[:, 1:].ravel(),
        1.0 * (actions == shown[:, :-1]).ravel(),
        np.arange(episodes + 1) * 10,
        n_actions=n_actions,
        n_observations=n_actions,
        first_observations=shown[:, 0],
    )


def test_a_policy_better_than_a_skilled_log_gains_as_it_is_compared():
    """Softened towards chance it would be worse than the log: it lost 2 of 9 in every episode."""
    data, held_out = skilled(5, 400, seed=1), skilled(5, 400, seed=2)
    baseline = Baseline.of(data, 0.0)
    for policy, better in ((shown_box(5), True), (shown_box(5, -1.0), False)):
        seen = gain(comparable_probs(policy, held_out), baseline.advantages(held_out), held_out)
        assert (seen.evidence > 5.0) if better else (seen.evidence < -5.0)


def test_two_actions_are_compared_as_they_are_chosen():
    data = boxes(2, 500, seed=0)
    np.testing.assert_allclose(
        comparable_probs(shown_box(2), data), logged_probs(shown_box(2), data), atol=0.01
    )


def test_what_the_log_cannot_say_of_a_sharp_policy_it_says_of_its_order():
    """With forty boxes a greedy policy agrees with one step of forty."""
    data, held_out = boxes(40, 300, seed=1), boxes(40, 300, seed=2)
    sharp, baseline = shown_box(40), Baseline.of(data, 0.0)
    seen = gain(comparable_probs(sharp, held_out), baseline.advantages(held_out), held_out).evidence
    assert seen > 3 * policy_gain(sharp, baseline, held_out).evidence


def test_a_policy_without_support_or_leave_for_most_actions_gets_no_hotter_than_its_values_range():
    plain = boxes(6, 400, seed=3)
    one = comparable_probs(shown_box(6).with_support(np.arange(6) == 2), plain)
    assert (one[plain.actions != 2] == 0.0).all() and (one[plain.actions == 2] > 0.9).all()
    allowed = np.ones((plain.n_steps, 6), np.bool_)
    allowed[np.arange(plain.n_steps), (plain.actions + 1) % 6] = False
    masked = boxes(6, 400, seed=3, allowed=allowed)
    assert mean_square(comparable_probs(shown_box(6), masked), masked) == pytest.approx(2.0, rel=0.05)
