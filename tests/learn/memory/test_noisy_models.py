"""Noisy models: where sensors err a state may show anything, and `BeliefQ` finds that out."""

import pickle

import numpy as np
import pytest

import uqf
from clone_models import started
from uqf import _core
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.plan.model_world import worlds_of
from uqf.policies.policy import shown_by_states

PLACES, LOOKS = 10, 5


def ring(wrong):
    """Ten places in a ring, of which two look alike each; what is seen is wrong now and then. Place 0 pays."""
    right = 0.9 * np.roll(np.eye(PLACES), 1, axis=1) + 0.1 * np.eye(PLACES)
    shown = (1.0 - wrong) * np.eye(LOOKS)[np.arange(PLACES) % LOOKS] + wrong / LOOKS
    rewards = np.zeros((2, PLACES, PLACES))
    rewards[:, :, 0] = 1.0
    start = np.full(PLACES, 1.0 / PLACES)
    return uqf.TabularPOMDP(
        np.stack([right, right.T]), np.stack([shown] * 2), rewards, start, 0.9, horizon=40
    )


SETTINGS = {"discount": 0.9, "states": 20, "models": 2}


def log(wrong, seed=0, episodes=300):
    return uqf.rollout(ring(wrong), episodes=episodes, seed=seed)


@pytest.fixture(scope="module")
def fitted():
    return uqf.BeliefQ(**SETTINGS).fit(log(0.3))


def test_held_out_episodes_ask_for_them_where_observations_are_wrong():
    noisy = [uqf.BeliefQ(**SETTINGS, seed=seed).fit(log(0.3, seed)).noisy_ for seed in range(4)]
    sure = [uqf.BeliefQ(**SETTINGS, seed=seed).fit(log(0.0, seed)).noisy_ for seed in range(4)]
    assert all(noisy) and not any(sure)


def test_they_are_likelier_and_the_evidence_is_told(fitted):
    told = fitted.diagnostics_
    assert told["noisy"] and told["noisy_evidence"] > max(told["states_evidence"].values())
    assert fitted.families_[0].noisy


def test_few_observations_and_many_are_left_to_clones():
    two = uqf.rollout(uqf.make("tiger"), episodes=100, seed=0)
    told = uqf.BeliefQ(0.95, models=1).fit(two).diagnostics_
    assert (told["noisy"], told["noisy_evidence"]) == (False, None)
    told = uqf.BeliefQ(0.9, states=9, models=1).fit(log(0.3)).diagnostics_
    assert (told["noisy"], told["noisy_evidence"]) == (False, None)


def test_the_true_model_is_nearly_reached():
    """As held-out likelihoods go, on average over some logs; the states are as many as there are places."""
    world, lost, gained = ring(0.3), [], []
    for seed in range(3):
        train, test = log(0.3, seed), log(0.3, 100 + seed)
        data = train[:150]
        clones, noisy = (
            started(data, layout=_core.CloneLayout(data, states=30, noisy=kind), seed=seed).trained(
                train, explore=40, settle=20, first=0, seed=seed
            )
            for kind in (False, True)
        )
        truth = true_likelihood(world, test)
        lost.append(truth - noisy.score(test)[0])
        gained.append(noisy.score(test)[0] - clones.score(test)[0])
    assert np.mean(lost) < 0.1 and np.mean(gained) > 0.03


def true_likelihood(world, data):
    """Mean log-probability of what a step shows and pays, given all before it."""
    transitions, observations = np.asarray(world.transitions), np.asarray(world.observations)
    total = 0.0
    for episode in data:
        belief = np.asarray(world.start)
        for action, observation, reward in zip(
            episode.actions, episode.observations, episode.rewards, strict=True
        ):
            moved = (belief @ transitions[action]) * observations[action, :, observation]
            moved[(np.arange(PLACES) == 0) != (reward > 0)] = 0.0
            total += np.log(moved.sum())
            belief = moved / moved.sum()
    return total / data.n_steps


def test_acting_step_by_step_is_bayes_rule(fitted):
    policy, data = fitted.policy_, log(0.3, 5, episodes=20)
    rows, cut = policy.beliefs_along(data), 0
    bias, (slopes,) = policy.parts()["bias"], policy.weights.transpose(1, 0, 2)
    for episode in data:
        state = policy.initial_state()
        for action, observation in episode.history:
            np.testing.assert_allclose(policy.q_values(state), bias + rows[cut, 1:] @ slopes, atol=1e-4)
            state, cut = policy.update(state, action, observation), cut + 1
        np.testing.assert_allclose(policy.q_values(state), bias + rows[cut, 1:] @ slopes, atol=1e-4)
        cut += 1


def test_what_reset_shows_is_believed_like_anything_else():
    data = log(0.3, 7)
    opened = uqf.Trajectories(
        **data.__getstate__() | {"first_observations": np.arange(len(data), dtype=np.int32) % LOOKS}
    )
    models = started(opened, layout=_core.CloneLayout(opened, states=20, noisy=True))
    policy = BeliefMemory([models], 2).filters
    rows = policy.beliefs_along(opened)[:, 1:]
    start = models.model(0)["start"].astype(float)
    (shown,) = shown_by_states(models.filters())
    for index, cut in enumerate(opened.offsets[:-1] + np.arange(len(opened))):
        expected = start * shown[index % LOOKS]
        np.testing.assert_allclose(rows[cut], expected / expected.sum(), atol=1e-5)


def test_same_bits_for_any_number_of_threads_and_after_pickle(fitted, tmp_path):
    again = uqf.BeliefQ(**SETTINGS, threads=2).fit(log(0.3))
    mine, theirs = fitted.policy_.parts(), again.policy_.parts()
    assert all(np.array_equal(part, theirs[name]) for name, part in mine.items())
    models = pickle.loads(pickle.dumps(fitted.families_[0]))
    assert models.noisy and np.array_equal(models.filters()["shown"], fitted.families_[0].filters()["shown"])
    fitted.save(tmp_path / "policy.safetensors")
    loaded = uqf.load(tmp_path / "policy.safetensors").parts()
    assert all(np.array_equal(part, loaded[name]) for name, part in mine.items())


def test_more_episodes_are_learned_by_the_same_kind_of_models(fitted):
    again = fitted.refit(log(0.3, 0, episodes=400))
    assert again.noisy_ and again.diagnostics_["models"] == fitted.diagnostics_["models"]


def test_models_are_worlds_to_play_in(fitted):
    for world in worlds_of(fitted.families_, discount=0.9, horizon=40):
        np.testing.assert_allclose(np.asarray(world.observations).sum(axis=2), 1.0, atol=1e-6)
        played, seen = (data.observations for data in (uqf.rollout(world, episodes=300, seed=0), log(0.3)))
        shares = [np.bincount(part, minlength=LOOKS) / len(part) for part in (played, seen)]
        np.testing.assert_allclose(*shares, atol=0.05)


def test_shown_must_fit_the_states(fitted):
    parts = fitted.policy_.parts()
    with pytest.raises(ValueError):
        uqf.BeliefPolicy(**parts | {"shown": parts["shown"][:-1]})
    with pytest.raises(ValueError):
        uqf.BeliefPolicy(**parts | {"shown": np.append(parts["shown"], np.float32(0.5))})
    with pytest.raises(ValueError):
        uqf.BeliefPolicy(**parts | {"shown": parts["shown"] + np.float32(2.0)})
