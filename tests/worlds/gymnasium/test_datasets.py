"""Data sets of others, in and out: real ones where their packages are installed."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

import uqf


@pytest.fixture(scope="module")
def tiger():
    return uqf.rollout(uqf.make("tiger"), episodes=40, seed=0)


@pytest.fixture(scope="module")
def lake():
    return uqf.from_gymnasium("FrozenLake-v1", episodes=60, seed=0)


def same(one, other):
    for name in ("actions", "observations", "rewards", "offsets", "terminated"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


def test_minari_comes_back(tiger, lake, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    for data, name in ((lake, "lake/random-v0"), (tiger, "tiger/random-v0")):
        uqf.to_minari(data, name, data_format="arrow")  # the other format needs h5py
        again = uqf.from_minari(name)
        same(again, data)
        shown = np.full(len(data), data.n_observations) if data is tiger else data.first_observations
        assert again.first_observations.tolist() == shown.tolist()


def test_columns_come_back_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    data = uqf.from_gymnasium("CartPole-v1", episodes=30, seed=0)
    uqf.to_minari(data, "cart/pole-v0", data_format="arrow")
    again = uqf.from_minari("cart/pole-v0")
    assert again.actions.tolist() == data.actions.tolist()
    for part in ("columns", "first_columns"):
        np.testing.assert_array_equal(getattr(again, part), getattr(data, part))


def test_d3rlpy_comes_back_but_for_the_last_outcome(lake):
    pytest.importorskip("d3rlpy")
    dataset = uqf.to_d3rlpy(lake)
    assert [len(one) for one in dataset.episodes] == lake.lengths.tolist()
    again = uqf.from_d3rlpy(dataset)
    assert again.actions.tolist() == lake.actions.tolist()
    assert again.terminated.tolist() == lake.terminated.tolist()
    np.testing.assert_allclose(again.rewards, lake.rewards)


def test_measurements_and_numbers_of_actions_are_coded():
    rng = np.random.default_rng(0)
    seen = rng.normal(size=(40, 10, 2))
    episodes = [
        SimpleNamespace(
            observations=pose, actions=rng.uniform(-1, 1, size=(10, 1)), rewards=pose[:, :1], terminated=False
        )
        for pose in seen
    ]
    data = uqf.from_d3rlpy(SimpleNamespace(episodes=episodes), action_bins=3)
    assert data.n_actions == 3 and data.n_steps == 400 and not data.terminated.any()
    assert data.codebook.columns_ == ("observation.0", "observation.1")
    np.testing.assert_array_equal(data.first_columns, seen[:, 0].astype(np.float32))


def test_vector_environments_are_played_by_their_kind():
    vectors = gymnasium.make_vec("FrozenLake-v1", num_envs=3)
    same(
        uqf.from_gymnasium(vectors, episodes=20, seed=0),
        uqf.from_gymnasium("FrozenLake-v1", episodes=20, seed=0),
    )
    # CartPole has a vector of its own that is made of no single environments.
    own = gymnasium.make_vec("CartPole-v1", num_envs=3, vectorization_mode="vector_entry_point")
    same(*(uqf.from_gymnasium(one, episodes=5, seed=0) for one in (own, "CartPole-v1")))
