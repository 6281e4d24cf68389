import html
import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from uqf.experiments import Cell, gridworld
from uqf.experiments.cells import Row
from uqf.experiments.gridworld_report import table_lines, table_sizes
from uqf.experiments.report import write_report
from uqf.page.figures import Axis, Panel, drawing

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

#: Put before the page's own script: errors are counted from the start.
LISTEN = "<script>window.errors = []; window.onerror = (text) => { errors.push(text); };</script>"

#: Put after it: looks at the figures, steps and plays a replay, and leaves what it found in the page.
VISIT = """<script>
const card = document.querySelector(".replay"), step = () => +card.dataset.step, found = {};
found.figures = [...document.querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect().height > 100);
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
    found.errors = errors;
    document.body.dataset.found = JSON.stringify(found);
  }, 1000);
}, 2000);
</script>"""


@pytest.fixture(scope="module")
def page(finished):
    return (finished[0] / "report.html").read_text()


def test_the_report_asks_for_nothing_from_outside(page):
    assert not re.search(r"https?:|//\w|url\(|@import|fetch\(|XMLHttpRequest|<img|<iframe", page)
    sources = re.findall(r"(?:src|href)\s*=\s*['\"]([^'\"]*)", page)
    assert sources == ["data:,"]


def test_the_report_has_all_its_parts(page):
    for figure in ("returns", "training-time", "spocman", "spectra"):
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
    assert "paper: seconds" in page
    assert "CPSR + fitted-Q, 400 rounds" not in page, "rows that were not run are not shown"


def test_the_figure_stands_on_its_own(finished):
    root = ElementTree.parse(finished[0] / "gridworld.svg").getroot()
    words = "".join(root.itertext())
    assert all(label in words for label in gridworld.LABELS.values())


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


def test_labels_cannot_break_the_markup():
    panel = Panel("<b>", Axis(0, 1, 0, 10), Axis(0, 1, 10, 0), "&", '"')
    panel.line([(0, 0, 0.1), (1, 1, 0.1)], "uqf", "<script>")
    text = drawing([panel], 10, 10, "figure", '"><script>')
    assert "<script>" not in text and "<b>" not in text


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: the report was not opened in a browser")
def test_in_a_browser_figures_show_and_the_replay_plays(page, tmp_path):
    visited = page.replace("<head>", "<head>" + LISTEN).replace("</body>", VISIT + "</body>")
    (tmp_path / "report.html").write_text(visited)
    run = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=8000",
            "--dump-dom",
            (tmp_path / "report.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    answer = re.search(r'data-found="([^"]*)"', run.stdout)
    assert answer, run.stderr[-2000:]
    found = json.loads(html.unescape(answer[1]))
    assert found["errors"] == []
    assert found["figures"] == [True] * 4
    assert (found["forward"], found["back"]) == (1, 0)
    assert found["played"] >= 3 and found["paused"]
    assert found["bars"] == 4 and found["picture"]
