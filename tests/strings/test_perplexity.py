"""The competition's perplexity against its formula, term by term."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqf.strings import perplexity

PAIRS = st.lists(st.tuples(st.floats(1e-6, 1.0), st.floats(1e-6, 1.0)), min_size=1, max_size=8)


@given(PAIRS)
def test_formula(pairs):
    true, model = zip(*pairs, strict=True)
    bits = 0.0
    for p, q in pairs:
        bits += p / sum(true) * math.log2(q / sum(model))
    assert perplexity(true, model) == pytest.approx(2.0**-bits)


@given(PAIRS)
def test_nothing_is_better_than_the_truth(pairs):
    true, model = map(np.array, zip(*pairs, strict=True))
    assert perplexity(true, true) <= perplexity(true, model) * (1 + 1e-12)


def test_impossible_strings_and_misuse():
    assert perplexity([0.5, 0.5], [1.0, 0.0]) == math.inf
    assert perplexity([1.0, 0.0], [1.0, 0.0]) == 1.0
