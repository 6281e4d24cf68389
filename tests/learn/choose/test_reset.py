"""Every learner where `reset` shows what matters, and where it shows nothing."""

import numpy as np
import pytest

import uqf
from mazes import t_maze
from uqf.baselines import MemorylessQ
from uqf.learn.memory.hidden import Growth
from uqf.learn.model_q import ModelSettings

#: What a learner earns at least in a T-maze whose best is 0.98: with a memory of the cue, or without.
REMEMBER, FORGET = 0.9, 0.15

PLANS = ModelSettings(growth=Growth(states=16, first=16))

LEARNERS = {
    "BeliefQ": (uqf.BeliefQ(0.97, states=15, models=2), REMEMBER),
    "ContextQ": (uqf.ContextQ(0.97), REMEMBER),
    "SpectralQ": (uqf.SpectralQ(0.97), REMEMBER),
    "SummaryQ": (uqf.SummaryQ(0.97), REMEMBER),
    "ModelQ": (uqf.ModelQ(0.97, settings=PLANS), REMEMBER),
    "MemorylessQ": (MemorylessQ(2, "q-learning", discount=0.97), REMEMBER),
    "TableQ": (uqf.TableQ(0.97), FORGET),
    "ModelQ, noisy": (uqf.ModelQ(0.97, model="noisy"), FORGET),
    "UQF": (uqf.UQF(6, 0.97, target="return"), -1.0),
}


@pytest.fixture(scope="module")
def maze():
    return t_maze()


@pytest.fixture(scope="module")
def cued(maze):
    return uqf.rollout(maze, episodes=1000, seed=0)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_with_memory_follows_a_cue_of_reset(name, maze, cued):
    learner, least = LEARNERS[name]
    policy = learner.fit(cued).policy_
    assert uqf.estimate_return(maze, policy, episodes=500, seed=1, discount=1.0).mean > least


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_needs_no_first_observation(name, ring, ring_data):
    assert ring_data.first_observations is None
    learner = LEARNERS[name][0]
    earned = uqf.estimate_return(ring, learner.fit(ring_data).policy_, episodes=200, seed=1).mean
    assert np.isfinite(earned) and earned >= 0.0
    assert learner.policy_.q_values(learner.policy_.initial_state()).shape == (2,)


@pytest.mark.parametrize("learner", [uqf.SpectralQ(0.97, rank=7, rounds=1), uqf.SummaryQ(0.97)])
def test_what_reset_shows_is_part_of_the_memory(learner, cued, tmp_path):
    few = cued[:60]
    policy = learner.fit(few).policy_
    learner.save(tmp_path / "policy.safetensors")
    loaded = uqf.load(tmp_path / "policy.safetensors")
    along, before = policy.q_values_along(few), 0
    for episode in few:
        state = loaded.initial_state(first=int(episode.first_observation))
        for action, observation in episode.history:
            np.testing.assert_allclose(along[before], policy.q_values(state), atol=1e-5)
            state, before = loaded.update(state, action, observation), before + 1


@pytest.mark.parametrize("seed", range(3))
def test_the_front_door_follows_a_cue_of_reset(seed, maze):
    """Judges that hide the cue prefer a table that does not need it: 0.25 of 0.98."""
    learner = uqf.fit(uqf.rollout(maze, episodes=1000, seed=seed), discount=0.97, seed=seed)
    earned = uqf.estimate_return(maze, learner.policy_, episodes=500, seed=1, discount=1.0).mean
    assert earned > 0.97, learner.diagnostics_["chosen"]["why"]
    assert "given the first observation" in learner.diagnostics_["markov_test"]["verdict"]


def test_the_front_door_needs_no_first_observation(ring, ring_data):
    learner = uqf.fit(ring_data, discount=0.9)
    assert uqf.estimate_return(ring, learner.policy_, episodes=200, seed=1).mean > 0.65, "0.9³ at best"
