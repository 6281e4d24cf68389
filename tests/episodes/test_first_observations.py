"""What an episode shows before its first action is part of its history."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from logged import logged
from strategies import trajectories
from uqf.baselines import MemorylessQ
from uqf.episodes.fingerprint import fingerprint
from uqf.policies.policy import probs_along, started


def told(hint: float, episodes: int, seed: int) -> uqf.Trajectories:
    """One step a game: reset shows the right action with probability `hint`, and the right action pays 1."""
    rng = np.random.default_rng(seed)
    right, taken = rng.integers(2, size=(2, episodes))
    shown = np.where(rng.random(episodes) < hint, right, 1 - right)
    return logged(
        taken,
        0,
        (taken == right).astype(float),
        n_actions=2,
        n_observations=2,
        behavior_probs=0.5,
        terminated=True,
        first_observations=shown,
    )


@pytest.mark.parametrize(
    "learner", [uqf.BeliefQ(), uqf.ContextQ(), MemorylessQ()], ids=lambda one: type(one).__name__
)
def test_learners_act_on_it(learner):
    policy = learner.fit(told(0.9, 500, seed=0)).policy_
    assert [policy.action(policy.initial_state(first=shown)) for shown in (0, 1)] == [0, 1]


@pytest.mark.parametrize("learner", [uqf.BeliefQ(), uqf.ContextQ()], ids=lambda one: type(one).__name__)
def test_a_policy_that_never_saw_one_does_not_look_at_it(learner):
    policy = learner.fit(uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)).policy_
    expected = policy.q_values(policy.initial_state())
    np.testing.assert_array_equal(policy.q_values(policy.initial_state(first=1)), expected)


@pytest.mark.parametrize("learner", [uqf.BeliefQ(), uqf.ContextQ(), MemorylessQ(k=2)])
@given(data=trajectories(), seed=st.integers(0, 9))
def test_replay_stepping_and_batches_remember_alike(learner, data, seed):
    policy = learner.fit(data).policy_.with_temperature(0.3)
    along = policy.probs_along(data)
    rows = []
    for episode in data:
        state = policy.initial_state(first=episode.first_observation)
        for action, observation in episode.history:
            rows.append(policy.action_probs(state))
            state = policy.update(state, action, observation)
    np.testing.assert_allclose(np.array(rows), along, atol=1e-6)
    batch = policy.batch(len(data), seed=seed)
    first = None if data.first_observations is None else data.first_observations.astype(np.int64)
    batch.reset(np.ones(len(data), bool), first)
    np.testing.assert_allclose(batch.action_probs(), along[data.offsets[:-1]], atol=1e-6)


def test_the_first_belief_is_the_start_among_the_clones_of_what_was_shown():
    policy = uqf.BeliefQ().fit(told(0.9, 200, seed=1)).policy_
    parts, beliefs = policy.parts(), policy.beliefs_along(told(0.9, 4, seed=2))
    assert parts["opens"]
    offset = 0
    for states, ranges in zip(parts["states"], parts["ranges"], strict=True):
        start = parts["starts"][offset : offset + states]
        for row, shown in zip(beliefs[::2], told(0.9, 4, seed=2).first_observations, strict=True):
            low, high = ranges[shown]
            expected = np.zeros(states)
            expected[low:high] = start[low:high] / start[low:high].sum()
            np.testing.assert_allclose(row[1 + offset : 1 + offset + states], expected, atol=1e-6)
        offset += states


@given(trajectories())
def test_slices_joins_and_pickles_keep_it(data):
    assert pickle.loads(pickle.dumps(data)) == data
    assert uqf.concatenate([data[:1], data[1:]] if len(data) > 1 else [data]) == data
    backwards = data[np.arange(len(data))[::-1]]
    assert [episode.first_observation for episode in backwards] == [e.first_observation for e in data][::-1]


def test_it_is_part_of_what_a_data_set_is():
    one, other = told(0.9, 5, seed=0), told(0.1, 5, seed=0)
    assert one != other and fingerprint(one) != fingerprint(other)
    bare = uqf.rollout(uqf.make("tiger"), episodes=1)
    assert bare.first_observations is None and bare[0].first_observation is None


class Echo:
    """A policy in Python that repeats what was shown first."""

    n_actions = n_observations = 2

    def initial_state(self, first=None):
        return first

    def update(self, state, action, observation):
        return state

    def action_probs(self, state):
        return np.eye(2)[state] if state is not None else np.full(2, 0.5)


class Blind(Echo):
    """The same without eyes at the start."""

    def initial_state(self):
        return None


def test_policies_in_python_see_it_if_they_ask_for_it():
    data = told(0.9, 10, seed=3)
    np.testing.assert_array_equal(probs_along(Echo(), data), np.eye(2)[data.first_observations])
    assert (probs_along(Blind(), data) == 0.5).all()
    assert (started(Echo(), 1), started(Echo()), started(Blind(), 1)) == (1, None, None)
