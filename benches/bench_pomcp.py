"""Speed of POMCP: simulated steps per second of one thread. Target on pocman: two million."""

import pytest

import uqf
from uqf.baselines import POMCP


@pytest.mark.parametrize("rollouts", ["legal", "preferred"])
@pytest.mark.parametrize("simulations", [64, 1024, 16_384])
@pytest.mark.parametrize("name", ["pocman", "spocman"])
def test_search(benchmark, name, simulations, rollouts):
    planner = POMCP(uqf.make(name), simulations=simulations, rollouts=rollouts)
    state = benchmark(planner.initial_state)
    benchmark.extra_info["simulated steps per second"] = state.simulated_steps / benchmark.stats.stats.min
