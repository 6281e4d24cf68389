"""Cautious versions of a policy obey the rules of `evaluate`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from evaluation_worlds import WORLDS, remembered_bit
from random_policies import random_table
from strategies import trajectories
from uqf import ope

SHARES = (0.0, 0.1, 0.5, 1.0)


@settings(deadline=None, max_examples=20)
@given(trajectories(), st.integers(0, 99))
def test_the_boldest_version_is_the_policy_itself_and_no_known_interval_is_without_width(data, seed):
    policy = random_table(data.n_actions, data.n_observations, seed)
    found = ope.versions([(policy, share) for share in SHARES], data, discount=0.9, replicates=100)
    assert found[-1] == ope.evaluate(policy, data, discount=0.9, method="importance", replicates=100)
    for one in found:
        assert one.interval[0] < one.interval[1] and not one.known
        if data.behavior_probs is None and one.answer is ope.Answer.CONDITIONAL:
            assert "depended on nothing that the log does not show" in one.condition


@pytest.mark.parametrize("name", ["bit never shown", "actions repeat", "recording stops at random", "loss"])
def test_a_cautious_start_has_the_conditions_of_the_log(name):
    case = WORLDS[name]()
    estimates = ope.versions(
        [(case.first, share) for share in SHARES], case.log(0), discount=1.0, replicates=100
    )
    assert not any(one.known for one in estimates)
    assert all(one.condition for one in estimates)


def test_a_version_lies_between_the_log_and_the_policy():
    """Somebody who decides one step in ten earns about a tenth of the way where steps are independent."""
    log = uqf.rollout(uqf.make("tiger"), episodes=3000, horizon=1, seed=0)
    listening = uqf.TablePolicy(np.tile([0.8, 0.1, 0.1], (7, 1)), 2)
    logged, tenth, _, whole = (
        one.mean for one in ope.versions([(listening, share) for share in SHARES], log, discount=1.0)
    )
    assert logged == pytest.approx(log.returns().mean())
    assert tenth == pytest.approx(0.9 * logged + 0.1 * whole, rel=0.02)


def test_without_propensities_nothing_is_known_of_any_version():
    case = remembered_bit(told=False)
    for one in ope.versions(
        [(case.first, share) for share in SHARES], case.log(0), discount=1.0, return_range=(0, 5)
    ):
        assert one.answer is not ope.Answer.KNOWN and one.interval[0] < one.interval[1]
