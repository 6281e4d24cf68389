"""Events that logs hold too few of, or none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kurtosis

from evaluation_worlds import WORLDS, from_columns, one_step_apart, rare_event
from uqf import ope
from uqf.ope.ratios import Ratios, Term, bootstrap
from uqf.ope.tails import Tail, Tails, unseen_share


@given(st.floats(0.2, 0.9), st.integers(300, 3000), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_the_index_of_an_exact_power_law_is_found_whatever_the_units(index, count, shift, scale):
    deviations = scale * (count / np.arange(1, count + 1)) ** index
    tail = Tail.of(deviations)
    assert tail.index == pytest.approx(index)
    assert tail.aliens == 0
    # What lies beyond the largest of so many: ∫ P(X > x) dx, with P(X > x) = (x / scale)^(-1 / index).
    largest = scale * count**index
    beyond = largest * index / (1.0 - index) / count
    assert beyond < tail.allowance < 30.0 * beyond or index > 0.7
    assert Tails.of(deviations + shift).above.index >= 0.0


@given(st.integers(0, 10**6), st.lists(st.floats(1.0, 1e6), min_size=9, max_size=9))
def test_nothing_beyond_the_tenth_decides(seed, extremes):
    values = np.sort(np.random.default_rng(seed).exponential(size=400))[::-1]
    changed = np.concatenate([values[9] + np.array(extremes), values[9:]])
    one, other = Tail.of(values - np.median(values)), Tail.of(changed - np.median(values))
    assert (one.index, one.allowance) == (other.index, other.allowance)


@pytest.mark.parametrize(("count", "aliens"), [(3, 3), (9, 9), (12, 0), (200, 0)])
def test_ten_of_the_rarer_outcome_are_a_tail_of_their_own(count, aliens):
    values = np.random.default_rng(0).normal(size=1000)
    values[:count] += 100.0
    tails = Tails.of(values)
    assert (tails.aliens, tails.has_mean) == (aliens, True)
    assert tails.above.allowance < 0.05, "what is seen often enough does not reach beyond itself"


def test_heavy_tails_have_no_mean_and_short_ones_no_allowance():
    rng = np.random.default_rng(0)
    assert not Tails.of(rng.pareto(0.7, 5000)).has_mean
    assert Tails.of(rng.random(5000)).above.allowance < 1e-4
    assert Tails.of(np.ones(200)).above.allowance == 0.0


@given(st.integers(0, 10**6), st.integers(1, 29), st.floats(1e-300, 1e-13))
def test_rounding_beside_the_largest_has_no_tail(seed, count, dust):
    values = dust * np.random.default_rng(seed).exponential(size=100)
    values[:count] = 1.0
    tails = Tails.of(values)
    assert tails.aliens == (count if count < 10 else 0) and tails.above.allowance == 0.0
    assert tails.below.allowance == 0.0 and tails.has_mean


def test_the_rule_of_three():
    # An event this rare is missing from so many episodes in 5 % of the logs.
    for episodes in (50, 400, 3000):
        assert (1 - unseen_share(0.95, episodes)) ** episodes == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize("method", [None, "importance", "doubly-robust"])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_what_is_too_rare_to_be_in_a_log_is_a_condition_with_its_size(method, noise):
    """An interval that misses the truth for want of a rare event supposes that there is none of its size."""
    case = rare_event(1000.0, 1500, noise=noise)
    log = next(log for log in map(case.log, range(99)) if log.returns().max() < 500.0)
    estimate = ope.evaluate(case.first, log, discount=1.0, method=method, replicates=200)
    low, high = estimate.interval
    assert estimate.answer is ope.Answer.CONDITIONAL and low < high
    percent, size = (
        float(estimate.condition.split(words)[1].split()[0]) for words in ("fewer than ", "more than ")
    )
    share = percent / 100
    assert share == pytest.approx(unseen_share(0.95, estimate.effective_sample_size), rel=0.01)
    assert size == pytest.approx(max(high - estimate.mean, estimate.mean - low) / share, rel=0.02)
    assert share > 1 / 1500 and size < 1000.0, "the condition does not hold in this world"


def test_whoever_knows_what_an_episode_can_earn_has_no_such_condition():
    case = rare_event(1000.0, 1500)
    log = next(log for log in map(case.log, range(99)) if log.returns().max() < 500.0)
    estimate = ope.evaluate(case.first, log, discount=1.0, return_range=(0.0, 1004.0), replicates=200)
    assert estimate.known
    low, high = estimate.interval
    assert low < 2.0 < case.truth < high < 10.0


def test_a_bound_that_sums_of_rewards_miss_by_rounding_is_a_bound():
    rewards = np.full((200, 3), 0.7)
    log = from_columns(np.tile([0, 1, 0], (200, 1)), rewards, np.full((200, 3), 0.5))
    assert log.returns().max() < 2.1 and ope.evaluate(None, log, discount=1.0, return_range=(2.1, 3.0))


@pytest.mark.parametrize("symmetric", [False, True])
def test_few_events_are_not_trusted_whichever_sign_they_have(symmetric):
    case = rare_event(1000.0, 300, symmetric=symmetric, noise=1.0)
    log = next(log for log in map(case.log, range(99)) if 0 < np.count_nonzero(abs(log.returns()) > 500) < 5)
    estimate = ope.evaluate(case.first, log, discount=1.0, replicates=200)
    assert estimate.answer is ope.Answer.UNKNOWN and "hangs on" in estimate.verdict


def test_ordinary_noise_is_trusted():
    case = one_step_apart("noise", lambda rng, size: rng.normal(size=size), 0.0)
    estimate = ope.evaluate(case.first, case.log(0), discount=1.0, replicates=200)
    assert estimate.answer is ope.Answer.CONDITIONAL
    assert estimate.interval[0] < case.truth < estimate.interval[1]


@pytest.mark.parametrize("name", ["pareto 1.5", "lognormal 2"])
def test_heavy_tails_are_told_seldom_or_with_room_for_them(name):
    case = WORLDS[name]()
    estimates = [ope.evaluate(case.first, case.log(seed), discount=1.0, replicates=100) for seed in range(20)]
    told = [one for one in estimates if one.answer is not ope.Answer.UNKNOWN]
    covered = sum(one.interval[0] <= case.truth <= one.interval[1] for one in told)
    assert covered >= len(told) - 2 and len(told) < 20


#: Means of independent returns: the families that the settings of tails were chosen on.
FAMILIES = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "lognormal 1.5": (lambda rng, n: rng.lognormal(0.0, 1.5, n), np.exp(1.125)),
    "lognormal 2": (lambda rng, n: rng.lognormal(0.0, 2.0, n), np.exp(2.0)),
    "Pareto 2.1": (lambda rng, n: rng.pareto(2.1, n), 1 / 1.1),
    "Pareto 1.5": (lambda rng, n: rng.pareto(1.5, n), 2.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_the_table_of_tails(name):
    """Coverage of the mean of 500 returns by the bootstrap alone, where kurtosis is moderate, and with the tail."""
    draw, truth = FAMILIES[name]
    rng = np.random.default_rng([20261119, len(name)])
    rows = []
    for seed in range(400):
        x = draw(rng, 500)
        column = np.ones((500, 1))
        ratios = Ratios((Term(x[:, np.newaxis], column, 0.0 * column, np.ones(1)),))
        _, (low, high) = bootstrap(ratios, level=0.95, replicates=200, seed=seed)
        tails = Tails.of(ratios.contributions())
        holds = low <= truth <= high
        widened = low - tails.below.allowance <= truth <= high + tails.above.allowance
        moderate = 500 / max(kurtosis(x, fisher=False) - 1.0, 1.0) >= 10.0
        rows.append((holds, moderate, tails.has_mean and not tails.aliens, widened))
    alone, moderate, told, widened = np.array(rows).T
    print(
        f"{name}: {alone.mean():.1%} | {alone[moderate].mean():.1%} of {moderate.mean():.0%} | "
        f"{widened[told].mean():.1%} of {told.mean():.0%}"
    )
    assert widened[told].mean() >= 0.92
