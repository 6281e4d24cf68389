"""The interface of Stable-Baselines3."""

import numpy as np
import pytest

import uqf
from uqf.adapters.sb3 import Predictor


def test_predict_gives_each_parallel_episode_its_own_memory():
    # After (0, 0) action 1 is taken, after (1, 1) action 0, at the start action 0.
    rule = np.array([1, 1, 1, 0, 0])
    policy = uqf.TablePolicy(np.eye(2)[rule], 2)
    predictor = Predictor(policy)
    actions, state = predictor.predict(np.array([9, 9]))
    assert actions.tolist() == [0, 0], "what reset shows is not looked at"
    actions, state = predictor.predict(np.array([0, 0]), state, np.array([False, True]))
    assert actions.tolist() == [1, 0]
    actions, _ = predictor.predict(np.array([1, 0]), state, deterministic=True)
    assert actions.tolist() == [0, 1]
    single, state = predictor.predict(5)
    assert single.shape == () and int(single) == 0
    with pytest.raises(ValueError, match="2 observations, but state has 1 episodes"):
        predictor.predict(np.array([0, 0]), state)


def test_predict_speaks_names():
    names = uqf.Codebook.named(("wait", "go"), ("red",))
    policy = uqf.TablePolicy(np.eye(2)[[0, 1, 0, 1, 1]], 2)
    predictor = Predictor(policy, codebook=names)
    action, state = predictor.predict("red")
    assert action == "go"
    action, state = predictor.predict("red", state)
    assert action == "wait"
    action, _ = predictor.predict("violet", state)
    assert action == "go", "an unknown observation has a code of its own"
