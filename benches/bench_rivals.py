"""What the rivals cost beside UQF: fits of the same data in the same run, and acting on a forest.

`ratio to UQF` in the rates is the fastest round of the rival over the fastest of UQF with the same settings.
"""

from time import perf_counter

import pytest

import uqf
from uqf.baselines import CPSR, EM, TPSR, FittedQ, MemorylessQ

#: About ten thousand transitions each.
EPISODES = {"gridworld-far": 120, "spocman": 200}


def fastest(work, rounds=5):
    """Seconds of the fastest of a few rounds."""
    times = []
    for _ in range(rounds):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return min(times)


@pytest.fixture(scope="module", params=EPISODES)
def data(request):
    return uqf.rollout(uqf.make(request.param), episodes=EPISODES[request.param], seed=1)


@pytest.mark.parametrize("regressor", ["extra-trees", "linear", "gradient-boosting"])
def test_fitted_q_iteration(benchmark, data, regressor):
    """A round of fitted-Q on a CPSR state of rank 10, features of all cuts included."""
    settings = {"prefix_dim": 100, "suffix_dim": 100, "projection": "hashed"}
    psr = CPSR(10, **settings).fit(data).psr_
    learner = FittedQ(psr, iterations=2, regressor=regressor)
    benchmark.pedantic(learner.fit, (data,), rounds=3, warmup_rounds=1)
    rounds = benchmark.stats["min"] / 2
    uqf_fit = fastest(lambda: uqf.UQF(10, **settings).fit(data))
    benchmark.extra_info["milliseconds per round and 10,000 transitions"] = round(
        rounds * 1e7 / data.n_steps, 1
    )
    benchmark.extra_info["rounds for the price of a UQF fit"] = round(uqf_fit / rounds, 3)


@pytest.mark.parametrize("projection", [None, "gaussian", "rademacher", "sparse", "hashed"])
def test_psr_fit(benchmark, data, projection):
    """CPSR (TPSR without projection) and UQF with the same settings; the target is a ratio below 1.5."""
    settings = {"max_prefix": 3, "max_suffix": 3}
    if projection is not None:
        settings |= {"projection": projection, "prefix_dim": 100, "suffix_dim": 100}
    else:
        settings |= {"n_prefixes": 500, "n_suffixes": 500}
    learner = (TPSR if projection is None else CPSR)(10, **settings)
    benchmark.pedantic(learner.fit, (data,), rounds=5, warmup_rounds=1)
    rival = uqf.UQF(10, **settings)
    benchmark.extra_info["ratio to UQF"] = round(benchmark.stats["min"] / fastest(lambda: rival.fit(data)), 2)


@pytest.mark.parametrize(
    "learner", [MemorylessQ(), MemorylessQ(2, "q-learning", discount=0.95), EM(5, iterations=20)]
)
def test_other_fits(benchmark, data, learner):
    benchmark.pedantic(learner.fit, (data,), rounds=3, warmup_rounds=1)
    rival = fastest(lambda: uqf.UQF(10).fit(data))
    benchmark.extra_info["ratio to UQF"] = round(benchmark.stats["min"] / rival, 2)


def test_acting_on_a_forest(benchmark):
    """Thirty trees per action at every step, compiled."""
    env = uqf.make("gridworld-far")
    data = uqf.rollout(env, episodes=120, seed=1)
    policy = FittedQ(TPSR(10), iterations=3).fit(data).policy_
    score = benchmark.pedantic(uqf.estimate_return, (env, policy), {"episodes": 1000, "threads": 1}, rounds=3)
    rate = score.lengths.sum() / benchmark.stats["min"] / 1e6
    benchmark.extra_info["million_steps_per_second"] = round(rate, 3)
