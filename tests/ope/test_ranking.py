"""Several policies at once."""

import numpy as np
import pytest

import uqf
from evaluation_worlds import Controller, exact_value, played, without_propensities
from uqf import ope


def world(seed):
    rng = np.random.default_rng([seed, 21])
    pomdp = uqf.TabularPOMDP(
        rng.dirichlet(np.ones(3), (3, 3)),
        rng.dirichlet(np.ones(2), (3, 3)),
        rng.normal(size=(3, 3)),
        rng.dirichlet(np.ones(3)),
        0.95,
    )
    behavior = Controller.of_table(uqf.TablePolicy(np.full((7, 3), 1 / 3), 2))
    policies = {
        f"p{number}": uqf.TablePolicy(0.7 / 3 + 0.3 * rng.dirichlet(np.ones(3), 7), 2) for number in range(5)
    }
    truths = {name: exact_value(pomdp, Controller.of_table(one), 4, 0.95) for name, one in policies.items()}
    reach = float(np.abs(pomdp.rewards).max()) * 4
    return pomdp, behavior, policies, truths, (-reach, reach)


def all_at_once(seed, log_seed, episodes=600):
    """(whether all intervals of values hold, all of differences, whether the best is among the leaders, leaders)"""
    pomdp, behavior, policies, truths, bounds = world(seed)
    log = played(pomdp, behavior, episodes, 4, np.random.default_rng([seed, log_seed, 22]))
    found = ope.rank(policies, log, discount=0.95, return_range=bounds, replicates=300, seed=log_seed)
    values = all(one.interval[0] <= truths[name] <= one.interval[1] for name, one in found.estimates.items())
    differences = all(
        one.interval[0] <= truths[a] - truths[b] <= one.interval[1]
        for (a, b), one in found.differences.items()
    )
    return values, differences, max(truths, key=truths.get) in found.leaders, len(found.leaders)


def test_a_ranking_is_in_order_and_every_pair_is_compared():
    pomdp, behavior, policies, _, bounds = world(0)
    log = played(pomdp, behavior, 800, 4, np.random.default_rng(0))
    never = uqf.TablePolicy(np.tile([1.0, 0.0, 0.0], (7, 1)), 2)
    found = ope.rank(policies | {"far": never}, log, discount=0.95, return_range=bounds, replicates=200)
    assert list(found.estimates)[-1] == "far" and found.estimates["far"].answer is ope.Answer.UNKNOWN
    means = [one.mean for one in found.estimates.values()][:-1]
    assert means == sorted(means, reverse=True)
    assert len(found.differences) == 10 and "far" in found.verdict
    assert all(one.difference >= 0.0 for one in found.differences.values())
    for name, one in found.estimates.items():
        alone = ope.evaluate((policies | {"far": never})[name], log, discount=0.95, return_range=bounds)
        assert one.mean == pytest.approx(alone.mean)
        if one.known:
            assert np.ptp(one.interval) > 1.05 * np.ptp(alone.interval), "all at once is wider than one"
    bare = ope.rank(list(policies.values()), without_propensities(log), discount=0.95, replicates=200)
    assert bare.verdict.startswith("If the logged actions") and set(bare.estimates) == {
        "0",
        "1",
        "2",
        "3",
        "4",
    }


def test_a_clear_winner_leads_alone():
    tiger = uqf.make("tiger")
    log = uqf.rollout(tiger, episodes=2000, horizon=3, seed=0)
    tables = {
        share: uqf.TablePolicy(np.tile([share, (1 - share) / 2, (1 - share) / 2], (7, 1)), 2)
        for share in (0.2, 0.4, 0.7)
    }
    found = ope.rank(
        {str(share): one for share, one in tables.items()}, log, discount=0.95, return_range=(-300, 30)
    )
    assert found.leaders == ("0.7",) and found.verdict == "The best policy is 0.7, with 95% confidence."


@pytest.mark.slow
def test_intervals_of_several_policies_hold_at_once():
    results = np.array([all_at_once(seed, log) for seed in range(8) for log in range(15)])
    print("values", results[:, 0].mean(), "differences", results[:, 1].mean(), "best", results[:, 2].mean())
    assert (results[:, :3].mean(axis=0) >= 0.92).all()
    assert results[:, 3].mean() < 4.0, "the check must not be empty"
