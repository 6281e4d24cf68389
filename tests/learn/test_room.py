"""However many observations and actions there are, a fit stays within bounded memory."""

import subprocess
import sys

import pytest

CODE = """
import sys
import numpy as np
import uqf

name, n_observations, n_actions, n_steps = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(0)
observations = np.concatenate([rng.permutation(n_observations), rng.integers(n_observations, size=n_steps)])[:n_steps]
data = uqf.Trajectories(
    rng.integers(n_actions, size=n_steps), observations, rng.normal(size=n_steps), np.arange(0, n_steps + 1, 50),
    n_actions=n_actions, n_observations=n_observations,
)
learner = uqf.fit(data, discount=0.95) if name == "fit" else uqf.BeliefQ(0.95).fit(data)
assert learner.policy_.n_actions == n_actions
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024)
"""


def peak(*arguments):
    """Megabytes that a process of its own had at most."""
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("name", ["BeliefQ", "fit"])
def test_many_observations_take_little_memory(name):
    """With a state of its own for each of them a model would have 4 · 2,000² numbers, and regressions more."""
    assert peak(name, 2_000, 4, 6_000) < 600


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("n_actions", [10, 1_000])
@pytest.mark.parametrize("name", ["BeliefQ", "fit"])
def test_ten_thousand_observations_fit_into_a_gigabyte(name, n_actions):
    assert peak(name, 10_000, n_actions, 100_000) < 1_000
