"""What is lost by choosing from a log."""

import numpy as np
import pytest
from experiments.ranking import regrets
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.integers(-1000, 1000), min_size=4, max_size=10), st.randoms())
def test_regret_of_the_right_order_is_none_and_of_all_orders_that_of_chance(earned, random):
    truth = {str(number): float(value) for number, value in enumerate(earned)}
    assert regrets(sorted(truth, key=lambda name: -truth[name]), truth) == (0.0, 0.0)
    first = np.mean([regrets([name, *truth], truth)[0] for name in truth])
    assert first == pytest.approx(1.0 if len(set(earned)) > 1 else 0.0)
    order = list(truth)
    random.shuffle(order)
    one, three = regrets(order, truth)
    assert 0.0 <= three <= one
