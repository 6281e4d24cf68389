"""How much the logs say about a policy, and when they say too little."""

import numpy as np
import pytest

import uqf
from random_policies import softened
from uqf import ope
from uqf.ope.evaluator import Evaluator


def test_overlap_foresees_weights_that_the_logs_happen_to_lack(no_model):
    # Every step pays 1 and the policy differs from the logs alike everywhere: E[ρ_t²] is a power, known exactly.
    env, horizon = uqf.make("gridworld-hamilton"), 20
    policy = softened(env, 0.25)
    square = np.mean((4 * np.array([0.1875, 0.1875, 0.1875, 0.4375])) ** 2)
    discounts = env.discount ** np.arange(horizon)
    exact = 2000 * discounts.sum() / (discounts @ square ** np.arange(1, horizon + 1))

    def overlap(seed, behavior=None):
        data = uqf.rollout(env, behavior, episodes=2000, horizon=horizon, seed=seed)
        paid = uqf.Trajectories(
            data.actions,
            data.observations,
            np.ones(data.n_steps),
            data.offsets,
            n_actions=env.n_actions,
            n_observations=env.n_observations,
            behavior_probs=data.behavior_probs,
        )
        whole = paid[paid.lengths == horizon]
        log = Evaluator.of(whole, env.discount, 0.95, 100, None, 0, no_model)
        return len(whole) / 2000, log.replay(policy).overlap

    found = [overlap(seed) for seed in range(8)]
    foreseen = np.array([one.foreseen / share for share, one in found])
    shown = np.array([one.shown / share for share, one in found])
    errors, plain = np.abs(foreseen / exact - 1), np.abs(shown / exact - 1)
    assert errors.max() < 0.25
    assert plain.mean() > 2 * errors.mean(), "the weights themselves tell it badly"
    for _, one in found:
        assert one.size == min(one.shown, one.foreseen)
        assert one.stretch == pytest.approx(np.sqrt(one.shown / one.size))
    share, own = overlap(0, policy)
    assert own.shown == pytest.approx(own.foreseen) == pytest.approx(2000 * share)
    assert own.stretch == pytest.approx(1), "nothing is lacking in logs of the policy itself"


def test_too_little_overlap_is_said_and_falls_back_on_a_model():
    env = uqf.make("gridworld-near")
    data = uqf.rollout(env, episodes=300, horizon=40, seed=0)
    far = softened(env, 1.0)
    assert ope.evaluate(far, data, discount=0.95).method == "model"
    asked = ope.evaluate(far, data, discount=0.95, method="importance")
    assert not asked.known
    assert "cannot tell what the policy earns" in asked.verdict
    near = ope.evaluate(softened(env, 0.02), data, discount=0.95)
    assert near.answer is ope.Answer.CONDITIONAL and near.method == "doubly-robust"
    assert "95% confidence" in near.verdict


def test_one_episode_gives_no_interval_rather_than_a_narrow_one():
    data = uqf.rollout(uqf.make("tiger"), episodes=1, seed=0)
    estimate = ope.evaluate(None, data, discount=0.9, method="doubly-robust")
    assert estimate.interval == (-np.inf, np.inf)
    assert not estimate.known


def coverage(name, share, method, repetitions, horizon=25, episodes=1000):
    """(share of repetitions that are known, how many of those cover the truth)

    The seeds had no part in choosing the bounds of sufficiency or the form of the interval.
    """
    env = uqf.make(name)
    policy = softened(env, share)
    truth = uqf.estimate_return(env, policy, episodes=1_000_000, horizon=horizon, seed=77).mean
    results = [
        ope.evaluate(
            policy,
            uqf.rollout(env, episodes=episodes, horizon=horizon, seed=52_000_000 + repetition),
            discount=env.discount,
            method=method,
            replicates=500,
            return_range=(0.0, 1.0),
            seed=repetition,
        )
        for repetition in range(repetitions)
    ]
    covers = [one.interval[0] <= truth <= one.interval[1] for one in results if one.known]
    return len(covers) / repetitions, float(np.mean(covers))


@pytest.mark.parametrize("method", ["importance", "doubly-robust"])
def test_intervals_cover_quick(method):
    known, covered = coverage("gridworld-near", 0.1, method, repetitions=20)
    assert known > 0.9
    assert covered >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("method", ["importance", "doubly-robust"])
@pytest.mark.parametrize(
    ("name", "share", "horizon", "episodes"),
    [
        ("gridworld-near", 0.2, 25, 1500),
        ("gridworld-near", 0.25, 25, 3000),
        ("gridworld-far", 0.05, 60, 1500),
        ("gridworld-hamilton", 0.2, 25, 1500),
    ],
)
def test_intervals_cover_the_truth_in_nine_of_ten_repetitions(name, share, horizon, episodes, method):
    known, covered = coverage(name, share, method, 60, horizon, episodes)
    assert known > 0.5, "the check must not be empty"
    assert covered >= 0.9


def test_a_rare_reward_is_not_trusted_though_the_weights_are():
    env = uqf.make("gridworld-far")
    data = uqf.rollout(env, episodes=1000, horizon=25, seed=1)
    assert 0 < np.count_nonzero(data.returns()) < 5
    estimate = ope.evaluate(softened(env, 0.05), data, discount=env.discount, method="importance")
    assert estimate.effective_sample_size > 100
    assert not estimate.known
    assert "hangs on 2 of the episodes" in estimate.verdict
    both = ope.compare(
        softened(env, 0.05), softened(env, 0.02), data, discount=env.discount, method="importance"
    )
    assert both.answer is ope.Answer.UNKNOWN
    assert (
        "cannot tell the two policies apart, for want of knowledge of the first: what it earns"
        in both.verdict
    )
