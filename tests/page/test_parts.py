import pytest

from uqf.page.parts import Interval, Intervals, figure, percent, plus_minus, signed


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
        (0.00001234, "0.0000123"),
        (-4.2e12, "−4,200,000,000,000"),
        (1.084e-13, "0"),
    ],
)
def test_figures_are_short(value, shown):
    assert figure(value) == shown


def test_terminals_show_four_digits_and_no_powers_of_ten():
    shown = [figure(value, digits=4) for value in (12.3456, 331.123, -28_476.3)]
    assert shown == ["12.35", "331.1", "−28,476"]


def test_signs_and_shares():
    assert signed(3.1) == "+3.1" and signed(-3.1) == "−3.1" and signed(0.0) == signed(1e-15) == "0"
    shares = [percent(share) for share in (0.0, 0.0004, 0.004, 0.05, 0.834, 1.0)]
    assert shares == ["0 %", "< 0.1 %", "0.4 %", "5 %", "83 %", "100 %"]


def test_an_error_of_nothing_is_not_shown():
    assert plus_minus(0.37) == " ± 0.37" and plus_minus(1234.5) == " ± 1,200" and plus_minus(118) == " ± 120"
    assert [plus_minus(error) for error in (0.0, 1e-16, float("inf"), float("nan"))] == [""] * 4


def test_an_interval_without_ends_is_drawn_within_the_scale():
    open_ended = Interval("a", 1.0, -float("inf"), float("inf"), "")
    plot = Intervals([open_ended, Interval("b", 2.0, 1.5, 2.5, "")], (0.0, "as logged"))
    places = [plot.place(value) for value in (-float("inf"), 0.0, 1.0, 1.5, 2.5, float("inf"))]
    assert places == sorted(places) and (places[0], places[-1]) == (0.0, 100.0)
    assert places[1] > 0.0 and places[4] < 100.0
