"""Data sets of Minari."""

import types
import warnings

import minari
import numpy as np
import pytest
from gymnasium import spaces

import uqf


def minari_like(observations, observation_space):
    """The part of a MinariDataset that is read."""
    episode = types.SimpleNamespace(
        observations=observations,
        actions=np.array([1, 0]),
        rewards=np.array([0.0, 2.0]),
        terminations=np.array([False, True]),
    )
    return types.SimpleNamespace(
        action_space=spaces.Discrete(2),
        observation_space=observation_space,
        iterate_episodes=lambda: iter([episode, episode]),
    )


def test_minari_opens_with_the_first_observation():
    dataset = minari_like(np.array([3, 1, 2]), spaces.Discrete(4))
    data = uqf.from_minari(dataset)
    assert data[0].history == [(1, 1), (0, 2)]
    assert data.rewards.tolist() == [0.0, 2.0] * 2
    assert data.terminated.all() and data.behavior_probs is None
    assert data[1].first_observation == 3
    parts = {"row": np.array([0, 1, 1]), "open": np.array([1, 0, 1])}
    space = spaces.Dict(row=spaces.Discrete(2), open=spaces.Discrete(2))
    assert uqf.from_minari(minari_like(parts, space)).n_observations == 4
    with pytest.raises(uqf.FileFormatError, match="episode 0 of the Minari data set: 2 entries where 3"):
        uqf.from_minari(minari_like(np.array([3, 1]), spaces.Discrete(4)))


def test_a_real_minari_data_set(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    buffers = [
        minari.data_collector.EpisodeBuffer(
            id=index,
            observations={"row": np.array([1, 1, 0]), "open": np.array([2, 1, 0])},
            actions=np.array([1, 0]),
            rewards=np.array([0.0, 2.0]),
            terminations=np.array([False, index == 0]),
            truncations=np.array([False, index == 1]),
        )
        for index in range(2)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # author, description, … are not given
        dataset = minari.create_dataset_from_buffers(
            "uqf/test-v0",
            buffers,
            action_space=spaces.Discrete(2),
            observation_space=spaces.Dict(row=spaces.Discrete(2), open=spaces.Discrete(3)),
            data_format="arrow",
        )
    data = uqf.from_minari(dataset)
    assert uqf.from_minari("uqf/test-v0") == uqf.from_minari(minari.load_dataset("uqf/test-v0"))
    with pytest.raises(FileNotFoundError):
        uqf.from_minari("uqf/none-v0")
    assert data.rewards.tolist() == [0.0, 2.0] * 2
    assert data.terminated.tolist() == [True, False]
    assert (data.n_actions, data.n_observations) == (2, 6)
    assert [action for action, _ in data[0].history] == [1, 0]
    assert data[0].history == data[1].history
