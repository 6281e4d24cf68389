"""Reference averages of the two PocMan games; their one-step laws are tested beside the Rust sources."""

import numpy as np
import pytest

import uqf

EPISODES = 40_000
#: Long enough that a random pocman is surely dead.
NO_CAP = 3000


def wall_avoiding(env, free):
    """Uniform over the actions that the last observation shows free; ``free(observation, action)``."""
    observations, actions = np.divmod(np.arange(env.n_observations * env.n_actions), env.n_actions)
    open_ways = free(observations, actions).reshape(env.n_observations, env.n_actions).astype(float)
    open_ways[open_ways.sum(-1) == 0.0] = 1.0
    by_observation = open_ways / open_ways.sum(-1, keepdims=True)
    start = free.start / np.sum(free.start)
    return uqf.TablePolicy(
        np.vstack([np.tile(by_observation, (env.n_actions, 1)), start]), env.n_observations
    )


def pocman_free(observation, action):
    return observation >> (4 + action) & 1


pocman_free.start = np.array([0.0, 1.0, 0.0, 1.0])  # N, E, S, W: the start has walls to the north and south

SPOCMAN_BIT = np.array([0, 1, 3, 2])  # actions are N, E, W, S but the wall bits N, E, S, W


def spocman_free(observation, action):
    return 1 - (observation >> SPOCMAN_BIT[action] & 1)


spocman_free.start = np.array([0.0, 1.0, 1.0, 0.0])


def close(score, mean, digits=0.0):
    """Within four standard errors, and half a unit of the last printed digit of the reference."""
    return abs(score.mean - mean) <= 4 * score.stderr + digits


def close_length(score, mean):
    stderr = score.lengths.std(ddof=1) / np.sqrt(len(score.lengths))
    return abs(score.lengths.mean() - mean) <= 4 * stderr + 0.05


@pytest.mark.parametrize(("discount", "mean", "digits"), [(1.0, -428.96, 0.005), (0.95, -167.49, 0.005)])
def test_pocman_uniform(discount, mean, digits):
    score = uqf.estimate_return(
        uqf.make("pocman"), None, episodes=EPISODES, horizon=NO_CAP, discount=discount, seed=5
    )
    assert close(score, mean, digits)
    assert close_length(score, 32.6)
    assert score.lengths.max() < NO_CAP


@pytest.mark.parametrize(("discount", "mean", "digits"), [(1.0, -77.31, 0.005), (0.95, -9.9, 0.05)])
def test_pocman_uniform_over_legal_moves(discount, mean, digits):
    env = uqf.make("pocman")
    policy = wall_avoiding(env, pocman_free)
    score = uqf.estimate_return(env, policy, episodes=EPISODES, horizon=NO_CAP, discount=discount, seed=6)
    assert close(score, mean, digits)
    assert close_length(score, 34.0)


def test_legal_moves_never_touch_a_wall():
    env = uqf.make("pocman")
    data = uqf.rollout(env, wall_avoiding(env, pocman_free), episodes=2000, seed=1)
    assert not np.isin(data.rewards, (-26.0, -16.0)).any()


@pytest.mark.parametrize(
    ("ghosts", "uniform", "uniform_length", "avoiding", "avoiding_length"),
    [("published", -338.0, 60.6, -66.5, 61.5), ("chasing", -185.3, 26.7, -69.6, 40.4)],
)
def test_spocman(ghosts, uniform, uniform_length, avoiding, avoiding_length):
    env = uqf.make("spocman", ghosts=ghosts)
    assert (env.horizon, env.discount) == (100, 0.99999)
    score = uqf.estimate_return(env, None, episodes=EPISODES, seed=7)
    assert close(score, uniform, 0.05)
    assert close_length(score, uniform_length)
    score = uqf.estimate_return(env, wall_avoiding(env, spocman_free), episodes=EPISODES, seed=8)
    assert close(score, avoiding, 0.05)
    assert close_length(score, avoiding_length)


@pytest.mark.parametrize("maze", ["full", "mini", "micro"])
def test_at_most_288_observations_and_death(maze):
    data = uqf.rollout(uqf.make("pocman", maze=maze), episodes=5000, seed=9)
    assert len(np.unique(data.observations)) <= 289
    died = data.rewards[data.offsets[1:] - 1] <= -101
    assert np.all(data.observations[data.offsets[1:] - 1][died & data.terminated] == 0)
