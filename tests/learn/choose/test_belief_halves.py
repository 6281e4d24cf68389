"""BeliefQ of either half: what one half learns from the other, and how models of both go on."""

import numpy as np
import pytest

import uqf
from random_policies import behaviour
from uqf.learn.choose.belief_halves import BeliefHalves


@pytest.fixture(scope="module")
def halves():
    data = uqf.rollout(uqf.make("tiger", horizon=8), episodes=240, seed=0)
    return data[:120], data[120:]


def shuffled(data):
    """Every action has the same rewards, elsewhere."""
    rewards, rng = data.rewards.copy(), np.random.default_rng(0)
    for action in range(data.n_actions):
        steps = np.flatnonzero(data.actions == action)
        rewards[steps] = rewards[rng.permutation(steps)]
    return uqf.Trajectories(**data.__getstate__() | {"rewards": rewards})


def settled(**others):
    """A learner that has nothing to choose."""
    return uqf.BeliefQ(0.9, states=2, learning_discount=0.9, **others)


def parts_equal(one, other):
    mine, theirs = one.parts(), other.parts()
    return all(np.array_equal(part, theirs[name]) for name, part in mine.items())


@pytest.mark.parametrize("longer", [False, True])
def test_a_half_learns_nothing_from_the_other(halves, longer):
    policies = []
    for second in (halves[1], shuffled(halves[1])):
        found = BeliefHalves(settled(models=2), (halves[0], second))
        found = found.longer() if longer else found
        policies.append([found.taught(half).policy_ for half in (0, 1)])
    assert parts_equal(policies[0][0], policies[1][0]), "the first half"
    assert not parts_equal(policies[0][1], policies[1][1]), "the second"


def test_the_second_half_judges_what_the_first_chooses(halves):
    found = BeliefHalves(uqf.BeliefQ(0.9, states=8, models=2), halves)
    told = [found.taught(half).diagnostics_ for half in (0, 1)]
    assert [one["episodes"] for one in told] == [120, 120]
    assert told[0]["states_evidence"] == told[1]["states_evidence"] != {}
    assert told[0]["learning_discount_evidence"] == told[1]["learning_discount_evidence"] != {}
    other = BeliefHalves(uqf.BeliefQ(0.9, states=8, models=2), (halves[0], shuffled(halves[1])))
    assert other.taught(0).diagnostics_["states_evidence"] != told[0]["states_evidence"]


@pytest.mark.parametrize("models", [1, 2, 3, 4])
@pytest.mark.parametrize("both", [False, True])
def test_all_models_go_on_whatever_their_number(halves, models, both):
    data = uqf.concatenate(halves)
    found = BeliefHalves(settled(models=models), halves)
    if both:
        found.models(1)
    begun = found.joined(found.taught(0))
    assert len(begun.families_[0]) == (models if both else min(2, models))
    learner = begun.refit(data)
    assert learner.diagnostics_["episodes"] == 240 and len(learner.families_[0]) == models


def test_models_are_more_and_longer_trained_where_asked_for(halves):
    quick = BeliefHalves(settled(models=4), halves)
    longer = quick.longer()
    assert [len(found.models(0)[0]) for found in (quick, longer)] == [2, 4]
    data = halves[0]
    likelihoods = [np.mean(found.models(1)[0].score(data)) for found in (quick, longer)]
    assert likelihoods[1] > likelihoods[0] - 0.01


def test_nothing_is_learned_before_it_is_asked_for_and_nothing_twice(halves):
    told = []
    found = BeliefHalves(settled(models=2), halves, tell=lambda half: told.append(half))
    assert told == []
    found.models(0)
    assert told == [0]
    assert found.taught(1) is found.taught(1) and found.models(1)[0] is found.models(1)[0]
    assert told == [0, 1]


def test_threads_change_no_bits(halves):
    one, two = (BeliefHalves(settled(models=2, threads=threads), halves).taught(1) for threads in (1, 2))
    np.testing.assert_array_equal(behaviour(one.policy_), behaviour(two.policy_))
