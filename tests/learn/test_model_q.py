"""Planning in learned models."""

import numpy as np
import pytest

import uqf
from uqf.learn.model_q import known_state_values, planned_values


def test_values_of_a_model_are_those_of_dynamic_programming(ring_data):
    learner = uqf.ModelQ(0.9, states=8, models=1).fit(ring_data)
    model = learner.families_[0].model(0)
    values = np.zeros(len(model["start"]))
    for _ in range(500):
        pairs = np.stack(
            [
                model["rewards"][a] + 0.9 * (1 - model["ends"][a]) * (model["transitions"][a] @ values)
                for a in range(2)
            ]
        )
        values = pairs.max(axis=0)
    np.testing.assert_allclose(known_state_values(model, 0.9), pairs, atol=1e-4)
    weights = planned_values(learner.families_, 0.9)
    assert weights.shape == (1 + len(values), 2) and (weights[0] == 0.0).all()
    np.testing.assert_allclose(weights[1:], pairs.T, atol=1e-4)


def test_a_ring_is_walked_the_short_way(ring, ring_data):
    learner = uqf.ModelQ(0.9, states=8, models=2).fit(ring_data)
    best = uqf.estimate_return(ring, learner.policy_, episodes=50, seed=0).mean
    assert best == pytest.approx(0.9**3), "three steps to the last room, and one out of it"
    assert uqf.estimate_return(ring, None, episodes=200, seed=0).mean < 0.6 * best
    assert learner.diagnostics_["learner"] == "ModelQ"
