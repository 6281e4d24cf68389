"""Who is judged by what: the second part of the episodes is asked only where the first leaves a doubt."""

import pytest

import uqf
from uqf.learn.choose.candidates import RIVALS, Candidate, Settings
from uqf.learn.choose.comparison import Comparison, challenged, judged
from uqf.reading.progress import Reporter


@pytest.fixture(scope="module")
def parts():
    data = uqf.rollout(uqf.make("gridworld-near"), episodes=120, seed=0)
    return data[:60], data[60:]


def comparison_of(parts):
    return Comparison(parts, 0.9, 0, Settings(), None, Reporter(None))


CHANCE = Candidate("chance", lambda discount, seed: uqf.ContextQ(discount, temperature=1e9))
CONTEXT = next(one for one in RIVALS if one.name == "ContextQ")


def test_who_is_behind_in_the_first_part_is_not_judged_by_the_second(parts):
    comparison = comparison_of(parts)
    holder = comparison.result(CONTEXT, comparison.looks[0])
    taken, beside, result = judged(CHANCE, holder, comparison)
    assert result.lead.mean < 0.0 and taken is beside and taken.candidate is CONTEXT
    assert len(result.gains[0].totals) == len(beside.gains[0].totals) == len(parts[1])


def test_who_is_ahead_is_judged_by_both_and_taken_as_if_both_had_been_asked_at_once(parts):
    comparison = comparison_of(parts)
    holder = comparison.result(CHANCE, comparison.looks[0])
    taken, beside, result = judged(CONTEXT, holder, comparison)
    assert len(result.gains[0].totals) == len(beside.gains[0].totals) == 120
    whole = comparison_of(parts)
    other, expected = challenged(whole.result(CHANCE), whole.result(CONTEXT), Settings())
    assert result.lead.evidence == expected.lead.evidence > Settings().evidence
    assert taken.candidate is other.candidate is CONTEXT


def test_who_was_judged_by_both_stays_so_beside_one_that_was_judged_by_the_first_alone(parts):
    comparison = comparison_of(parts)
    holder = comparison.result(CONTEXT)
    _, beside, result = judged(CHANCE, holder, comparison)
    assert (len(beside.gains[0].totals), len(result.gains[0].totals), len(result.lead.totals)) == (
        120,
        60,
        60,
    )


def test_a_holder_that_the_second_part_refuses_loses_the_place(parts):
    """Whoever challenged it was ahead of what the first part showed."""
    kept, short = parts[0], uqf.rollout(uqf.make("gridworld-near"), episodes=60, horizon=1, seed=1)
    comparison = comparison_of((kept, short))
    refused = Candidate("UQF", lambda discount, seed: uqf.UQF(2, discount))
    first = comparison.result(refused, comparison.looks[0])
    assert first.problem is None and comparison.result(refused).problem is not None
    taken, beside, result = judged(CONTEXT, first, comparison)
    assert beside.problem is not None and taken is result
