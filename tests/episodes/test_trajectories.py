import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, KFold, train_test_split

import uqf
from strategies import trajectories

ARRAYS = ("actions", "observations", "rewards", "offsets", "behavior_probs", "terminated")


def make(actions=(0, 1, 1), observations=(1, 0, 2), rewards=(0.5, -1.0, 2.0), offsets=(0, 2, 3), **changes):
    sizes = {"n_actions": 2, "n_observations": 3}
    return uqf.Trajectories(actions, observations, rewards, offsets, **(sizes | changes))


@given(trajectories())
def test_episodes_partition_the_steps(data):
    assert data.shape == (len(data),) == (len(list(data)),)
    assert np.array_equal(np.concatenate([episode.rewards for episode in data]), data.rewards)
    assert np.array_equal([len(episode.actions) for episode in data], data.lengths)
    assert data.lengths.sum() == data.n_steps
    assert np.array_equal(np.divmod(data.symbols, data.n_observations), [data.actions, data.observations])


@given(trajectories(extras=True), st.data())
def test_any_selection_is_the_list_of_its_episodes(data, draw):
    chosen = draw.draw(st.lists(st.integers(-len(data), len(data) - 1), min_size=1, max_size=10))
    taken = data[np.array(chosen)]
    assert len(taken) == len(chosen)
    for position, index in enumerate(chosen):
        for mine, theirs in zip(taken[position], data[index], strict=True):
            np.testing.assert_array_equal(mine, theirs)
    mask = np.zeros(len(data), bool)
    mask[chosen] = True
    assert data[mask] == data[np.flatnonzero(mask)]


@given(trajectories(extras=True), st.data())
def test_slices_share_memory_and_agree_with_index_arrays(data, draw):
    first = draw.draw(st.integers(0, len(data) - 1))
    last = draw.draw(st.integers(first + 1, len(data)))
    part = data[first:last]
    assert part == data[np.arange(first, last)]
    assert np.shares_memory(part.rewards, data.rewards)
    assert np.shares_memory(part.actions, data.actions)
    assert data[::-1] == data[np.arange(len(data))[::-1]]


@given(trajectories(extras=True), st.data())
def test_concatenation_undoes_cutting(data, draw):
    cut = draw.draw(st.integers(1, len(data)))
    parts = [data[:cut]] + ([data[cut:]] if cut < len(data) else [])
    assert uqf.concatenate(parts) == data


@given(trajectories(extras=True))
def test_pickling_keeps_everything(data):
    copy = pickle.loads(pickle.dumps(data))
    assert copy == data
    assert not copy.rewards.flags.writeable


@given(trajectories())
def test_from_episodes_inverts_iteration(data):
    parts = [episode[:3] if data.behavior_probs is None else episode[:4] for episode in data]
    sizes = {"n_actions": data.n_actions, "n_observations": data.n_observations}
    firsts = {"first_observations": data.first_observations}
    assert uqf.Trajectories.from_episodes(parts, terminated=data.terminated, **firsts, **sizes) == data


@given(trajectories(), st.floats(0.0, 1.0))
def test_returns_are_discounted_sums(data, discount):
    expected = [sum(discount**t * reward for t, reward in enumerate(episode.rewards)) for episode in data]
    np.testing.assert_allclose(data.returns(discount), expected, atol=1e-12)


def test_arrays_of_the_right_type_are_not_copied_and_come_out_read_only():
    rewards = np.array([0.5, -1.0, 2.0])
    data = make(rewards=rewards, behavior_probs=np.full(3, 0.5))
    assert np.shares_memory(data.rewards, rewards)
    for name in ARRAYS:
        assert not getattr(data, name).flags.writeable, name
        with pytest.raises(ValueError):
            getattr(data, name)[0] = 1
    assert not data.symbols.flags.writeable
    assert not data[0].actions.flags.writeable


def test_concatenate_drops_half_known_probabilities():
    known, unknown = make(behavior_probs=[0.5, 0.5, 1.0]), make()
    assert uqf.concatenate([known, known]).behavior_probs.tolist() == [0.5, 0.5, 1.0] * 2
    assert uqf.concatenate([known, unknown]).behavior_probs is None


class MeanReturn(BaseEstimator):
    """The smallest estimator on episodes: predicts the mean return, shrunk."""

    def __init__(self, shrinkage=1.0):
        self.shrinkage = shrinkage

    def fit(self, data, y=None):
        assert isinstance(data, uqf.Trajectories)
        self.mean_ = self.shrinkage * data.returns().mean()
        return self

    def score(self, data, y=None):
        return -np.mean((data.returns() - self.mean_) ** 2)


def test_scikit_learn_splits_and_searches():
    data = uqf.rollout(uqf.make("tiger"), episodes=60, seed=1)
    train, held_out = train_test_split(data, test_size=0.25, random_state=0)
    assert isinstance(train, uqf.Trajectories)
    assert (len(train), len(held_out)) == (45, 15)
    together = np.sort(np.concatenate([train.returns(), held_out.returns()]))
    assert np.array_equal(together, np.sort(data.returns()))
    for train_index, test_index in KFold(4).split(data):
        assert len(data[train_index]) + len(data[test_index]) == 60
    search = GridSearchCV(MeanReturn(), {"shrinkage": [0.0, 1.0]}, cv=3).fit(data)
    assert search.best_params_ == {"shrinkage": 1.0}
