"""Events that logs hold too few of, or none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kurtosis, skew

from evaluation_worlds import rare_event
from uqf import ope
from uqf.ope.rare_events import informative_share, unseen_share


@given(st.integers(1, 50), st.integers(51, 3000), st.floats(-1e6, 1e6), st.floats(0.5, 1e9))
def test_of_two_outcomes_the_rarer_one_counts(rare, all_of_them, common, difference):
    returns = np.full(all_of_them, common)
    returns[:rare] += difference
    share = rare / all_of_them
    expected = share * (1 - share) / max((1 - 2 * share) ** 2, share * (1 - share))
    assert informative_share(returns) == pytest.approx(expected, rel=1e-3)


@given(st.lists(st.floats(-100, 100), min_size=5, max_size=40).filter(lambda values: np.ptp(values) > 1e-3))
def test_symmetric_events_count_as_little_as_others(values):
    returns = np.array(values)
    share = informative_share(returns)
    assert share == pytest.approx(1 / max(kurtosis(returns, fisher=False) - 1, 1), rel=1e-6)
    assert share <= 1 / max(skew(returns) ** 2, 1) * (1 + 1e-6), "never more than skewness allows"


@given(st.floats(-1e300, 1e300), st.integers(1, 9))
def test_returns_without_any_difference_tell_nothing(value, count):
    assert informative_share(np.full(count, value)) == 0.0


def test_the_rule_of_three():
    # An event this rare is missing from so many episodes in 5 % of the logs.
    for episodes in (50, 400, 3000):
        assert (1 - unseen_share(0.95, episodes)) ** episodes == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize("method", [None, "importance", "doubly-robust"])
@pytest.mark.parametrize("policy", ["first", "second", "uniform"])
def test_a_log_that_leaves_nothing_to_chance_is_not_trusted(method, policy):
    case = rare_event(1000.0, 1500)
    log = next(log for log in map(case.log, range(99)) if log.rewards.max() <= 1.0)
    estimate = ope.evaluate(getattr(case, policy, None), log, discount=1.0, method=method, replicates=200)
    assert not estimate.known and estimate.interval == (-np.inf, np.inf)
    assert "too rare to be in it" in estimate.verdict
    assert "not known from this log" in estimate.text()


def test_whoever_knows_what_an_episode_can_earn_is_told_how_much_may_be_missing():
    case = rare_event(1000.0, 1500)
    log = next(log for log in map(case.log, range(99)) if log.rewards.max() <= 1.0)
    estimate = ope.evaluate(case.first, log, discount=1.0, return_range=(0.0, 1004.0), replicates=200)
    assert estimate.known
    low, high = estimate.interval
    assert low < 2.0 < case.truth < high < 10.0
    with pytest.raises(ValueError, match="logged ones earn from"):
        ope.evaluate(case.first, log, discount=1.0, return_range=(0.0, 1.0))


@pytest.mark.parametrize("symmetric", [False, True])
def test_few_events_are_not_trusted_whichever_sign_they_have(symmetric):
    case = rare_event(1000.0, 300, symmetric=symmetric, noise=1.0)
    log = next(log for log in map(case.log, range(99)) if 0 < np.count_nonzero(abs(log.returns()) > 500) < 5)
    estimate = ope.evaluate(case.first, log, discount=1.0, replicates=200)
    assert not estimate.known
    assert "hangs on about" in estimate.verdict


def test_ordinary_noise_is_trusted():
    case = rare_event(0.0, 2, noise=1.0)
    estimate = ope.evaluate(case.first, case.log(0), discount=1.0, replicates=200)
    assert estimate.known and estimate.interval[0] < case.truth < estimate.interval[1]
