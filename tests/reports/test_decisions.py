"""What a reader decides by: outcomes before and after, the policy at work, the card of rules, missing sensors."""

import numpy as np
import pytest

import uqf
from uqf.coding.cells import Cells, Question
from uqf.coding.raw_columns import Column
from uqf.reports.acting import Acting, _code_without
from uqf.reports.facts import Facts, places
from uqf.reports.outcomes import REWARDS, Outcomes
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
    assert same.logged == rewards.logged == pytest.approx(study.held_out.returns(1.0).mean())
    assert same.interval == rewards.interval
    assert found.per_week == pytest.approx(7.0)
    assert Outcomes.of(study, Facts(), report.frontier).rows == []


def test_a_policy_that_always_acts_alike_does_so_in_models_too(log):
    always = uqf.TablePolicy(np.tile([0.0, 0.0, 1.0], (log.n_symbols + 1, 1)), log.n_observations)
    study = Study.of(always, log, discount=0.9, seed=0, progress=None)
    assert Acting.of(study, 0).shares == [0.0, 0.0, 1.0]


def test_the_card_says_what_the_tree_says(report):
    card = report.rules.tree.card
    assert len(card) <= 10
    assert card[-1][0] == [], "the last line holds for all that is left"
    assert sum(rule.share for _, rule in card) == pytest.approx(1.0)


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
