"""BeliefQ: what is learned on the beliefs of cloned hidden Markov models."""

import pickle
from functools import partial

import numpy as np
import pytest

import uqf
from uqf.learn.improve import values
from uqf.learn.memory.features import Parts

SMALL = {"discount": 0.9, "states": 12, "models": 2, "learning_discount": 0.9}


def same_parts(one, other):
    mine, theirs = one.policy_.parts(), other.policy_.parts()
    return all(np.array_equal(part, theirs[name]) for name, part in mine.items())


def test_memory_pays_where_places_look_alike(ring, ring_data):
    """Always right is optimal; the last symbol does not tell the two look-alike rooms apart."""
    fitted = uqf.BeliefQ(**SMALL).fit(ring_data)
    score = uqf.estimate_return(ring, fitted.policy_.greedy(), episodes=200)
    assert score.mean == pytest.approx(0.9**3, abs=1e-6)


def test_same_seed_same_bits_for_any_number_of_threads(ring_data):
    one, two = (uqf.BeliefQ(**SMALL, threads=threads).fit(ring_data) for threads in (1, 2))
    assert same_parts(one, two)
    assert not same_parts(one, uqf.BeliefQ(**SMALL, seed=1).fit(ring_data))


def test_memories_of_larger_models_are_refused(ring_data):
    policy, larger = (uqf.BeliefQ(**SMALL | {"states": states}).fit(ring_data).policy_ for states in (3, 20))
    assert repr(policy) != repr(larger)
    with pytest.raises(ValueError):
        larger.q_values(policy.initial_state())


def test_observations_never_seen_in_training_are_passed_over():
    data = uqf.Trajectories.from_episodes(
        [([0, 1, 0], [0, 1, 0], [0.0, 1.0, 0.0])] * 30, n_actions=2, n_observations=3
    )
    policy = uqf.BeliefQ(**SMALL).fit(data).policy_
    state = policy.update(policy.initial_state(), 0, 2)
    assert np.isfinite(policy.q_values(state)).all()


def test_a_fit_tells_how_far_it_is(ring_data):
    events = []
    learner = uqf.BeliefQ(0.9, states=12, models=1).fit(
        ring_data, progress=lambda *event: events.append(event)
    )
    stages = list(dict.fromkeys(stage.partition(",")[0] for stage, _, _ in events))
    assert stages == ["reading", "choosing", "training", "values", "advantages", "second sweep"]
    assert same_parts(learner, uqf.BeliefQ(0.9, states=12, models=1).fit(ring_data))


def test_what_is_chosen_has_the_best_evidence(ring_data):
    told = uqf.BeliefQ(0.9, states=12, models=1).fit(ring_data).diagnostics_
    gains, likelihoods = told["learning_discount_evidence"], told["states_evidence"]
    assert set(gains) == {0.85, 0.9} and set(likelihoods) == {3, 12}
    assert gains[told["learning_discount"]] == max(gains.values())
    ((states, models),) = told["models"].items()
    assert models == 1 and likelihoods[states] == max(likelihoods.values())
    unjudged = uqf.BeliefQ(0.9, states=12, models=1).fit(ring_data[:5]).diagnostics_
    assert (unjudged["models"], unjudged["learning_discount"]) == ({11: 1}, 0.9)
    assert unjudged["learning_discount_evidence"] == unjudged["states_evidence"] == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_simple_world_gets_a_small_model_and_a_winding_one_a_large_one(seed):
    """Tiger has two hidden states; a grid world has many places that look alike."""
    tiger = uqf.rollout(uqf.make("tiger"), episodes=300, seed=seed)
    assert uqf.BeliefQ(0.95, models=2).fit(tiger).diagnostics_["models"] == {4: 2}
    grid = uqf.rollout(uqf.make("gridworld-near"), episodes=60, seed=seed)
    assert min(uqf.BeliefQ(0.99, models=2).fit(grid).diagnostics_["models"]) > 4


def test_models_and_temperature_are_obeyed(ring_data):
    learner = uqf.BeliefQ(0.9, states=3, models=3, temperature=0.25).fit(ring_data)
    assert learner.diagnostics_["models"] == {3: 3}
    assert "models of 3, 3, 3 states" in repr(learner.policy_)
    assert learner.policy_.temperature == learner.diagnostics_["temperature"] == 0.25
    assert uqf.BeliefQ(0.9, states=3, models=1).fit(ring_data).policy_.temperature > 0.0


@pytest.mark.parametrize("known", [True, False], ids=["logged", "estimated"])
def test_what_is_learned_does_not_depend_on_how_much_is_held_at_once(ring_data, known, monkeypatch):
    data = uqf.Trajectories(
        ring_data.actions,
        ring_data.observations,
        ring_data.rewards,
        ring_data.offsets,
        n_actions=2,
        n_observations=3,
        terminated=ring_data.terminated,
        behavior_probs=ring_data.behavior_probs if known else None,
    )
    whole = uqf.BeliefQ(**SMALL | {"states": 3, "models": 1}).fit(data)
    monkeypatch.setattr(values, "Parts", partial(Parts, part_cells=500))
    parts = uqf.BeliefQ(**SMALL | {"states": 3, "models": 1}).fit(data)
    np.testing.assert_allclose(parts.policy_.weights, whole.policy_.weights, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("episodes", [3, 60])
def test_models_without_a_policy_are_those_of_a_fit(episodes):
    data = uqf.rollout(uqf.make("tiger", horizon=8), episodes=episodes, seed=0)
    learner = uqf.BeliefQ(0.9, states=4, models=2, seed=3)
    alone, fitted = learner.models_of(data), learner.fit(data).families_
    assert [pickle.dumps(one) for one in alone] == [pickle.dumps(one) for one in fitted]
