"""Steps per second of the uniform policy, recorded, in every world; `extra_info` holds the rate."""

import pytest

import uqf

#: Enough steps that one round takes a good part of a second.
EPISODES = {
    "tiger": 200_000,
    "gridworld-near": 100_000,
    "gridworld-mid": 100_000,
    "gridworld-far": 100_000,
    "gridworld-hamilton": 100_000,
    "pocman": 50_000,
    "spocman": 50_000,
}


def tell_rate(benchmark, steps):
    benchmark.extra_info["million_steps_per_second"] = round(steps / benchmark.stats["min"] / 1e6, 2)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", EPISODES)
def test_stepping(benchmark, name, threads):
    env = uqf.make(name)
    options = {"episodes": EPISODES[name], "seed": 1, "threads": threads}
    data = benchmark.pedantic(uqf.rollout, (env,), options, rounds=5, warmup_rounds=1)
    tell_rate(benchmark, data.n_steps)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", EPISODES)
def test_scoring(benchmark, name, threads):
    env = uqf.make(name)
    options = {"episodes": EPISODES[name], "seed": 1, "threads": threads}
    score = benchmark.pedantic(uqf.estimate_return, (env, None), options, rounds=5, warmup_rounds=1)
    tell_rate(benchmark, score.lengths.sum())
