"""Small problems for planners."""

import numpy as np
import pytest

import mazes
import uqf


@pytest.fixture(scope="session")
def grid_4x3():
    return mazes.grid_4x3()


@pytest.fixture(scope="session")
def cheese_maze():
    return mazes.cheese_maze()


@pytest.fixture(scope="session")
def tiger():
    return uqf.make("tiger").tabular()


@pytest.fixture(scope="session")
def noisy():
    """Three places in a ring, seen through noise; actions move one way or the other, mostly, and one place pays."""
    ring = np.roll(np.eye(3), 1, axis=1)
    transitions = np.stack([0.8 * ring + 0.2 * np.eye(3), 0.8 * ring.T + 0.2 * np.eye(3)])
    shown = np.broadcast_to(0.7 * np.eye(3) + 0.1, (2, 3, 3))
    rewards = np.broadcast_to([0.0, 0.0, 1.0], (2, 3, 3))
    return uqf.TabularPOMDP(transitions, shown, rewards, np.array([1.0, 0.0, 0.0]), 0.9, horizon=20)
