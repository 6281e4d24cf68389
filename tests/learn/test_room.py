"""However many observations and actions there are, a fit stays within bounded memory, or says why it would not."""

import subprocess
import sys

import pytest

#: Fits a learner to random episodes of 50 steps, and prints what it said and its peak in megabytes.
CODE = """
import sys
import numpy as np
import uqf

how, n_observations, n_actions, n_steps = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(0)
observations = np.concatenate([rng.permutation(n_observations), rng.integers(n_observations, size=n_steps)])[:n_steps]
data = uqf.Trajectories(
    rng.integers(n_actions, size=n_steps), observations, rng.normal(size=n_steps), np.arange(0, n_steps + 1, 50),
    n_actions=n_actions, n_observations=n_observations,
)
try:
    learner = eval(how)
except (ValueError, uqf.UQFError) as refusal:
    said = str(refusal)
else:
    # Not those of all steps: five thousand for each would take more than any learner.
    probs, said = learner.policy_.probs_along(data[:2]), "fitted"
    assert probs.shape == (100, n_actions) and np.isfinite(probs).all()
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024, said)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")

LEARNERS = {
    "BeliefQ": "uqf.BeliefQ(0.95).fit(data)",
    "ContextQ": "uqf.ContextQ(0.95).fit(data)",
    "ModelQ": "uqf.ModelQ(0.95).fit(data)",
    "ModelQ, noisy": "uqf.ModelQ(0.95, model='noisy').fit(data)",
    "ModelQ, noisy, QMDP": "uqf.ModelQ(0.95, model='noisy', planner='qmdp').fit(data)",
    "ModelQ, QMDP": "uqf.ModelQ(0.95, planner='qmdp').fit(data)",
    "SpectralQ": "uqf.SpectralQ(0.95).fit(data)",
    "SummaryQ": "uqf.SummaryQ(0.95).fit(data)",
    "TableQ": "uqf.TableQ(0.95).fit(data)",
    "UQF": "uqf.UQF(discount=0.95).fit(data)",
    "UQF, days": "uqf.UQF(6, 0.95, projection='hashed').partial_fit(data)",
    "UQF, from the start": "uqf.UQF(discount=0.95, occurrences='start').fit(data)",
    "UQF, returns": "uqf.UQF(discount=0.95, target='return').fit(data)",
    "fit": "uqf.fit(data, discount=0.95)",
}


def peak(name, *sizes):
    """(megabytes that a process of its own had at most, what it said)."""
    command = [sys.executable, "-c", CODE, LEARNERS[name], *map(str, sizes)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    megabytes, said = run.stdout.split(" ", 1)
    return float(megabytes), said.strip()


@pytest.mark.parametrize("name", ["BeliefQ", "fit"])
def test_many_observations_take_little_memory(name):
    """With a state of its own for each of them a model would have 4 · 2,000² numbers, and regressions more."""
    megabytes, said = peak(name, 2_000, 4, 6_000)
    assert megabytes < 600 and said == "fitted"


@pytest.mark.parametrize("name", ["ModelQ", "ModelQ, noisy", "TableQ", "ContextQ", "UQF"])
def test_alphabets_beyond_all_memory_are_refused_by_their_size_or_do_not_matter(name):
    """Tables of all actions after all observations would have 250 million numbers, and models far more."""
    megabytes, said = peak(name, 50_000, 5_000, 6_000)
    assert megabytes < 600
    assert said == "fitted" or "merge" in said, said


@pytest.mark.slow
@pytest.mark.parametrize("n_actions", [10, 1_000])
@pytest.mark.parametrize("name", ["BeliefQ", "fit"])
def test_ten_thousand_observations_fit_into_a_gigabyte(name, n_actions):
    megabytes, said = peak(name, 10_000, n_actions, 100_000)
    assert megabytes < 1_000 and said == "fitted"


@pytest.mark.slow
@pytest.mark.parametrize(("n_observations", "n_actions"), [(50_000, 4), (30, 5_000), (50_000, 5_000)])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_takes_fifty_thousand_observations_and_five_thousand_actions(
    name, n_observations, n_actions
):
    megabytes, said = peak(name, n_observations, n_actions, 20_000)
    assert megabytes < 3_500
    assert said == "fitted" or "merge" in said, said
