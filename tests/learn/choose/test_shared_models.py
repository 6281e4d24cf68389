"""Models that candidates share: chosen once, learned from one part, gone on with by learners of all episodes."""

import numpy as np
import pytest

import uqf
from random_policies import behaviour
from uqf.learn.choose.shared_models import SharedModels


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=240, seed=0)


def shared(*parts):
    return SharedModels(uqf.BeliefQ(0.9, states=8, models=2), parts, None, None)


def sizes(begun):
    return [(len(models), models.n_features) for models in begun.models.trained]


def test_learners_on_the_same_models_are_fitted_without_training(data):
    models = shared(data[:120], data[120:])
    one, other = (
        uqf.BeliefQ(0.9, states=8, models=2, temperature=temperature).go_on(models.of(0), data[:120])
        for temperature in (None, 9.0)
    )
    assert one.families_ == other.families_ == models.of(0).models.trained
    assert models.of(0) is models.of(0)
    assert np.abs(behaviour(one.policy_) - behaviour(other.policy_)).max() > 0.0


def test_models_of_the_second_part_have_the_sizes_of_the_first_and_learn_from_their_own(data):
    models = shared(data[:120], data[120:])
    assert sizes(models.of(0)) == sizes(models.of(1)) and models.of(0).discount == models.of(1).discount
    assert models.of(0).models.trained[0].score(data) != models.of(1).models.trained[0].score(data)


def test_a_learner_of_all_episodes_goes_on_with_the_models_of_both_parts(data):
    models = shared(data[:120], data[120:])
    alone = sizes(models.of_all)
    assert alone == sizes(models.of(0)), "the second part may never have been needed"
    models.of(1)
    both = models.of_all
    assert sizes(both) == alone and not both.finished
    final = uqf.BeliefQ(0.9, states=8, models=2).go_on(both, data)
    assert final.diagnostics_["episodes"] == 240
    assert final.families_[0].score(data) != both.models.trained[0].score(data), "they were trained"
