import numpy as np
import pytest

import uqf
from dynamic_programming import observable_optimum


def test_the_arrays_are_the_textbook_ones():
    pomdp = uqf.make("tiger").tabular()
    listen, *doors = range(3)
    assert np.array_equal(pomdp.transitions[listen], np.eye(2))
    assert np.allclose(np.sort(pomdp.observations[listen], -1), [[0.15, 0.85]] * 2)
    assert np.allclose(pomdp.transitions[doors], 0.5)
    assert np.allclose(pomdp.observations[doors], 0.5)
    rewards = np.einsum("ast,ato,asto->as", pomdp.transitions, pomdp.observations, pomdp.rewards_by_outcome())
    assert np.allclose(rewards[listen], -1.0)
    assert np.allclose(np.sort(rewards[doors], -1), [[-100.0, 10.0]] * 2)
    assert np.allclose(rewards[doors].sum(0), -90.0), "the two doors are opposites"
    assert not pomdp.terminal.any()


def test_seeing_the_tiger_wins_ten_a_step():
    env = uqf.make("tiger")
    assert observable_optimum(env.tabular(), 20, 0.95) == pytest.approx(10 * (1 - 0.95**20) / 0.05)


def test_optimal_value_by_belief_iteration():
    """The value 19.37 of the uniform belief, by value iteration on the difference of hints heard so far."""
    pomdp = uqf.make("tiger").tabular()
    discount, most = 0.95, 12
    hints = np.arange(-most, most + 1)
    left = 0.85**hints / (0.85**hints + 0.15**hints)
    towards = left * 0.85 + (1 - left) * 0.15
    open_one = np.maximum(10 * left - 100 * (1 - left), 10 * (1 - left) - 100 * left)
    value = np.zeros(2 * most + 1)
    for _ in range(2000):
        up, down = np.append(value[1:], value[-1]), np.insert(value[:-1], 0, value[0])
        value = np.maximum(
            -1 + discount * (towards * up + (1 - towards) * down), open_one + discount * value[most]
        )
    assert value[most] == pytest.approx(19.37, abs=0.005)
    assert pomdp.n_states == 2
