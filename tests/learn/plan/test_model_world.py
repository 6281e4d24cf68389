"""A learned model as a world: it plays like the log, and shows what `reset` showed."""

import numpy as np
import pytest

import uqf
from mazes import t_maze
from uqf.learn.plan.model_world import cells_of, model_world, worlds_of


def test_a_model_plays_like_the_log(ring_data):
    learner = uqf.BeliefQ(0.9, states=8, models=1).fit(ring_data)
    (world,) = worlds_of(learner.families_, discount=0.9, horizon=30)
    assert world.first_observations is None
    played = uqf.estimate_return(world, None, episodes=3000, seed=0)
    logged = ring_data.returns(0.9)
    margin = 4 * np.hypot(played.stderr, logged.std() / np.sqrt(len(logged)))
    assert abs(played.mean - logged.mean()) < margin
    states = learner.families_[0].n_features
    assert world.n_states == states + 1 and cells_of(learner.families_, 3) == 2 * (states + 1) ** 2


def test_a_model_shows_what_reset_showed():
    """A cue that is not shown cannot be followed: a policy that needs it would lose in its own model."""
    maze = t_maze()
    data = uqf.rollout(maze, episodes=600, seed=0)
    learner = uqf.BeliefQ(maze.discount, states=15, models=2).fit(data)
    for world in worlds_of(learner.families_, discount=maze.discount, horizon=40):
        played = uqf.rollout(world, episodes=400, seed=1)
        shares = np.bincount(played.first_observations, minlength=4) / 400
        np.testing.assert_allclose(shares[:2], 0.5, atol=0.1)
        assert uqf.estimate_return(world, learner.policy_, episodes=400, seed=2, discount=1.0).mean > 0.9


def test_where_nothing_is_known_the_episode_ends_and_everything_is_shown_alike():
    world = model_world(
        np.array([2.0, 0.0]),
        np.array([[[0.0, 3.0], [0.0, 0.0]]]),
        np.array([[0.25, 0.0]]),
        np.array([[1.0, 5.0]]),
        np.array([[0.0, 4.0], [0.0, 0.0]]),
        discount=0.9,
        horizon=10,
        opens=False,
    )
    np.testing.assert_allclose(world.transitions[0], [[0, 0.75, 0.25], [0, 0, 1], [0, 0, 1]])
    np.testing.assert_allclose(world.observations[0], [[0, 1], [0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(world.start, [1, 0, 0])
    assert uqf.estimate_return(world, None, episodes=2000, seed=0).mean == pytest.approx(
        1 + 0.9 * 3.75, abs=0.3
    )
