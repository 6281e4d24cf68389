"""Long episodes, and rewards of any size."""

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from random_policies import random_table
from strategies import trajectories
from uqf import ope
from uqf.ope import last_symbol, ratios
from uqf.ope.estimators import ratios_of
from uqf.ope.evaluator import Evaluator
from uqf.ope.last_symbol import LastSymbolModel


@pytest.mark.parametrize("scale", [1e52, 1e-55, 1e300, 1e-300])
@pytest.mark.parametrize("method", ["importance", "doubly-robust", "model"])
def test_rewards_may_have_any_size(scale, method):
    data = uqf.rollout(uqf.make("tiger"), episodes=200, horizon=3, seed=0)
    policy = random_table(3, 2, softness=5.0)

    def evaluated(rewards):
        log = uqf.Trajectories(**data.__getstate__() | {"rewards": rewards})
        return ope.evaluate(policy, log, discount=0.9, method=method, replicates=100)

    plain, scaled = evaluated(data.rewards), evaluated(data.rewards * scale)
    assert scaled.mean == pytest.approx(scale * plain.mean, rel=1e-9)
    assert scaled.stderr == pytest.approx(scale * plain.stderr, rel=1e-6)
    np.testing.assert_allclose(np.divide(scaled.interval, scale), plain.interval, rtol=1e-6)
    assert scaled.answer is plain.answer


@pytest.mark.parametrize("scale", [1e52, 1e-55, 1e300])
@pytest.mark.parametrize(
    "learn",
    [
        lambda data: uqf.fit(data),
        *(lambda data, kind=kind: kind().fit(data) for kind in (uqf.TableQ, uqf.BeliefQ)),
    ],
)
def test_learners_refuse_absurd_rewards_by_name(scale, learn):
    data = uqf.rollout(uqf.make("tiger"), episodes=30, horizon=3, seed=0)
    absurd = uqf.Trajectories(**data.__getstate__() | {"rewards": data.rewards * scale})
    with pytest.raises(ValueError, match=r"rewards: the largest in size is 1e.*divide all of them"):
        learn(absurd)


def one_long_episode(long, short=999):
    rng = np.random.default_rng(0)
    steps = short + long
    return uqf.Trajectories(
        rng.integers(2, size=steps),
        rng.integers(5, size=steps),
        rng.normal(size=steps),
        [*range(short + 1), steps],
        n_actions=2,
        n_observations=5,
        behavior_probs=np.full(steps, 0.5),
        terminated=np.arange(short + 1) < short,
    )


@pytest.mark.parametrize("discount", [0.99, 1.0])
def test_time_and_memory_grow_with_the_steps(discount):
    policy = random_table(2, 5, softness=20.0)
    seconds, peaks = [], []
    for long in (1_000, 8_000):
        data = one_long_episode(long)
        began = time.process_time()
        tracemalloc.start()
        ope.evaluate(policy, data, discount=discount, method="doubly-robust", replicates=100)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        seconds.append(time.process_time() - began)
    assert peaks[1] < 120e6, "a table of groups and steps alone would take 64 MB, and there were ten"
    assert seconds[1] < 20 * seconds[0] + 1.0


@settings(deadline=None)
@given(trajectories(), st.integers(0, 99))
def test_sparse_sums_are_the_same_sums(data, seed):
    log = Evaluator.of(data, 0.9, 0.95, 100, None, 0)
    logs = log.replay(random_table(data.n_actions, data.n_observations, seed))
    counts = np.random.default_rng(seed).integers(0, 4, (7, logs.weights.n_groups)).astype(float)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for share in (-1.0, 2.0):
            patch.setattr(ratios, "SPARSE", share)
            patch.setattr(ratios, "BLOCK_CELLS", 1 if share > 1 else 10**6)
            found.append(ratios_of([logs], "doubly-robust").resampled(counts))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("discount", [0.9, 0.999, 1.0])
def test_values_far_ahead_are_carried_on(discount, monkeypatch):
    data = uqf.rollout(uqf.make("tiger"), episodes=50, horizon=200, seed=0)
    probs = np.full((data.n_steps, 3), 1 / 3)
    model = LastSymbolModel().fit(data, probs, discount=discount)
    exact = model.values(data, horizon=300)
    monkeypatch.setattr(last_symbol, "MAX_BACKUPS", 40)
    np.testing.assert_allclose(model.values(data, horizon=300), exact, rtol=1e-6)


def test_weights_beyond_floating_point_leave_a_finite_guess():
    data = uqf.Trajectories(
        np.ones(4000, int),
        np.zeros(4000, int),
        np.ones(4000),
        [0, 2000, 4000],
        n_actions=2,
        n_observations=1,
        behavior_probs=np.full(4000, 0.5),
    )
    always = uqf.TablePolicy(np.tile([0.0, 1.0], (3, 1)), 1)
    estimate = ope.evaluate(always, data, discount=1.0, method="importance", replicates=100)
    assert np.isfinite(estimate.mean) and not estimate.known
