import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from uqf.page.figures import Axis, Drawing, Panel, spread

places = st.lists(st.floats(-1000, 1000), max_size=12)


@given(places, st.floats(0.5, 50), st.floats(-500, 0), st.floats(0, 3000))
def test_spread_places_keep_their_distance_their_order_and_their_bounds(wanted, distance, low, length):
    found = spread(wanted, distance, low, low + length)
    order = np.argsort(wanted, kind="stable")
    gaps = np.diff(np.array(found)[order])
    assert np.all(gaps >= distance - 1e-6)
    assert all(place >= low - 1e-6 for place in found)
    if (len(wanted) - 1) * distance <= length:
        assert all(place <= low + length + 1e-6 for place in found)


@given(places, st.floats(0.5, 50), st.data())
def test_no_other_places_are_nearer_to_those_wanted(wanted, distance, data):
    found = np.array(spread(wanted, distance, -1e9, 1e9))
    order = np.argsort(wanted, kind="stable")
    gaps = data.draw(st.lists(st.floats(0, 100), min_size=len(wanted), max_size=len(wanted)))
    start = data.draw(st.floats(-1000, 1000))
    other = np.empty(len(wanted))
    other[order] = start + np.cumsum([0.0, *(distance + gap for gap in gaps[1:])])[: len(wanted)]
    cost, rival = (((np.array(places) - wanted) ** 2).sum() for places in (found, other))
    assert cost <= rival + 1e-6 * (1 + rival)


@given(st.lists(st.floats(0, 900), max_size=10))
def test_what_has_room_stays_where_it_is(wanted):
    assume(all(abs(a - b) >= 20 for k, a in enumerate(wanted) for b in wanted[:k]))
    assert np.allclose(spread(wanted, 20.0, 0.0, 900.0), wanted)


def test_a_drawing_begins_where_its_longest_tick_does():
    """−400,000 has eight letters of 6.5 pixels; a short tick leaves the drawing as it is."""
    left = []
    for low, name in ((-400_000.0, ""), (-400_000.0, "return"), (-1.0, "return")):
        panel = Panel("", Axis(0, 1, 50, 300), Axis(low, 0.0, 200, 30), "", name)
        words = [one for one in panel.frame if one.words.startswith("−")]
        left.append(Drawing([panel], 400, 220, "one", "").left)
        assert all(one.attributes["x"] - 6.5 * len(one.words) >= left[-1] for one in words)
    assert left[2] == 0.0 > left[0] > left[1]
