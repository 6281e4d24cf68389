"""Samples of strings: tokens, empty strings, selections."""

import numpy as np
import pytest
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


def test_what_is_no_list_of_strings_is_told():
    with pytest.raises(TypeError, match="strings = 5: give a list of strings"):
        Strings(5)
    with pytest.raises(TypeError, match=r"strings\[0\] is a int"):
        Strings([1, 2])
    with pytest.raises(ValueError, match="end in -1, as scikit-splearn fills them up"):
        Strings(np.array([[0.0, 1.0], [1.0, -1.0]]))
    assert len(Strings(np.array([[0, 1], [1, 1]]))) == 2


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


def test_misuse_is_named():
    with pytest.raises(TypeError, match="give a list of strings, not a single one"):
        Strings("abba")
    with pytest.raises(TypeError, match=r"strings\[1\] is a int"):
        Strings([[1], 2])
    with pytest.raises(ValueError, match="token 'c' is not in the alphabet of 2 tokens"):
        Strings(["abc"], alphabet="ab")
    with pytest.raises(ValueError, match="lists a token twice"):
        Strings([], alphabet="aa")
    with pytest.raises(IndexError):
        Strings(["a"])[1]


@pytest.mark.parametrize(
    ("symbols", "offsets", "message"),
    [
        ([0, 1], [0, 1], "give n_strings"),
        ([0, 1], [], "give n_strings"),
        ([0, 1], [1, 2], "give n_strings"),
        ([0, 1], [0, 2, 1, 2], "offsets decrease"),
        ([0, 2], [0, 2], "symbols go from 0 to 2: choose 0 to 1"),
        ([-1, 0], [0, 2], "symbols go from -1 to 0"),
    ],
)
def test_arrays_are_checked(symbols, offsets, message):
    with pytest.raises(ValueError, match=message):
        Strings.from_arrays(np.array(symbols), np.array(offsets, int), "ab")
