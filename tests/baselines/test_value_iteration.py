"""Fully observable values and the one-step policy, against published and simulated figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from dynamic_programming import observable_optimum
from mazes import random_world
from uqf.baselines import BeliefModel, OneStepBelief, ValueIteration
from uqf.baselines.value_iteration import backup, blind_values, observable_values


@pytest.mark.parametrize("name", ["near", "mid", "far", "hamilton"])
def test_grid_worlds_when_the_state_is_seen(name):
    grid = uqf.make(f"gridworld-{name}").tabular()
    optimum = observable_optimum(grid, 100, grid.discount)
    assert ValueIteration(horizon=100).solve(grid).upper_bound_ == pytest.approx(optimum)


@pytest.mark.parametrize(("name", "reference"), [("near", 0.919), ("mid", 0.904), ("far", 0.846)])
def test_one_step_of_improvement_on_the_grid_worlds(name, reference):
    env = uqf.make(f"gridworld-{name}")
    solved = OneStepBelief().solve(env.tabular())
    score = uqf.estimate_return(env, solved.policy_, episodes=1000, seed=1)
    assert score.mean == pytest.approx(reference, abs=4 * score.stderr + 5e-4)
    assert solved.lower_bound_ < score.mean < solved.upper_bound_


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_endless_values_are_the_fixed_point_and_the_limit(seed):
    pomdp = random_world(seed, states=5, actions=3, terminal=np.arange(5) == 4)
    model = BeliefModel(pomdp)
    values = observable_values(model).max(axis=0)
    np.testing.assert_allclose(backup(model, values).max(axis=0), values, atol=1e-9)
    np.testing.assert_allclose(ValueIteration(horizon=300).solve(pomdp).values_, values, atol=1e-9)
    assert np.all(blind_values(model).max(axis=0) <= values + 1e-9)


def test_discount_one_needs_a_horizon(grid_4x3):
    arrays = (grid_4x3.transitions, grid_4x3.observations, grid_4x3.rewards, grid_4x3.start)
    undiscounted = uqf.TabularPOMDP(*arrays, 1.0, terminal=grid_4x3.terminal)
    # Russell and Norvig (chapter 17) give 0.812 for the top left corner. They charge 0.04 for each state
    # left, we for each move that does not reach an exit: one less.
    values = ValueIteration(horizon=200).solve(undiscounted).values_
    assert values[0] == pytest.approx(0.812 + 0.04, abs=1e-3)
