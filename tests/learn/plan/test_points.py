"""Point-based plans against values that are known."""

import numpy as np
import pytest

import uqf
from uqf.learn.plan.points import PointSettings, point_plan
from uqf.learn.plan.values import optimal_values


def arrays(world):
    """What `point_plan` is given for a world whose episodes do not end."""
    return (
        np.asarray(world.transitions),
        np.asarray(world.observations).transpose(0, 2, 1),
        np.asarray(world.rewards),
        np.asarray(world.start)[np.newaxis],
    )


@pytest.fixture(scope="module")
def tiger():
    return arrays(uqf.make("tiger").tabular())


def test_the_plan_of_the_tiger_is_worth_what_was_published(tiger):
    """19.37 at a discount of 0.95 (Cassandra's solver); a plan is a lower bound."""
    vectors, value = point_plan(*tiger, 0.95, settings=PointSettings(sweeps=50))
    assert 19.2 <= value <= 19.4 and value > point_plan(*tiger, 0.95, settings=PointSettings(sweeps=5))[1]
    states, some, actions = vectors.shape
    assert (states, actions) == (2, 3) and some >= 1 and vectors.dtype == np.float64
    worth = (np.array([0.5, 0.5]) @ vectors.reshape(2, -1)).reshape(some, actions).max(axis=0)
    assert worth.argmax() == 0, "listen first"
    assert value - 1e-3 <= worth.max() <= 19.4, "the last backup may add something"


def test_no_action_is_worth_more_than_if_the_state_were_known(tiger):
    transitions, _, rewards, _ = tiger
    known = optimal_values(rewards, transitions, 0.95)
    vectors, _ = point_plan(*tiger, 0.95)
    assert (vectors <= known.T[:, np.newaxis] + 1e-3).all()


def test_where_every_state_is_shown_the_plan_is_dynamic_programming():
    rng = np.random.default_rng(0)
    transitions, rewards = 0.9 * rng.dirichlet(np.ones(4), (2, 4)), rng.normal(size=(2, 4))
    vectors, value = point_plan(transitions, np.eye(4)[np.newaxis], rewards, np.eye(4) / 4, 0.9)
    known = optimal_values(rewards, transitions, 0.9)
    np.testing.assert_allclose(vectors.max(axis=(1, 2)), known.max(axis=0), atol=0.02)
    assert value == pytest.approx(known.max(axis=0).mean(), abs=0.02)


def test_without_rewards_to_come_the_next_one_is_planned(tiger):
    vectors, value = point_plan(*tiger, 0.0)
    assert value == pytest.approx(-1.0)
    np.testing.assert_allclose(vectors.max(axis=1).T, tiger[2], atol=1e-5)


def test_what_reset_shows_is_known_to_the_plan():
    """Two states that are never shown again; the right one of two actions earns 1 and ends, the wrong one nothing."""
    transitions, shown, rewards = np.zeros((2, 2, 2)), np.ones((1, 1, 2)), np.eye(2)
    for starts, expected in ((np.eye(2) / 2, 1.0), (np.full((1, 2), 0.5), 0.5)):
        assert point_plan(transitions, shown, rewards, starts, 0.9)[1] == pytest.approx(expected)


def test_the_seed_fixes_the_plan(tiger):
    small = PointSettings(points=40, rounds=2, sweeps=5)
    one, two = (point_plan(*tiger, 0.95, settings=small, seed=3) for _ in range(2))
    assert np.array_equal(one[0], two[0]) and one[1] == two[1]
