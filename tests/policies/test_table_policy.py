"""Action probabilities by the last symbol."""

import numpy as np

import uqf
from random_policies import random_table


def test_a_table_acts_by_the_row_of_the_last_symbol_and_begins_with_the_last_row():
    table = random_table(3, 2)
    state = table.initial_state()
    np.testing.assert_array_equal(table.action_probs(state), table.probs[-1])
    np.testing.assert_array_equal(table.action_probs(table.update(state, 2, 1)), table.probs[5])


def test_values_are_logarithms_and_temperature_one_is_the_table_itself():
    table = uqf.TablePolicy(np.tile([0.25, 0.75, 0.0], (7, 1)), 2)
    state = table.initial_state()
    assert table.temperature == 1.0
    np.testing.assert_allclose(table.q_values(state)[:2], np.log([0.25, 0.75]))
    assert np.isneginf(table.q_values(state)[2])
    np.testing.assert_allclose(table.with_temperature(0.5).action_probs(state), [0.1, 0.9, 0.0])
    np.testing.assert_array_equal(table.greedy().action_probs(state), [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(table.greedy().probs, table.probs)
