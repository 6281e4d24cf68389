"""The page in a real browser, and what it must never do."""

import json
import re
import time
from html.parser import HTMLParser

import numpy as np
import pytest

import uqf
from browser import needs_chromium, outside, visit
from reports_log import ACTIONS, OBSERVATIONS, machine
from uqf.printable import printable
from uqf.reports.comparison import ComparisonReport
from uqf.reports.report import Report
from uqf.reports.study import Study

#: Looks at the figures, and walks through an episode by keys and buttons.
VISIT = """
const found = { overlaps: overlaps(), figures: {} };
for (const svg of document.querySelectorAll("svg")) {
  const box = svg.getBoundingClientRect();
  const page = document.documentElement.clientWidth;
  const held = svg.closest(".card").getBoundingClientRect();
  found.figures[svg.id] = box.height > 100 && (svg.closest(".scroll") !== null || held.right <= page);
}
const card = document.querySelector(".walk"), step = () => +card.dataset.step;
const press = (key) => card.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
found.steps = [step()];
for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home", "n"]) {
  press(key);
  found.steps.push(step());
}
found.marks = card.querySelectorAll(".strip i").length;
found.marked = [...card.querySelectorAll(".strip i")].map((mark) => mark.classList.contains("other"));
press("Home");
for (const name of [".forward", ".forward", ".back", ".next"]) {
  card.querySelector(name).click();
  found.steps.push(step());
}
found.status = card.querySelector(".status").textContent;
card.querySelector(".episode").value = "1";
card.querySelector(".episode").dispatchEvent(new Event("change"));
found.steps.push(step());
found.focusable = card.tabIndex === 0;
found.coloured = [...card.querySelectorAll(".bars .chosen")].map((name) => name.textContent);
found.bold = [...card.querySelectorAll(".bars .done")].map((name) => name.textContent);
found.scroll = document.documentElement.scrollWidth <= document.documentElement.clientWidth;
found.cut = [...document.querySelectorAll("table")].filter((one) => one.scrollWidth > one.closest(".card").clientWidth)
  .map((one) => one.innerText);
found.bars = [-7766.1, 0.12345, 0].map(short);
found.words = document.querySelector("main").innerText;
answer(found);
"""


@pytest.fixture(scope="module")
def page(report):
    return report.page()


def test_the_page_asks_for_nothing_from_outside(page):
    assert outside(page) == []


def test_the_page_has_all_its_parts(page):
    for figure in ("log-returns", "followed-return", "followed-size"):
        assert f'<svg id="{figure}"' in page
    titles = (
        "The log",
        "The policy against the log",
        "How it decides",
        "What it remembers",
        "What to expect",
    )
    assert all(f"<h2>{title}</h2>" in page for title in titles)
    questions = ("Is it better than today?", "How sure is that?", "What do I do on Monday?")
    assert all(f"<h3>{question}</h3>" in page for question in questions)
    assert "temperature" not in page.split("<script>")[0].split("</style>")[1], "a sensor may be called so"
    assert "± 0<" not in page and "± 0 " not in page


def test_nothing_of_our_own_is_taken_for_a_command(page):
    assert "\\x" not in page.split("<script>")[0], "every figure and unit is printable as it is"


def test_names_are_text_and_never_markup(page):
    assert "<b>oil" not in page and "</script><i>" not in page and "<i>hot" not in page


class Tags(HTMLParser):
    """The tags of a page with the names of their attributes."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, [name for name, _ in attributes]))


#: Ends a script, opens a tag, turns the direction of writing, commands a terminal, and means something to templates.
HOSTILE = "</script><b onclick='x'>\"&amp;\u202e\u2066\x1b[2J{{ 7 * 7 }}{% raw %}"


def test_hostile_names_give_the_same_tags_as_plain_ones(tmp_path):
    log = machine(120, 0)
    pages = []
    for name in ("plain", HOSTILE):
        names = uqf.Codebook.named([f"{name} {k}" for k in range(3)], [f"{name} {k}" for k in range(2)])
        data = uqf.Trajectories(**log.__getstate__() | {"codebook": names})
        policy = uqf.BeliefQ(0.9).fit(data).policy_
        uqf.report(policy, data, tmp_path / "report.html", discount=0.9)
        both = ComparisonReport(policy, uqf.ContextQ(0.9).fit(data).policy_, data, discount=0.9)
        pages.append((tmp_path / "report.html").read_text() + both.page())
    plain, hostile = pages
    assert Tags(hostile).tags == Tags(plain).tags
    assert all(letter.isprintable() or letter in "\n\xa0" for letter in hostile)
    assert r"\u202e\u2066\x1b[2J{{ 7 * 7 }}{% raw %}" in hostile, "shown, not obeyed"
    (content, _) = re.findall(r'<script type="application/json">(.*?)</script>', hostile)
    words = json.loads(content)["words"]
    assert printable(f"{HOSTILE} 0") in words and all(word.isprintable() for word in words)


@needs_chromium
@pytest.mark.parametrize("width", [1400, 500])
def test_in_a_browser_figures_show_and_episodes_can_be_walked_through(page, report, width, tmp_path):
    found = visit(page, VISIT, tmp_path, width=width)
    assert found["cut"] == [] and found["bars"] == ["−7,766", "0.1235", "0"]
    assert found["errors"] == []
    assert found["overlaps"] == []
    assert len(found["figures"]) == 3 and all(found["figures"].values()), found["figures"]
    best = report.episodes.episodes[0]
    differs = [step.wants != step.other for step in best.steps]
    assert found["marks"] == len(best.steps) and found["marked"] == differs
    last, next_one = len(best.steps) - 1, lambda now: now + 1 + differs[now + 1 :].index(True)
    assert found["steps"][:7] == [0, 1, 2, 1, last, 0, next_one(0)]
    assert found["steps"][7:] == [1, 2, 1, next_one(1), 0]
    assert best.steps[next_one(1)].wants in found["status"]
    assert found["focusable"] and found["scroll"]
    worst = report.episodes.episodes[1].steps[0]
    assert found["coloured"] == [worst.wants] and found["bold"] == [worst.action], "blue is the policy"
    assert ACTIONS[1] in found["words"] and OBSERVATIONS[1] in found["words"], "names are shown as they are"


@needs_chromium
def test_the_page_of_two_policies(log, learner, tmp_path):
    other = uqf.ContextQ(0.95).fit(log).policy_
    made = ComparisonReport(learner.policy_, other, machine(400, 3), discount=0.95).complete()
    made.write(tmp_path / "compare.html")
    json.dumps(made.as_dict(), allow_nan=False)
    page = (tmp_path / "compare.html").read_text()
    assert outside(page) == []
    found = visit(page, VISIT, tmp_path)
    assert found["errors"] == [] and found["overlaps"] == [] and all(found["figures"].values())
    assert found["status"].count("A: ") == 1 and found["status"].count("B: ") == 1, (
        "it stands at a disagreement"
    )


def test_names_of_any_length_and_many_actions_stay_small(tmp_path):
    rng = np.random.default_rng(0)
    steps, kinds = 3000, 60
    data = uqf.Trajectories(
        rng.integers(kinds, size=steps),
        rng.integers(kinds, size=steps),
        rng.normal(size=steps),
        np.arange(0, steps + 1, 20),
        n_actions=kinds,
        n_observations=kinds + 1,
        codebook=uqf.Codebook.named(
            tuple(f"{number} " + "a" * 500 for number in range(kinds)),
            tuple(f"{number} " + "o" * 500 for number in range(kinds)),
        ),
    )
    path = tmp_path / "report.html"
    uqf.report(uqf.ContextQ(0.9).fit(data), data, path)
    assert path.stat().st_size < 1_000_000
    page = path.read_text()
    cut = re.findall(r'<span title="([^"]*)">([^<]*)…</span>', page)
    assert cut and all(len(whole) > 500 and whole.startswith(short) for whole, short in cut)
    assert page.count("…</") == len(cut), "what is cut has the whole text at hand"


@pytest.mark.slow
def test_a_million_steps_give_a_small_page_in_at_most_twice_the_time_of_the_fit(tmp_path):
    data = uqf.rollout(uqf.make("gridworld-near"), episodes=12_500, seed=0)
    assert data.n_steps > 1_000_000
    began = time.perf_counter()
    learner = uqf.fit(data)
    fitted = time.perf_counter()
    path = tmp_path / "report.html"
    uqf.report(learner, data, path)
    assert time.perf_counter() - fitted <= 2 * (fitted - began)
    assert path.stat().st_size < 3_000_000


def test_progress_never_falls_and_ends(study):
    events = []
    Report(study).complete(lambda *event: events.append(event))
    parts = len(Report.PARTS)
    assert events == [("report", done, parts) for done in range(parts + 1)]


def test_a_page_without_a_folder_is_refused_before_any_work(learner, log, tmp_path):
    with pytest.raises(FileNotFoundError):
        uqf.report(learner, log, tmp_path / "missing" / "report.html")


def test_a_page_of_shards_shows_a_sample(log, tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    log[:600].to_parquet(folder / "a.parquet")
    log[600:].to_parquet(folder / "b.parquet")
    learner = uqf.ContextQ(0.95).fit(uqf.Shards(folder))
    made = uqf.report(learner, uqf.Shards(folder), tmp_path / "report.html")
    assert made.log.episodes == 1200 and len(made.study.held_out) == 600
    assert Study.of(learner, folder, discount=None, seed=0, progress=None).log.n_steps == log.n_steps
