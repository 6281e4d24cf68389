"""The interface of Stable-Baselines3."""

import numpy as np
import pytest

import uqf
from uqf.worlds.gymnasium.sb3 import Predictor


def test_predict_gives_each_parallel_episode_its_own_memory():
    # After (0, 0) action 1 is taken, after (1, 1) action 0, at the start action 0.
    rule = np.array([1, 1, 1, 0, 0])
    policy = uqf.TablePolicy(np.eye(2)[rule], 2)
    predictor = Predictor(policy)
    actions, state = predictor.predict(np.array([2, 2]))
    assert actions.tolist() == [0, 0], "nothing was seen yet"
    actions, state = predictor.predict(np.array([0, 0]), state, np.array([False, True]))
    assert actions.tolist() == [1, 0]
    actions, _ = predictor.predict(np.array([1, 0]), state, deterministic=True)
    assert actions.tolist() == [0, 1]
    single, state = predictor.predict(1)
    assert single.shape == () and int(single) == 0
    with pytest.raises(ValueError, match="2 observations, but state has 1 episodes"):
        predictor.predict(np.array([0, 0]), state)
    with pytest.raises(TypeError, match="state is a tuple: give the one that predict returned, or None"):
        predictor.predict(1, (np.zeros(4), np.zeros(4)))


def test_predict_tells_the_policy_what_reset_shows():
    policy = uqf.ObservationPolicy(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    predictor = Predictor(policy)
    assert int(predictor.predict(1)[0]) == 1
    actions, state = predictor.predict(np.array([0, 1]), episode_start=np.array([True, True]))
    assert actions.tolist() == [0, 1]
    actions, _ = predictor.predict(np.array([1, 0]), state, np.array([True, False]))
    assert actions.tolist() == [1, 0]


def test_predict_speaks_names():
    names = uqf.Codebook.named(["wait", "go"], ["red"])
    policy = uqf.TablePolicy(np.eye(2)[[0, 1, 0, 1, 1]], 2)
    predictor = Predictor(policy, codebook=names)
    action, state = predictor.predict("red")
    assert action == "go"
    action, state = predictor.predict("red", state)
    assert action == "wait"
    action, _ = predictor.predict("violet", state)
    assert action == "go", "an unknown observation has a code of its own"


def test_loops_without_a_state_do_not_repeat_their_draws():
    predictor = Predictor(uqf.TablePolicy(np.full((5, 2), 0.5), 2))
    drawn = [int(predictor.predict(0)[0]) for _ in range(60)]
    assert 10 < sum(drawn) < 50
    assert drawn == [
        int(another.predict(0)[0]) for another in [Predictor(predictor.policy)] for _ in range(60)
    ]


def test_an_observation_of_several_columns_is_one_observation():
    book = uqf.Codebook().fit({"temp": np.arange(40.0), "load": np.arange(40.0) % 2}, np.arange(40.0))
    policy = uqf.ObservationPolicy(np.eye(2)[np.arange(book.n_codes + 1) % 2])
    predictor = Predictor(policy, codebook=book)
    for shown in ((3.0, 1.0), np.array([3.0, 1.0]), {"temp": 3.0, "load": 1.0}):
        action, _ = predictor.predict(shown)
        assert action.shape == () and int(action) == book.encode_one((3.0, 1.0)) % 2
    stacked = (np.array([3.0, 30.0, 4.0]), np.array([1.0, 0.0, 0.0]))
    codes = [book.encode_one(one) % 2 for one in zip(*stacked, strict=True)]
    for shown in (stacked, np.stack(stacked, axis=1), dict(zip(("temp", "load"), stacked, strict=True))):
        actions, _ = predictor.predict(shown)
        assert actions.tolist() == codes
