"""The moving picture of a policy: valid, and true to the episode that it shows."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from experiments.animation import (
    cells_of_states,
    exact_beliefs,
    journey,
    learned_beliefs,
    moving_picture,
    position,
)

import uqf

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def learned():
    env = uqf.make("gridworld-near")
    return env, uqf.BeliefQ(0.99, models=2).fit(uqf.rollout(env, episodes=200, seed=0)).policy_


def test_the_picture_shows_an_episode_from_its_start_to_the_goal(learned):
    env, policy = learned
    pictures, weights = journey(env, policy, seed=1)
    assert weights.shape == (len(pictures), env.tabular().n_states)
    assert weights[0].argmax() == env.tabular().start.argmax()
    assert "G" not in pictures[-1] and "G" in pictures[-2]
    steps = np.abs(np.diff([position(picture) for picture in pictures], axis=0)).sum(axis=1)
    assert steps.max() <= 1

    image = ElementTree.fromstring(moving_picture(pictures, weights, "a < b"))
    assert image.get("aria-label") == "a < b"
    assert len(image.findall(f"{SVG}rect[@class='floor']")) == env.tabular().n_states
    lengths = {len(one.get("values").split(";")) for one in image.iter(f"{SVG}animate")}
    assert len(lengths) == 1 and lengths.pop() > len(pictures)


def test_cells_are_read_from_learned_beliefs_better_than_from_nothing(learned):
    env, policy = learned
    fresh = uqf.rollout(env, policy, episodes=50, seed=9)
    exact = exact_beliefs(env, fresh)
    assert exact.sum(axis=1) == pytest.approx(1.0)
    read = learned_beliefs(policy, fresh) @ cells_of_states(env, policy)
    errors = ((read - exact) ** 2).sum(), ((exact.mean(axis=0) - exact) ** 2).sum()
    assert errors[0] < 0.5 * errors[1]
