import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from uqf.page.figures import spread

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
