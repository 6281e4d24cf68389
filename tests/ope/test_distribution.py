"""How returns are distributed under another policy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from evaluation_worlds import truncated, without_propensities
from random_policies import random_table
from uqf import ope


@given(st.integers(0, 99), st.integers(5, 60), st.floats(0.01, 1.0))
def test_logs_of_the_policy_itself_give_their_own_distribution(seed, episodes, share):
    policy = random_table(3, 2, seed)
    data = uqf.rollout(uqf.make("tiger"), policy, episodes=episodes, horizon=4, seed=seed)
    found = ope.distribution(policy, data, discount=0.9, replicates=100)
    returns = np.sort(data.returns(0.9))
    np.testing.assert_allclose(found.returns, returns)
    np.testing.assert_allclose(found.shares, 1 / episodes)
    assert found.quantile(share).value == pytest.approx(np.quantile(returns, share, method="inverted_cdf"))
    assert found.worst(1.0).value == pytest.approx(returns.mean())
    assert found.worst(share).value <= returns.mean() + 1e-9
    assert found.at_least(returns[0]).value == pytest.approx(1.0)
    for one in (found.quantile(share), found.worst(share), found.at_least_logged_mean):
        assert one.low <= one.value <= one.high or found.margin == np.inf


def test_what_the_log_cannot_tell_has_no_band():
    tiger = uqf.make("tiger")
    log = uqf.rollout(tiger, episodes=600, horizon=4, seed=0)
    always = uqf.TablePolicy(np.tile([1.0, 0.0, 0.0], (7, 1)), 2)
    found = ope.distribution(always, log, discount=1.0, replicates=100)
    assert found.answer is ope.Answer.UNKNOWN and "episodes of this policy" in found.lack
    assert found.quantile(0.5)[1:] == found.worst(0.1)[1:] == (-np.inf, np.inf)
    assert found.at_least(0.0)[1:] == (0.0, 1.0)
    bare = ope.distribution(None, without_propensities(log), discount=1.0, replicates=100)
    assert bare.answer is ope.Answer.CONDITIONAL and "depended on nothing" in bare.condition
    cut = truncated("recording", lambda _, __: 0.1).log(0)
    assert "recording stopped early" in ope.distribution(None, cut, discount=1.0, replicates=100).lack
    assert ope.distribution(None, log, discount=1.0, replicates=100).answer is ope.Answer.KNOWN


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.4, 0.5])
def test_bands_hold_the_true_distribution(share):
    """Everywhere at once: compared with a million episodes of the policy itself."""
    tiger = uqf.make("tiger")
    policy = uqf.TablePolicy(np.tile([share, (1 - share) / 2, (1 - share) / 2], (7, 1)), 2)
    truth = np.sort(uqf.estimate_return(tiger, policy, episodes=400_000, horizon=4, seed=7).returns)
    holds, worst = [], []
    for seed in range(100):
        log = uqf.rollout(tiger, episodes=1000, horizon=4, seed=1000 + seed)
        found = ope.distribution(
            policy, log, discount=tiger.discount, return_range=(-400.0, 40.0), replicates=300, seed=seed
        )
        if found.answer is not ope.Answer.KNOWN:
            continue  # right propensities are refuted in one log of a hundred
        places = np.unique(np.round(truth, 6))
        exact = np.searchsorted(truth, places + 1e-5) / len(truth)
        shown = np.array([found.shares[found.returns <= place + 1e-5].sum() for place in places])
        holds.append(np.abs(shown - exact).max() <= found.margin)
        low, high = found.worst(0.1)[1:]
        worst.append(low <= truth[: len(truth) // 10].mean() <= high)
    print(f"share {share}: bands {np.mean(holds)}, mean of the worst tenth {np.mean(worst)}")
    assert len(holds) > 90
    assert np.mean(holds) >= 0.92 and np.mean(worst) >= 0.92
