"""Which plans are rehearsed, and in which models."""

import pytest

import uqf
from mazes import corridor
from uqf.learn import plans as module
from uqf.learn.markov_test import Finding, MarkovTest
from uqf.learn.mistakes import WRONG
from uqf.learn.plans import LITTLE, rehearsed, states_an_observation, told_by_past

CLEAR = MarkovTest(False, 1.0, ())
ALIASED = MarkovTest(False, 1.0, (Finding("the last symbol", "next observations", 0.2, 0.01),))
MISTAKEN = MarkovTest(False, 1.0, (Finding(WRONG, "next observations", 0.2, 0.01),))


@pytest.fixture(scope="module")
def halves():
    data = uqf.rollout(uqf.make("tiger", horizon=6), episodes=120, seed=0)
    return data[:60], data[60:]


def fitted(halves, states):
    return [uqf.BeliefQ(0.9, states=states, models=1).fit(half) for half in halves]


def test_plans_are_rehearsed_in_the_models_of_the_halves(halves, monkeypatch):
    monkeypatch.setattr(module, "MIN_STATES", 0.0)
    beliefs = fitted(halves, 4)
    plans, worlds = rehearsed(beliefs, halves, CLEAR, 0)
    assert list(plans) == ["ModelQ", "MemorylessQ, one symbol", "MemorylessQ, two symbols"]
    assert [len(found) for found in worlds] == [1, 1]
    assert worlds[0][0].n_states == 1 + beliefs[0].policy_.parts()["states"][0]
    assert [one.k for one in plans["MemorylessQ, two symbols"]] == [2, 2]
    assert {one.target for one in plans["MemorylessQ, one symbol"]} == {"q-learning"}


def test_models_with_hardly_more_states_than_observations_are_not_planned_in(halves):
    beliefs = fitted(halves, 2)
    assert states_an_observation(beliefs[0], halves[0]) == 1.0
    assert rehearsed(beliefs, halves, ALIASED, 0) == ({}, [])
    plans, worlds = rehearsed(beliefs, halves, CLEAR, 0)
    assert list(plans) == ["MemorylessQ, one symbol", "MemorylessQ, two symbols"] and len(worlds) == 2


def test_models_that_allow_for_mistakes_are_taken_only_where_they_predict_better():
    noisy = uqf.rollout(corridor(0.1), episodes=800, seed=0)
    pair = noisy[:400], noisy[400:]
    blind = [uqf.BeliefQ(0.9, states=2, models=1).fit(half) for half in pair]
    seen = MarkovTest(False, 1.0, MISTAKEN.findings + uqf.markov_test(pair[0]).findings)
    assert told_by_past(seen) > LITTLE
    plans, worlds = rehearsed(blind, pair, seen, 0)
    assert "NoisyQ" in plans and [len(found) for found in worlds] == [4, 4]
    assert "NoisyQ" not in rehearsed(blind, pair, CLEAR, 0)[0]
