"""Two threads beside one, on every stage that runs in parallel. The results have the same bits."""

import os
import time

import pytest
from experience import basis, decomposed, learner, random_clones, settings, spocman
from race import Reference, race

import uqf
from uqf import _core
from uqf.learn.spectral.sums import HankelSums

#: Threads share the time of the processor: here the wall counts, and the median of the rounds: the fastest round of one
#: thread alone is one in which nobody else kept the processor from running faster than two threads ever may.
pytestmark = pytest.mark.benchmark(timer=time.perf_counter)

STEPS = 400_000


def stages():
    world, data = uqf.make("spocman"), spocman(STEPS)
    counted = settings(data, basis())
    parts = decomposed(data, 64)
    maps = parts.prefix_map, parts.suffix_map
    policy = learner().fit(spocman(30_000)).policy_
    sample = spocman(100_000)
    models = random_clones(sample, 60, 2)
    return {
        "stepping": lambda threads: uqf.rollout(world, episodes=20_000, threads=threads),
        "accumulation": lambda threads: HankelSums.of(data, counted, threads=threads),
        "second pass": lambda threads: _core.sum_operators(data, counted, *maps, threads=threads),
        "rollouts": lambda threads: uqf.estimate_return(world, policy, episodes=15_000, threads=threads),
        "states along the data": lambda threads: policy.states_along(data, threads=threads),
        "cloned models": lambda threads: models.trained(
            sample, explore=20, settle=0, first=0, seed=0, threads=threads
        ),
    }  # fmt: skip


@pytest.fixture(scope="module", name="stages")
def built_stages():
    return stages()


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor")
@pytest.mark.parametrize(
    "stage",
    ["stepping", "accumulation", "second pass", "rollouts", "states along the data", "cloned models"],
)
def test_two_threads(benchmark, stages, stage):
    work = stages[stage]
    race(
        benchmark,
        lambda: work(2),
        [Reference("one thread", lambda: work(1), "self", target=1.8)],
        stage="two threads", case=stage, amount=1, unit="runs", rounds=15,
        timer=time.perf_counter, statistic="median",
    )  # fmt: skip
