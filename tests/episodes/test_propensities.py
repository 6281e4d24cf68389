"""How probable logged actions were: what the log says, or else one estimate for learning and for evaluation."""

import numpy as np
import pytest
from hypothesis import given

import uqf
from logged import changed, logged
from random_policies import random_table
from strategies import trajectories
from uqf import ope
from uqf.episodes.propensities import PRIOR_STEPS, ActionShares, propensities
from uqf.learn.improve.gain import gain
from uqf.ope.evaluator import Evaluator
from uqf.policies.policy import probs_along


def with_probs(data, probs):
    """The same episodes with other propensities."""
    return changed(data, behavior_probs=probs)


def estimated_propensities(data):
    return ActionShares.of(data).probabilities(data)


@given(trajectories())
def test_estimates_are_frequencies_after_the_last_symbol_drawn_towards_the_overall_ones(data):
    before = []
    for episode in data:
        symbols = (episode.actions * data.n_observations + episode.observations).tolist()
        before += [("start", episode.first_observation), *symbols[:-1]]
    choices = list(zip(before, data.actions.tolist(), strict=True))
    for (symbol, action), estimate in zip(choices, estimated_propensities(data), strict=True):
        overall = np.mean(data.actions == action)
        here, taken = before.count(symbol), choices.count((symbol, action))
        assert estimate == pytest.approx((taken + PRIOR_STEPS * overall) / (here + PRIOR_STEPS))


@given(trajectories())
def test_what_the_log_says_is_believed(data):
    if data.behavior_probs is None:
        np.testing.assert_array_equal(propensities(data), estimated_propensities(data))
    else:
        np.testing.assert_array_equal(propensities(data), data.behavior_probs)


def test_frequencies_after_the_last_symbol_approach_a_behaviour_that_looks_no_further():
    env = uqf.make("tiger")
    behavior = random_table(env.n_actions, env.n_observations, softness=5.0)
    data = uqf.rollout(env, behavior, episodes=20_000, seed=2)
    assert np.abs(estimated_propensities(data) - data.behavior_probs).mean() < 0.02
    estimate = ope.evaluate(behavior, with_probs(data, None), discount=0.9, method="importance")
    assert estimate.propensities == "the last symbol"
    assert not estimate.known and "behavior_prob) are missing" in estimate.verdict
    assert estimate.mean == pytest.approx(data.returns(0.9).mean(), abs=5 * estimate.stderr)


@given(trajectories())
def test_evaluation_and_learning_weigh_the_same_log_alike(data):
    policy = random_table(data.n_actions, data.n_observations)
    factors = Evaluator.of(data, 0.9, 0.95, 100, None, 0).replay(policy).weights.factors
    probs = probs_along(policy, data)[np.arange(data.n_steps), data.actions]
    gains = gain(probs, np.ones(data.n_steps), data).totals
    np.testing.assert_allclose(gains, np.add.reduceat(factors - 1.0, data.offsets[:-1]), atol=1e-9)


def test_the_spectral_policy_divides_by_the_same_estimates():
    data = with_probs(uqf.rollout(uqf.make("tiger"), random_table(3, 2), episodes=300, horizon=6), None)
    parts = uqf.UQF(3).fit(data).policy_.parts()
    rows = {symbol: row for row, symbol in enumerate(parts["symbols"].tolist())}
    expected = estimated_propensities(data)
    for episode, first in zip(data, data.offsets, strict=False):
        row = len(rows) + 1
        for step, (action, observation) in enumerate(episode.history):
            assert parts["propensities"][row, action] == pytest.approx(expected[first + step], rel=1e-12)
            row = rows[action * data.n_observations + observation]


@pytest.mark.parametrize(
    "learner",
    [
        uqf.ContextQ(learning_discount=0.9),
        uqf.BeliefQ(states=4, models=1, learning_discount=0.9),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_log_without_propensities_teaches_what_one_with_the_estimates_teaches(learner):
    env = uqf.make("tiger", horizon=6)
    bare = with_probs(uqf.rollout(env, random_table(3, 2, softness=0.5), episodes=200), None)
    filled = with_probs(bare, estimated_propensities(bare))
    one, other = (learner.fit(data).policy_.parts() for data in (bare, filled))
    for name, part in one.items():
        np.testing.assert_array_equal(part, other[name], err_msg=name)


def telling_apart(episodes, seed):
    """Action 1 pays 1 and action 0 pays 0.4, whatever is seen; which is taken depends on what was seen last."""
    rng = np.random.default_rng(seed)
    length = 4
    observations = rng.integers(2, size=(episodes, length))
    last = np.concatenate([np.zeros((episodes, 1), int), observations[:, :-1]], axis=1)
    actions = (rng.random((episodes, length)) < np.where(last == 1, 0.8, 0.2)).astype(int)
    return logged(actions, observations, 0.4 + 0.6 * actions, n_actions=2, n_observations=2)


@pytest.mark.parametrize(
    "learner",
    [
        uqf.UQF(3, 0.5, max_prefix=1, max_suffix=1),
        uqf.UQF(3, 0.5, max_prefix=1, max_suffix=1, target="return"),
        uqf.ContextQ(0.5, depth=1),
    ],
    ids=["UQF of rewards", "UQF of returns", "ContextQ"],
)
def test_a_behaviour_that_looks_at_the_last_symbol_does_not_colour_what_is_learned(learner):
    histories = [[(action, observation)] for action in range(2) for observation in range(2)]
    values = [learner.fit(telling_apart(4000, seed)).decision_function(histories) for seed in range(4)]
    better = np.diff(np.mean(values, axis=0), axis=1)
    assert (better > 0.1).all()
