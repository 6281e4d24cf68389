"""Planning in learned models, and the rehearsal that says whether to."""

from types import SimpleNamespace

import numpy as np
import pytest

import uqf
from mazes import cliff_columns
from uqf.learn.choose.rehearsal import MIN_EVIDENCE, Rehearsal, Stage, as_world, worlds_of
from uqf.learn.model_q import ModelQ, known_state_values, planned_values


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


def test_the_plan_in_models_of_another_learner_is_the_same(ring_data):
    plain = uqf.BeliefQ(0.9, states=8, models=2).fit(ring_data)
    planner = ModelQ.in_models_of(plain)
    np.testing.assert_array_equal(
        planner.policy_.q_values_along(ring_data[:5]),
        uqf.ModelQ(0.9, states=8, models=2).fit(ring_data).policy_.q_values_along(ring_data[:5]),
    )


def test_a_model_is_a_world_that_plays_like_the_log(ring, ring_data):
    learner = uqf.ModelQ(0.9, states=8, models=1).fit(ring_data)
    world = as_world(learner.families_[0], 0, 3, 0.9, 30)
    played = uqf.estimate_return(world, None, episodes=3000, seed=0)
    logged = ring_data.returns(0.9)
    margin = 4 * np.hypot(played.stderr, logged.std() / np.sqrt(len(logged)))
    assert abs(played.mean - logged.mean()) < margin


def test_a_plan_must_win_in_every_model_and_clearly():
    assert Rehearsal(np.array([1.0, 1.1, 0.9, 1.0])).convinces
    assert not Rehearsal(np.array([1.0, 1.1, -0.1, 1.0])).convinces
    assert not Rehearsal(np.array([5.0, 0.1, 0.1, 0.1])).convinces, "one model says all"
    assert not Rehearsal(np.zeros(4)).convinces and not Rehearsal(np.zeros(0)).convinces
    assert not Rehearsal(np.array([1.0, 1.1, 0.9, 1.0]), over_chance=20.0).convinces, "too little to matter"
    assert Rehearsal(np.array([1.0, 1.1, 0.9, 1.0]), over_chance=20.0, spread=0.9).convinces, (
        "one step is far better than chance here, and a plan far better than one step"
    )
    assert not Rehearsal(np.array([1.0, 1.1, 0.9, 1.0]), over_chance=20.0, spread=1.1).convinces
    assert Rehearsal(np.array([1.0, 1.1, 0.9, 1.0]), unsure=0.4).convinces
    assert not Rehearsal(np.array([1.0, 1.1, 0.9, 1.0]), unsure=0.6).convinces, "too few episodes to tell"
    assert Rehearsal(np.array([1.6, -0.1]), 10.0).promises, "on average, by what is asked for"
    assert not Rehearsal(np.array([1.5, -0.2]), 10.0).promises
    assert Rehearsal(np.array([1.0, 1.1, 1.0, 1.2]), 10.0).settles
    few = Rehearsal(np.array([1.0, 1.1, 0.9, 1.1]), 10.0)
    assert few.convinces and not few.settles, "by less than one and a half times what is asked for"
    assert (
        not Rehearsal(np.array([1.6, -0.1]), 10.0, unsure=0.5).promises
        and not Rehearsal(np.zeros(0)).promises
    )
    assert Rehearsal(np.zeros(0)).as_dict() == {"models": 0, "won": 0, "difference": 0.0, "evidence": 0.0}
    assert Rehearsal(np.array([1.0, 1.1, 0.9, 1.0])).evidence > MIN_EVIDENCE


def test_rehearsal_prefers_a_plan_to_chance(ring, ring_data):
    halves = [uqf.ModelQ(0.9, states=8, models=2).fit(half) for half in (ring_data[:200], ring_data[200:])]
    blind = uqf.baselines.RandomPolicy(2, 3)

    def chance(half):
        return SimpleNamespace(policy_=blind)

    worlds = [worlds_of(half.families_, 3, 0.9, 30) for half in halves]
    stage = Stage(chance, worlds.__getitem__, 0.0, seed=0)
    plan = stage.rehearse(halves.__getitem__)
    assert len(plan.differences) == 4 and plan.convinces
    assert plan.over_chance == pytest.approx(0.0, abs=0.1)
    assert plan.spread == pytest.approx(ring_data.returns(0.9).std(), rel=0.3)
    everywhere = stage.rehearse(chance, everywhere=False)
    assert everywhere.differences.tolist() == [0.0] * 4 and not everywhere.convinces


def test_a_plan_that_lost_is_played_and_taught_no_further(ring_data):
    """What is not asked for is not made: neither the plan of the other half nor the models that it would play in."""
    learner = uqf.ModelQ(0.9, states=8, models=2).fit(ring_data[:200])
    asked = []

    def of_half(name, found):
        return lambda half: asked.append((name, half)) or found

    worlds = worlds_of(learner.families_, 3, 0.9, 30)
    chance = SimpleNamespace(policy_=uqf.baselines.RandomPolicy(2, 3))
    stage = Stage(of_half("policy", learner), of_half("worlds", worlds), 0.0, seed=0)
    lost = stage.rehearse(of_half("plan", chance))
    assert len(lost.differences) == 1 and lost.differences[0] < 0.0 and not lost.convinces
    assert set(asked) == {("plan", 0), ("policy", 0), ("worlds", 1)}
    assert len(stage.glance(of_half("plan", chance)).differences) == 2
    assert set(asked) == {("plan", 0), ("policy", 0), ("worlds", 1)}
    assert len(stage.rehearse(of_half("plan", chance), everywhere=False).differences) == 4
    assert ("policy", 1) in asked and ("worlds", 0) in asked


@pytest.mark.slow
def test_the_front_door_plans_where_one_step_is_not_enough():
    world = cliff_columns()
    data = uqf.rollout(world, episodes=500, seed=0)
    chosen = uqf.fit(data, discount=world.discount)
    told = chosen.diagnostics_["chosen"]
    assert told["learner"] in ("ModelQ", "MemorylessQ") and told["candidates"]["ModelQ"]["won"] > 0
    planned = uqf.estimate_return(world, chosen.policy_, episodes=50, discount=1.0, seed=1).mean
    one_step = uqf.BeliefQ(world.discount).fit(data).policy_
    assert planned > uqf.estimate_return(world, one_step, episodes=50, discount=1.0, seed=1).mean + 3.0
