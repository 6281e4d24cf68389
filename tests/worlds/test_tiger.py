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
