"""Speed of learning: both passes against the NumPy twin, growth with the data, a whole fit, acting, memory.

Targets: both passes at least 50 times the twin on 1,000,000 steps; ten times the steps in at most 10.5 times
the time; at most 64 MB above the data; a fit on 500 episodes well under half a second. The twin adds a full
outer product for every pair of words, so most of the ratio is the algorithm (sparse vectors, each side summed
first) and not the language.
"""

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import uqf
from uqf import _core, _reference
from uqf.learn.spectral import decompose
from uqf.learn.state import Basis, Target, block_matrix

RANK, DIM = 40, 200
BASIS = Basis(max_prefix=3, max_suffix=3, projection="hashed", prefix_dim=DIM, suffix_dim=DIM)
TARGET = Target("return", 0.95)


def spocman(steps):
    """Whole episodes with about this many steps."""
    data = uqf.rollout(uqf.make("spocman"), episodes=steps // 60 + 10, seed=1)
    return data[: int(np.searchsorted(data.offsets, steps))]


def two_passes(data):
    """The statistics and the operators, with the decomposition between them: what `learn_state` does."""
    settings = BASIS.settings(data, [TARGET])
    sums = _core.HankelStatistics.accumulate(data, settings, threads=1)
    parts = decompose(block_matrix(sums) / len(data), RANK)
    return _core.sum_operators(data, settings, parts.prefix_map, parts.suffix_map, threads=1)


def twin(data):
    known = [{}, {}]

    def feature(side):
        def phi(word):
            if word not in known[side]:
                known[side][word] = _core.project_words([word], "hashed", DIM, side)[0]
            return known[side][word]

        return phi

    spans = pairwise(data.offsets)
    episodes = [(data.symbols[first:last], data.rewards[first:last]) for first, last in spans]
    return _reference.learn_automaton(
        episodes, data.n_symbols, RANK, feature(0), feature(1),
        target="return", where="anywhere", discount=0.95, max_prefix=3, max_suffix=3,
    )  # fmt: skip


def seconds(work, *arguments, repeats=1):
    """The shortest of a few runs."""
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work(*arguments)
        taken.append(time.perf_counter() - begin)
    return min(taken)


@pytest.mark.parametrize("steps", [100_000, 1_000_000])
def test_two_passes(benchmark, steps):
    """`times the twin`: the twin's time on a small sample, scaled by the number of steps."""
    data, sample = spocman(steps), spocman(1_000)
    benchmark.pedantic(two_passes, (data,), rounds=3, warmup_rounds=1)
    mine = benchmark.stats["min"]
    theirs = seconds(twin, sample, repeats=2) * data.n_steps / sample.n_steps
    benchmark.extra_info["million steps per second"] = round(data.n_steps / mine / 1e6, 2)
    benchmark.extra_info["times the twin"] = round(theirs / mine)


def test_ten_times_the_steps(benchmark):
    """Small and large runs take turns, so that a busy machine slows down both."""
    small, large, taken = spocman(100_000), spocman(1_000_000), []

    def time_the_small_one():
        taken.append(seconds(two_passes, small, repeats=3))
        return (large,), {}

    benchmark.pedantic(two_passes, setup=time_the_small_one, rounds=5, warmup_rounds=1)
    benchmark.extra_info["times as long"] = round(benchmark.stats["min"] / min(taken), 2)
    benchmark.extra_info["times the steps"] = round(large.n_steps / small.n_steps, 2)


@pytest.mark.parametrize("kind", [None, "gaussian", "rademacher", "sparse", "hashed"])
def test_projections(benchmark, kind):
    data = spocman(20_000)
    options = {"n_prefixes": DIM, "n_suffixes": DIM} if kind is None else {"projection": kind}
    learner = uqf.UQF(RANK, 0.95, memory="spectral", target="return", threads=1, **options)
    benchmark.pedantic(learner.fit, (data,), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("maker", ["paper", "return"])
def test_fit_on_500_episodes(benchmark, maker):
    data = uqf.rollout(uqf.make("spocman"), episodes=500, seed=2)
    options = {"projection": "hashed", "prefix_dim": DIM, "suffix_dim": DIM}
    learner = (
        uqf.UQF.paper(RANK, 0.95, **options)
        if maker == "paper"
        else uqf.UQF(RANK, 0.95, memory="spectral", target="return", **options)
    )
    benchmark.pedantic(learner.fit, (data,), rounds=5, warmup_rounds=1)
    benchmark.extra_info["steps"] = data.n_steps


@pytest.mark.parametrize("window", [None, 3])
def test_acting(benchmark, window):
    world = uqf.make("spocman")
    data = uqf.rollout(world, episodes=500, seed=2)
    options = {"projection": "hashed", "prefix_dim": DIM, "suffix_dim": DIM, "window": window}
    policy = uqf.UQF(RANK, 0.95, memory="spectral", target="return", **options).fit(data).policy_
    run = {"episodes": 2_000, "seed": 3, "threads": 1}
    played = benchmark.pedantic(uqf.rollout, (world, policy), run, rounds=3, warmup_rounds=1)
    benchmark.extra_info["million steps per second"] = round(played.n_steps / benchmark.stats["min"] / 1e6, 2)


MEMORY = """
import sys
sys.path.insert(0, sys.argv[1])
from bench_learn import spocman, two_passes

def megabytes(name):
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines[name].split()[0]) / 1024

two_passes(spocman(20_000))  # libraries are in place
data = spocman(1_000_000)
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")  # the peak counts from here
before = megabytes("VmRSS")
two_passes(data)
print(megabytes("VmHWM") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_above_the_data(benchmark):
    """Peak resident memory of both passes over 1,000,000 steps, above the data and the libraries."""
    run = {
        "args": [sys.executable, "-c", MEMORY, str(Path(__file__).parent)],
        "capture_output": True,
        "text": True,
        "check": True,
    }
    done = benchmark.pedantic(subprocess.run, kwargs=run, rounds=1)
    benchmark.extra_info["MB above the data"] = round(float(done.stdout), 1)
