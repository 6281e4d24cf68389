"""What the rivals cost beside UQF on the same data, and acting on a forest.

Before every round of a rival UQF is fitted with the same settings: both meet the same load of the machine.
Ratios are of the fastest rounds. Run with ``pytest benches/bench_rivals.py --benchmark-only``.
"""

from time import perf_counter

import pytest

import uqf
from uqf.baselines import CPSR, EM, TPSR, FittedQ, MemorylessQ

#: About ten thousand transitions each.
EPISODES = {"gridworld-far": 120, "spocman": 200}


@pytest.fixture(scope="module", params=EPISODES)
def data(request):
    return uqf.rollout(uqf.make(request.param), episodes=EPISODES[request.param], seed=1)


def race(benchmark, data, rival, reference, rounds):
    """Fastest fits of both, in seconds."""
    times = []

    def fit_reference():
        began = perf_counter()
        reference.fit(data)
        times.append(perf_counter() - began)

    benchmark.pedantic(rival.fit, (data,), setup=fit_reference, rounds=rounds)
    return benchmark.stats["min"], min(times)


@pytest.mark.parametrize("regressor", ["extra-trees", "linear", "gradient-boosting"])
def test_fitted_q_iteration(benchmark, data, regressor):
    """A round of fitted-Q on a CPSR state of rank 10; computing the features is part of the first of four."""
    settings = {"prefix_dim": 100, "suffix_dim": 100, "projection": "hashed"}
    psr = CPSR(10, **settings).fit(data).psr_
    learner = FittedQ(psr, iterations=4, regressor=regressor)
    seconds, uqf_seconds = race(benchmark, data, learner, uqf.UQF(10, **settings), 3)
    per_round = seconds / 4 * 10_000 / data.n_steps
    benchmark.extra_info["ms per round and 10,000 transitions"] = round(1000 * per_round, 1)
    benchmark.extra_info["UQF fit, ms per 10,000 transitions"] = round(1e7 * uqf_seconds / data.n_steps, 1)


@pytest.mark.parametrize("projection", [None, "gaussian", "rademacher", "sparse", "hashed"])
def test_psr_fit(benchmark, data, projection):
    """CPSR (TPSR without projection); the target is a ratio below 1.5."""
    if projection is None:
        settings, kind = {"n_prefixes": 500, "n_suffixes": 500}, TPSR
    else:
        settings, kind = {"projection": projection, "prefix_dim": 100, "suffix_dim": 100}, CPSR
    seconds, uqf_seconds = race(benchmark, data, kind(10, **settings), uqf.UQF(10, **settings), 7)
    benchmark.extra_info["ratio to UQF"] = round(seconds / uqf_seconds, 2)


@pytest.mark.parametrize(
    "learner",
    [MemorylessQ(), MemorylessQ(2, "q-learning", discount=0.95), EM(5, iterations=20)],
    ids=["table", "q-learning", "em-20-rounds"],
)
def test_other_fits(benchmark, data, learner):
    seconds, uqf_seconds = race(benchmark, data, learner, uqf.UQF(10, projection="hashed"), 3)
    benchmark.extra_info["ratio to UQF"] = round(seconds / uqf_seconds, 2)


def test_acting_on_a_forest(benchmark):
    """Thirty trees per action at every step, compiled."""
    env = uqf.make("gridworld-far")
    policy = FittedQ(TPSR(10), iterations=3).fit(uqf.rollout(env, episodes=120, seed=1)).policy_
    score = benchmark.pedantic(uqf.estimate_return, (env, policy), {"episodes": 1000, "threads": 1}, rounds=3)
    rate = score.lengths.sum() / benchmark.stats["min"] / 1e6
    benchmark.extra_info["million_steps_per_second"] = round(rate, 3)
