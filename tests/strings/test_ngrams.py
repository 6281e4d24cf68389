"""Witten–Bell n-grams against a plain dictionary."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import string_samples
from uqf.strings import NGrams, Strings


def plain(strings, order, context, symbol):
    """The same by recursion over contexts as tuples; the end and the beginning are both `n_symbols`."""
    edge = strings.n_symbols
    following = defaultdict(Counter)
    for string in strings:
        padded = (edge,) * (order - 1) + string + (edge,)
        for place in range(order - 1, len(padded)):
            for size in range(order):
                following[padded[place - size : place]][padded[place]] += 1

    def probability(context):
        lower = probability(context[1:]) if context else 1.0 / (edge + 1)
        counts = following[context]
        if not counts:
            return lower
        return (counts[symbol] + len(counts) * lower) / (counts.total() + len(counts))

    return probability(context)


@settings(max_examples=50)
@given(string_samples(max_symbols=2), st.integers(1, 3), st.data())
def test_probabilities_are_those_of_the_dictionary(strings, order, data):
    made = NGrams(strings, order)
    context = data.draw(st.lists(st.integers(0, strings.n_symbols), min_size=order - 1, max_size=order - 1))
    contexts = np.array([context], np.int64).reshape(1, order - 1)
    found = made.probabilities(contexts)[0]
    assert found == pytest.approx(
        [plain(strings, order, tuple(context), symbol) for symbol in range(strings.n_symbols + 1)]
    )
    assert found.sum() == pytest.approx(1.0)
    assert (found > 0).all()
    symbol = data.draw(st.integers(0, strings.n_symbols))
    assert made.probabilities(contexts, np.array([symbol])) == found[symbol]


def test_contexts_move_on():
    made = NGrams(Strings([[0, 1]], range(2)), 3)
    contexts = made.begin(2)
    assert contexts.tolist() == [[2, 2], [2, 2]]
    assert made.step(contexts, np.array([1, 0])).tolist() == [[2, 1], [2, 0]]
