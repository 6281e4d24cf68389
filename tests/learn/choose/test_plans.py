"""Which plans are rehearsed, and in which models."""

import numpy as np
import pytest

import uqf
from mazes import corridor
from uqf.learn.choose import plans as module
from uqf.learn.choose.belief_halves import BeliefHalves
from uqf.learn.choose.choice import Tried
from uqf.learn.choose.markov_test import Finding, MarkovTest
from uqf.learn.choose.mistakes import WRONG
from uqf.learn.choose.plans import (
    LITTLE,
    NOISY_MODELS,
    plans_in,
    rehearse,
    states_an_observation,
    told_by_past,
)
from uqf.learn.choose.rehearsal import Rehearsal, Stage

CLEAR = MarkovTest(False, 1.0, ())
ALIASED = MarkovTest(False, 1.0, (Finding("the last symbol", "next observations", 0.2, 0.01),))
MISTAKEN = MarkovTest(False, 1.0, (Finding(WRONG, "next observations", 0.2, 0.01),))


@pytest.fixture(scope="module")
def halves():
    data = uqf.rollout(uqf.make("tiger", horizon=6), episodes=120, seed=0)
    return data[:60], data[60:]


def fitted(halves, states):
    return BeliefHalves(uqf.BeliefQ(0.9, states=states, models=1), halves)


def test_plans_are_rehearsed_in_the_models_of_the_halves(halves, monkeypatch):
    monkeypatch.setattr(module, "MIN_STATES", 0.0)
    beliefs = fitted(halves, 4)
    plans, worlds = plans_in(beliefs, halves, CLEAR)
    assert list(plans) == ["ModelQ", "MemorylessQ, one symbol", "MemorylessQ, two symbols"]
    assert [len(worlds(half)) for half in (0, 1)] == [1, 1]
    assert worlds(0)[0].n_states == 1 + beliefs.taught(0).policy_.parts()["states"][0]
    assert [plans["MemorylessQ, two symbols"](half).k for half in (0, 1)] == [2, 2]
    assert plans["MemorylessQ, one symbol"](0).target == "q-learning"


def test_models_with_hardly_more_states_than_observations_are_not_planned_in(halves):
    beliefs = fitted(halves, 2)
    assert states_an_observation(beliefs.models(0), halves[0]) == 1.0
    assert plans_in(beliefs, halves, ALIASED)[0] == {}
    plans, worlds = plans_in(beliefs, halves, CLEAR)
    assert list(plans) == ["MemorylessQ, one symbol", "MemorylessQ, two symbols"] and len(worlds(1)) == 1


def test_models_that_allow_for_mistakes_are_taken_only_where_they_predict_better():
    noisy = uqf.rollout(corridor(0.1), episodes=800, seed=0)
    pair = noisy[:400], noisy[400:]
    blind = fitted(pair, 2)
    seen = MarkovTest(False, 1.0, MISTAKEN.findings + uqf.markov_test(pair[0]).findings)
    assert told_by_past(seen) > LITTLE
    taken = Tried("BeliefQ", blind.taught, [])
    plans, told = rehearse(blind, taken, pair, seen, 0)
    assert "NoisyQ" in plans and all(len(one.differences) == 2 * NOISY_MODELS for one in told.values())
    assert "NoisyQ" not in rehearse(blind, taken, pair, CLEAR, 0)[0]


def test_plans_that_promise_something_are_rehearsed_in_models_that_were_trained_for_longer(
    halves, monkeypatch
):
    monkeypatch.setattr(module, "MIN_STATES", 0.0)
    beliefs, stages = fitted(halves, 4), []

    class Told(Stage):
        """Plans of models promise something, tables lose."""

        def __init__(self, *told):
            super().__init__(*told)
            stages.append(self)

        def glance(self, plan):
            return Rehearsal(np.array([1.0 if isinstance(plan(0), uqf.ModelQ) else -1.0]))

        def rehearse(self, plan, **told):
            assert len(stages) == 2 and isinstance(plan(0), uqf.ModelQ)
            assert plan(0).families_ != quick(0).families_
            return Rehearsal(np.array([2.0]))

    monkeypatch.setattr(module, "Stage", Told)
    quick = plans_in(beliefs, halves, CLEAR)[0]["ModelQ"]
    plans, told = rehearse(beliefs, Tried("BeliefQ", beliefs.taught, []), halves, CLEAR, 0)
    assert [one.mean for one in told.values()] == [2.0, -1.0, -1.0]
    assert plans["ModelQ"](0) is not quick(0)
