"""Values of known states: dense and sparse, at discounts that sweeps would never finish with."""

import numpy as np
import pytest
import scipy.sparse

from uqf.learn.plan.values import DecisionProcess, optimal_values, policy_values


def random_tables(states, actions, seed=0):
    rng = np.random.default_rng(seed)
    transitions = np.zeros((actions, states, states))
    for row in transitions.reshape(-1, states):
        row[rng.integers(states, size=6)] = rng.random(6)
        row /= row.sum() * (1.0 + 0.01 * rng.random())
    return rng.normal(size=(actions, states)), transitions


def corridor_tables(states):
    """Right leads to the only large reward, from far away; left pays a little at the other end."""
    right, left = np.eye(states, k=1), np.eye(states, k=-1)
    right[-1, -1] = left[0, 0] = 1.0
    rewards = np.zeros((2, states))
    rewards[0, -1], rewards[1, 0] = 1.0, 0.01
    return rewards, np.stack([right, left])


@pytest.mark.parametrize("discount", [0.0, 0.9, 0.9999])
@pytest.mark.parametrize("tables", [random_tables(60, 3), corridor_tables(60)], ids=["random", "corridor"])
def test_values_are_the_fixed_point(tables, discount):
    rewards, transitions = tables
    pairs = optimal_values(rewards, transitions, discount)
    again = rewards + discount * (transitions @ pairs.max(axis=0))
    np.testing.assert_allclose(pairs, again, rtol=1e-9, atol=1e-9 * np.abs(pairs).max())


@pytest.mark.parametrize("discount", [0.9, 0.9999])
@pytest.mark.parametrize(
    "tables", [random_tables(1600, 2), corridor_tables(1600)], ids=["random", "corridor"]
)
def test_many_states_are_solved_without_dense_matrices_to_a_stated_error(tables, discount):
    rewards, transitions = tables
    states = rewards.shape[1]
    process = DecisionProcess(
        np.repeat(np.arange(states), 2),
        rewards.T.ravel(),
        scipy.sparse.csr_array(transitions.transpose(1, 0, 2).reshape(-1, states)),
    )
    optimum = process.optimal(discount)
    largest = np.abs(optimum.pairs).max()
    assert optimum.error <= 1e-6 * largest
    change = process.worth(process.best(optimum.pairs), discount) - optimum.pairs
    assert np.abs(change).max() <= (1.0 - discount) * 1e-6 * largest
    chosen = process.greedy(optimum.pairs)
    dense = policy_values(
        transitions[chosen % 2, np.arange(states)], rewards[chosen % 2, np.arange(states)], discount
    )
    np.testing.assert_allclose(process.best(optimum.pairs), dense, rtol=1e-6, atol=1e-6 * largest)


def test_a_state_in_which_nothing_may_be_done_is_worth_the_floor():
    process = DecisionProcess(
        np.array([0, 2]), np.array([1.0, 0.0]), np.array([[0.0, 1.0, 0.0], [0, 0, 0]]), -3.0
    )
    np.testing.assert_allclose(process.optimal(0.5).pairs, [1.0 - 1.5, 0.0])
    np.testing.assert_allclose(process.best(process.optimal(0.5).pairs), [-0.5, -3.0, 0.0])
