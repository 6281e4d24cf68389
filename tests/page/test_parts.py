import re

import pytest

from uqf.page.graph import Edge, Node, graph
from uqf.page.parts import (
    Interval,
    bars,
    document,
    embedded,
    figure,
    intervals,
    paired_bars,
    percent,
    signed,
    tiles,
)

HOSTILE = '</script><b onclick="x">&'


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-12.345, "−12.3"),
        (331.123, "331.1"),
        (1240.4, "1,240"),
        (24_501_234.0, "24.5 million"),
        (3.2e9, "3.2 billion"),
        (float("inf"), "∞"),
        (0.0001234, "0.000123"),
    ],
)
def test_figures_are_short(value, shown):
    assert figure(value) == shown


def test_signs_and_shares():
    assert signed(3.1) == "+3.1" and signed(-3.1) == "−3.1" and signed(0.0) == "0"
    shares = [percent(share) for share in (0.0, 0.0004, 0.004, 0.05, 0.834, 1.0)]
    assert shares == ["0 %", "< 0.1 %", "0.4 %", "5 %", "83 %", "100 %"]


def test_names_cannot_break_the_markup():
    node = Node(HOSTILE, HOSTILE, HOSTILE, 0.5, 0.2, HOSTILE)
    parts = [
        tiles([(HOSTILE, HOSTILE)]),
        bars([(HOSTILE, 0.3, HOSTILE)]),
        paired_bars([(HOSTILE, 0.3, 0.2)], (HOSTILE, HOSTILE)),
        intervals([Interval(HOSTILE, 0.0, -1.0, 1.0, HOSTILE)], (0.0, HOSTILE)),
        graph([node, node], {HOSTILE: [Edge(0, 1, 0.4), Edge(1, 1, 0.6)]}, "name", HOSTILE),
        embedded([HOSTILE]),
    ]
    text = document(HOSTILE, parts)
    assert "<b onclick" not in text
    assert text.count("</script>") == 2, "one of the data, one of the page"


def test_an_interval_without_ends_is_drawn_within_the_scale():
    markup = intervals(
        [Interval("a", 1.0, -float("inf"), float("inf"), ""), Interval("b", 2.0, 1.5, 2.5, "")]
    )
    assert all(0.0 <= float(share) <= 100.0 for share in re.findall(r"(?:left|width):([\d.]+)%", markup))
