from xml.etree import ElementTree

import pytest

from browser import needs_chromium, outside, visit
from uqf.page.figures import Axis
from uqf.page.render import render
from uqf.paper import Cell, gridworld, spocman, spocman_report
from uqf.paper.cells import Row
from uqf.paper.gridworld_report import FIVE, table_lines, table_sizes
from uqf.paper.report import write_report

#: Looks at the figures, steps and plays a replay, and leaves what it found in the page.
VISIT = """
document.querySelectorAll("details").forEach((one) => { one.open = true; });
const card = document.querySelector(".replay"), step = () => +card.dataset.step, found = {};
found.figures = [...document.querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect().height > 100);
found.overlaps = overlaps();
card.querySelector(".forward").click(); found.forward = step();
card.querySelector(".back").click(); found.back = step();
const picture = card.querySelector(".map").textContent;
card.querySelector(".play").click();
setTimeout(() => {
  found.played = step();
  card.querySelector(".play").click();
  setTimeout(() => {
    found.paused = step() === found.played;
    found.bars = card.querySelectorAll(".bars i").length;
    found.picture = picture.includes("@");
    answer(found);
  }, 1000);
}, 2000);
"""


@pytest.fixture(scope="module")
def page(finished):
    return (finished[0] / "report.html").read_text()


def test_the_report_asks_for_nothing_from_outside(page):
    assert outside(page) == []


def test_the_report_has_all_its_parts(page):
    for figure in ("returns-far", "all-returns", "training-time", "spocman"):
        assert f'<svg id="{figure}"' in page
    assert page.count('class="replay') == 5  # three starts, and two policies of S-PocMan
    for words in (
        "Settings and commands",
        "uqf reproduce gridworld --size smallest",
        "numpy",
        "UQF(",
        "FittedQ(",
    ):
        assert words in page
    for words in ("What the paper says", "What came out here", "What goes beyond the paper", "CPU s"):
        assert words in page
    assert "CPSR + fitted-Q, 400 rounds" not in page, "rows that were not run are not shown"


def test_the_figure_stands_on_its_own(finished):
    root = ElementTree.parse(finished[0] / "gridworld.svg").getroot()
    words = "".join(root.itertext())
    assert all(words.count(gridworld.LABELS[method]) >= 3 for method in FIVE)


def test_tables_compare_at_sizes_that_every_learner_has_been_through():
    def row(method, episodes, seed, value):
        setting = {"world": "gridworld-near", "episodes": episodes}
        return Row(Cell("gridworld", method, setting, seed), {"return": value, "stderr": 0.0}, {})

    rows = [row("uqf", n, seed, n + seed) for n in (100, 200, 400) for seed in (0, 2)]
    rows += [row("memoryless", n, 0, 0.5) for n in (100, 200)]
    rows.append(
        Row(Cell("gridworld", "random", {"world": "gridworld-near"}, 0), {"return": 0.1, "stderr": 0.01}, {})
    )
    assert table_sizes(rows) == [100, 200]
    found = table_lines(rows, 200)
    assert found["uqf"] == {"near": (201.0, pytest.approx(1.0))}
    assert found["random"] == {"near": (0.1, 0.01)} and found["pbvi"] == {}


def test_the_report_of_nothing_is_still_a_page(tmp_path):
    text = write_report(tmp_path, "smallest").read_text()
    assert "<svg" not in text and "Settings and commands" in text


@pytest.mark.parametrize("logarithmic", [False, True])
def test_axes_keep_order_and_ends(logarithmic):
    axis = Axis(0.01, 100.0, 0.0, 300.0, logarithmic)
    assert axis(0.01) == 0.0 and axis(100.0) == pytest.approx(300.0) and axis(1e6) == axis(100.0)
    pixels = [axis(value) for value in axis.ticks()]
    assert pixels == sorted(pixels) and 3 <= len(pixels) <= 7


@needs_chromium
def test_in_a_browser_figures_show_and_the_replay_plays(page, tmp_path):
    found = visit(page, VISIT, tmp_path)
    assert found["overlaps"] == []
    assert found["errors"] == []
    assert found["figures"] == [True] * 6
    assert (found["forward"], found["back"]) == (1, 0)
    assert found["played"] >= 3 and found["paused"]
    assert found["bars"] == 4 and found["picture"]


#: Seconds and returns of the full experiment, several of them close together.
CROWDED = {
    "context-q": (0.07, -27.9), "belief-q": (8.6, -13.0), "spectral-q": (0.6, -16.0), "uqf": (0.03, -79.0),
    "uqf-returns": (0.052, -117.0), "uqf-start": (0.049, -587.2), "memoryless": (0.005, -43.7),
    "policy-iteration": (12.0, 189.8), "random": (None, -336.9), "wall-avoiding": (None, -66.4),
}  # fmt: skip


@needs_chromium
def test_labels_of_a_crowded_scatter_plot_lie_over_nothing(tmp_path):
    rows = [
        Row(
            Cell("spocman", method, {"world": "spocman", "episodes": 500}, 0),
            {"return": value, "stderr": 1.0, "seconds": seconds},
            {},
        )
        for method, (seconds, value) in CROWDED.items()
    ]
    rounds = [
        {"rounds": n, "return": value, "stderr": 5.0, "seconds": seconds}
        for n, value, seconds in (
            (10, -120.0, 5.3),
            (50, -113.4, 32.0),
            (100, -97.2, 79.0),
            (400, -102.0, 481.0),
        )
    ]
    setting = {"world": "spocman", "episodes": 500}
    rows.append(Row(Cell("spocman", "cpsr-fitted-q", setting, 0), {"by_rounds": rounds}, {}))
    drawing = spocman_report.time_figure(spocman_report.summary(rows))
    # The page has a head, to which the browser's listener is added.
    page = "<html><head></head><body>" + render("standalone.svg", drawing=drawing, keys=[]) + "</body></html>"
    script = """
    const named = [...document.querySelectorAll("svg .label")].map((text) => text.textContent);
    answer({ overlaps: overlaps(), named });
    """
    found = visit(page, script, tmp_path)
    assert found["errors"] == [] and found["overlaps"] == []
    timed = [spocman.LABELS[method] for method, (seconds, _) in CROWDED.items() if seconds is not None]
    assert set(timed) <= set(found["named"])
