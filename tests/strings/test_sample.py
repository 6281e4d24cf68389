"""Samples of strings: tokens, empty strings, selections."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import string_samples
from uqf.strings import Strings

LISTS = st.lists(st.lists(st.sampled_from(["a", "bc", "d"]), max_size=4), max_size=6)


@given(LISTS)
def test_tokens_come_back(strings):
    made = Strings(strings)
    assert [list(one) for one in made] == strings
    assert made.lengths.tolist() == [len(one) for one in strings]
    assert list(made.alphabet) == sorted({token for one in strings for token in one})


def test_text_is_a_string_of_characters_and_arrays_are_strings_of_numbers():
    assert list(Strings(["ab", "", "b"])) == [("a", "b"), (), ("b",)]
    assert list(Strings([np.array([2, 0]), np.array([], int)])) == [(2, 0), ()]
    mixed = Strings([["x", 1]])
    assert mixed.alphabet == ("x", 1), "tokens that cannot be sorted keep the order of their appearance"


@given(string_samples(), st.data())
def test_selections_are_those_of_a_list(strings, data):
    listed = list(strings)
    chosen = data.draw(st.lists(st.integers(-len(listed), len(listed) - 1), max_size=5))
    first = data.draw(st.integers(0, len(listed)))
    mask = np.arange(len(listed)) % 2 == 0
    assert list(strings[np.array(chosen, int)]) == [listed[place] for place in chosen]
    assert list(strings[first:]) == listed[first:]
    assert list(strings[mask]) == listed[::2]
    assert [strings[place] for place in chosen] == [listed[place] for place in chosen]
    assert strings[np.array(chosen, int)].alphabet == strings.alphabet
