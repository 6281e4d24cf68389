"""Episodes whose recording stopped before the longest one ended."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from evaluation_worlds import truncated
from uqf import ope
from uqf.ope.truncation import Truncation
from uqf.page.parts import figure


def evaluated(case, seed):
    return ope.evaluate(None, case.log(seed), discount=1.0, return_range=case.return_range, replicates=200)


@pytest.mark.parametrize(
    ("stops", "words"),
    [
        (lambda _, rewards: np.where(rewards == 0.0, 0.3, 0.05), "after low rewards"),
        (lambda _, rewards: np.where(rewards == 1.0, 0.3, 0.05), "after high rewards"),
        (lambda _, rewards: np.where(rewards.cumsum(axis=1) >= 2.0, 0.0, 0.3), "episodes that went badly"),
    ],
)
def test_recording_that_depends_on_what_came_before_makes_the_return_unknown(stops, words):
    case = truncated("recording", stops)
    for seed in range(3):
        estimate = evaluated(case, seed)
        assert estimate.answer is ope.Answer.UNKNOWN
        assert "does not stop at random" in estimate.verdict and words in estimate.verdict


def test_ends_that_are_not_marked_ring_an_alarm():
    """The logged policy itself seems to earn more than the log shows: both figures are named."""
    case = truncated("ends", lambda _, rewards: 0.6 * rewards, horizon=3)
    for seed in range(5):
        log, estimate = case.log(seed), evaluated(case, seed)
        assert estimate.answer is ope.Answer.UNKNOWN
        assert f"the log itself shows {figure(log.returns().mean())}" in estimate.verdict
        assert "terminated" in estimate.verdict


def test_recording_that_might_as_well_stop_at_random_is_a_condition():
    case = truncated("recording", lambda _, __: 0.1)
    estimate = evaluated(case, 0)
    assert estimate.answer is ope.Answer.CONDITIONAL
    assert "recording stopped for no reason" in estimate.condition
    assert estimate.interval[0] < case.truth < estimate.interval[1]


def test_whole_episodes_and_marked_ends_need_no_condition():
    for case in (
        truncated("whole", lambda _, __: 0.0),
        truncated("ends", lambda _, rewards: 0.3 * rewards, marked=True),
    ):
        assert evaluated(case, 0).known


def test_recording_that_stops_at_random_is_refuted_seldom():
    case = truncated("recording", lambda _, __: np.linspace(0.3, 0.05, 6), episodes=200)
    refuted = sum(bool(Truncation.of(case.log(seed), 1.0).reason) for seed in range(100))
    assert refuted <= 5


@given(st.integers(1, 6), st.integers(0, 99), st.floats(0.0, 1.0))
def test_whole_episodes_earn_what_the_log_shows(horizon, seed, discount):
    data = uqf.rollout(uqf.make("tiger"), episodes=20, horizon=horizon, seed=seed)
    found = Truncation.of(data, discount)
    assert found.early == 0 and not list(found.doubts(1.0))
    assert found.completed == pytest.approx(found.mean)
