"""Text becomes markup in one place, which lets nothing through."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

import uqf.page
from uqf.page.figures import Axis, Drawing, Panel
from uqf.page.render import render, visible
from uqf.printable import printable

hostile = st.text(st.characters() | st.sampled_from("\x1b[]<>&'\"\u202e\u2066\x07\ud800{}%#"))


class Tags(HTMLParser):
    """The tags of a page with their attributes' names, its words, and the values of attributes."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words = [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, [name for name, _ in attributes]))

    def handle_data(self, data):
        self.words += data


@given(hostile)
def test_a_page_shows_text_as_it_is_and_gains_no_tags(text):
    page, plain = (
        Tags(render("notebook.html", name=one, fitted=True, why=one + ".", rows=[(one, one)]))
        for one in (text, "a")
    )
    assert page.tags == plain.tags
    assert page.words.count(printable(text)) >= 4


@given(hostile)
def test_a_figure_stays_well_formed(text):
    panel = Panel(text, Axis(0, 1, 0, 10), Axis(0, 1, 10, 0), text, text)
    panel.line([(0, 0, 0.1), (1, 1, 0.1)], text, text)
    drawing = Drawing([panel], 10, 10, "figure", text)
    root = ElementTree.fromstring(render("standalone.svg", drawing=drawing, keys=[("curve", text, text)]))
    assert {one.tag.rpartition("}")[2] for one in root.iter()} <= {
        "svg", "style", "rect", "g", "text", "line", "polygon", "polyline", "circle", "title"
    }  # fmt: skip


@given(hostile)
def test_what_scripts_read_is_json_that_shows_what_turns_the_direction_of_writing(text):
    content = visible({text: [(text, 1.5, None)]})
    assert content == {printable(text): [[printable(text), 1.5, None]]}
    assert json.loads(json.dumps(content)) == content


def test_no_template_marks_text_as_safe():
    """Nor does it build markup by filters that escape on their own, before a name is made printable."""
    templates = Path(uqf.page.__file__).parent / "templates"
    names = {path.name for path in templates.iterdir()}
    assert {"base.html", "macros.html", "report.html", "page.css", "page.js"} <= names
    for path in templates.iterdir():
        assert not re.search(r"\|\s*(safe|e|escape|forceescape)\b|autoescape", path.read_text()), path
