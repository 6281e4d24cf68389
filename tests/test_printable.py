"""Names from files on terminals and pages."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from uqf.printable import escape, printable

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


@given(hostile)
def test_a_page_shows_the_same_and_gains_no_tags(text):
    found = []

    class Page(HTMLParser):
        def handle_data(self, data):
            found.append(data)

        def handle_starttag(self, tag, attributes):
            assert (tag, dict(attributes)) == ("b", {"title": printable(text)})

    page = Page()
    page.feed(f'<b title="{escape(text)}">{escape(text)}')
    page.close()
    assert "".join(found) == printable(text)
