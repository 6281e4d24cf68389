"""Playing in a learned world."""

import numpy as np
import pytest

import uqf
from random_policies import InPython, random_automaton, random_table
from uqf import ope


def test_a_learned_world_is_played_as_the_real_one():
    # Two states that are told apart only by what was seen two steps ago: the last symbol is no state here.
    transitions = np.array([[[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]], float)
    pomdp = uqf.TabularPOMDP(
        np.repeat(transitions, 2, axis=0),
        np.tile(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), (2, 1, 1)),
        np.array([[0.0, 1, 0, 3], [2, 0, 1, 0]]),
        np.full(4, 0.25),
        discount=0.9,
        horizon=12,
    )
    data = uqf.rollout(pomdp, episodes=4000, seed=0)
    world = ope.CPSRSimulator(8, seed=0).fit(data)
    for policy in (None, random_table(2, 2, seed=1), InPython(random_automaton(2, 2, seed=2))):
        truth = uqf.estimate_return(pomdp, policy, episodes=2000, seed=9)
        played = world.returns(policy, 2000, horizon=12, discount=0.9, seed=3)
        noise = np.hypot(truth.stderr, played.std() / np.sqrt(2000))
        assert abs(played.mean() - truth.mean) < 5 * noise + 0.02 * abs(truth.mean)


def test_a_learned_world_ends_as_the_real_one():
    # Every step ends the episode with probability 0.2 and pays 1; nothing shows it beforehand.
    transitions = np.array([[[0.8, 0.2], [0.0, 1.0]]])
    pomdp = uqf.TabularPOMDP(
        transitions, np.ones((1, 2, 1)), np.ones((1, 2)), [1.0, 0.0], 1.0, terminal=[False, True], horizon=30
    )
    data = uqf.rollout(pomdp, episodes=3000, seed=0)
    estimate = ope.evaluate(None, data, discount=1.0, method="cpsr")
    assert estimate.mean == pytest.approx((1 - 0.8**30) / 0.2, rel=0.05)
    assert not estimate.sufficient and "whose error no log shows" in estimate.verdict
