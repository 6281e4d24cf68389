"""Names from files on terminals; tests/page has those on pages."""

from hypothesis import given
from hypothesis import strategies as st

from uqf.printable import printable

hostile = st.text(st.characters() | st.sampled_from("\x1b[]<>&'\"\u202e\u2066\x07\ud800"))


@given(hostile)
def test_nothing_is_left_that_a_terminal_obeys(text):
    shown = printable(text)
    assert all(letter.isprintable() or letter in "\n\xa0" for letter in shown)
    shown.encode("utf-8")
    assert printable(shown) == shown


@given(st.text(st.characters(categories=("L", "N", "P", "S"))))
def test_what_can_be_seen_stays(text):
    assert printable(text) == text
