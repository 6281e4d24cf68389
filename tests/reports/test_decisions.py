"""What a reader decides by: outcomes before and after, the policy at work, the card of rules, missing sensors."""

import numpy as np
import pandas
import pytest

import uqf
from uqf.coding.cells import Cells, Question
from uqf.coding.raw_columns import Column
from uqf.reports.acting import Acting, _code_without
from uqf.reports.episodes import Episodes
from uqf.reports.facts import Facts, places
from uqf.reports.frontier import Frontier
from uqf.reports.names import Names
from uqf.reports.outcomes import REWARDS, Outcomes
from uqf.reports.readings import Reading
from uqf.reports.rules import Answer, Rule, Rules, in_words
from uqf.reports.study import Study


def test_episodes_are_found_in_their_log_again(study):
    numbers = places(study.held_out, study.log)
    assert len(set(numbers.tolist())) == len(study.held_out)
    assert study.log[numbers] == study.held_out


def test_an_outcome_is_counted_and_weighed_as_rewards_are(study, report):
    days = np.datetime64("2026-01-01") + np.arange(len(study.log))
    facts = Facts.of(study.log, times=days, outcomes={"the same": study.log.rewards})
    found = Outcomes.of(study, facts, report.frontier)
    same, rewards = found.rows
    assert (same.name, rewards.name) == ("the same", REWARDS)
    assert same.logged == rewards.logged
    assert same.interval == rewards.interval
    assert Outcomes.of(study, Facts(), report.frontier).rows == []


@pytest.mark.parametrize("ended", [True, False])
def test_before_and_after_are_of_episodes_of_one_length(ended):
    """A policy like the log costs what the log costs, by episode and by week, whoever ends episodes."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 11, size=400)
    steps = int(lengths.sum())
    log = uqf.Trajectories(
        rng.integers(2, size=steps),
        rng.integers(2, size=steps),
        np.ones(steps),
        np.concatenate([[0], np.cumsum(lengths)]),
        n_actions=2,
        n_observations=2,
        behavior_probs=np.full(steps, 0.5),
        terminated=np.full(400, ended),
    )
    same = uqf.TablePolicy(np.full((log.n_symbols + 1, 2), 0.5), 2)
    study = Study.of(same, log, discount=0.9, seed=0, progress=None)
    days = np.datetime64("2026-01-01") + np.arange(len(log))
    found = Outcomes.of(study, Facts.of(log, times=days), Frontier.of(study))
    (row,) = found.rows
    assert row.logged == pytest.approx(study.held_out.lengths.mean() if ended else 10.0)
    assert found.share == 1.0 and row.interval[0] <= row.logged <= row.interval[1]
    assert found.per_week * row.logged == pytest.approx(7.0 * log.lengths.mean())


def test_a_policy_that_always_acts_alike_does_so_in_models_too(log):
    always = uqf.TablePolicy(np.tile([0.0, 0.0, 1.0], (log.n_symbols + 1, 1)), log.n_observations)
    study = Study.of(always, log, discount=0.9, seed=0, progress=None)
    assert Acting.of(study, 0).shares == [0.0, 0.0, 1.0]


def test_the_card_is_short_and_covers_everything(report):
    card = report.rules.card
    assert len(card) <= 10
    assert card[-1].conditions == [], "the last line holds for all that is left"
    assert sum(rule.share for rule in card) == pytest.approx(1.0)


def test_without_a_column_its_questions_are_answered_as_for_missing_values():
    columns = tuple(Column(name, "number", False, ()) for name in ("x", "y"))
    # x < 0? else code 0; then y < 5? code 1, else code 2. A missing x is taken to be below 0, a missing y not below 5.
    cells = Cells(columns, (Question(0, 0.0, 1, 2, True), Question(1, 5.0, 3, 4)))
    without = {
        name: [
            _code_without(cells, name, np.array(point)) for point in ((1.0, 9.0), (-1.0, 1.0), (-1.0, 9.0))
        ]
        for name in ("x", "y")
    }
    assert without == {"x": [2, 1, 2], "y": [0, 2, 2]}


@pytest.fixture(scope="module")
def read():
    """Action "b" pays where the last x was 0.5 or more, "a" elsewhere; y says nothing, and is sometimes missing."""
    rng = np.random.default_rng(0)
    x, actions = rng.random((300, 10)), rng.integers(2, size=(300, 10))
    table = {
        "run": np.repeat(np.arange(300), 10),
        "action": np.array(["a", "b"])[actions.ravel()],
        "x": x.ravel(),
        "y": np.where(rng.random(3000) < 0.1, np.nan, rng.random(3000)),
        "reward": ((x >= 0.5) == actions).ravel().astype(float),
    }
    columns = uqf.LogColumns(episode="run", observation=["x", "y"], observed="before")
    data = uqf.read_log(pandas.DataFrame(table), columns=columns)
    return Study.of(uqf.SummaryQ(0.5).fit(data), data, discount=None, seed=0, progress=None)


def test_rules_ask_about_what_was_read(read):
    found = Rules.of(read)
    assert found.decisions > 0.9
    first = found.card[0].conditions[0]
    assert "".join(words for words, _ in first).startswith(("x is below 0.", "x is 0."))


def test_what_a_condition_implies_is_not_said_beside_it():
    """“1.9 or more and 2.64 or more” is 2.64 or more; two bounds are a range."""
    x, stay, go = Column("x", "number", has_missing=True), Rule("stay", 0.25, 1.0), Rule("go", 0.25, 1.0)
    more, most, less = (Reading(0, x, value) for value in (1.9, 2.64, 0.5))
    high, low = Rule("go", 0.5, 1.0, most, go, stay), Rule("go", 0.5, 1.0, less, go, stay)
    names = Names(uqf.Codebook.named(), 1)
    lines = [in_words(conditions, names) for conditions, _ in Rule("go", 1.0, 1.0, more, high, low).lines]
    said = [["".join(words for words, _ in one) for one in line] for line in lines]
    assert said == [["x is 2.64 or more"], ["x is 1.9 or more"], ["x is 0.5 or more"], []]
    between = [Answer(more, True), Answer(most, False)]
    assert in_words(between, names) == [[("x", True), (" is 1.9 or more, but below 2.64", False)]]


def test_without_a_column_that_forests_read_decisions_change(read):
    x, y = Acting.of(read, 0).sensors
    assert (x.column, y.column) == ("x", "y")
    assert x.decisions < 0.8 < y.decisions


def test_episodes_show_what_was_read(read):
    shown = Episodes.of(read).episodes[0].steps
    assert shown[0].before.startswith("x 0.") and ", y " in shown[0].before


def test_costs_are_shown_as_costs(study, report):
    days = np.datetime64("2026-01-01") + np.arange(len(study.log))
    (row,) = Outcomes.of(study, Facts.of(study.log, times=days, cost="price"), report.frontier).rows
    (rewards,) = Outcomes.of(study, Facts.of(study.log, times=days), report.frontier).rows
    assert row.name == "price" and row.logged == pytest.approx(-rewards.logged)
