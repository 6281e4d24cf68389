"""A small world with look-alike rooms."""

import numpy as np
import pytest

import uqf


@pytest.fixture(scope="module")
def ring():
    """Four rooms in a ring; two look alike. Going right from the last room pays and ends the episode."""
    right, left = np.roll(np.eye(5), 1, axis=1), np.roll(np.eye(5), -1, axis=1)
    right[3], left[0] = np.eye(5)[4], np.eye(5)[0]
    shown = np.eye(3)[[0, 1, 1, 2, 2]]
    rewards = np.zeros((2, 5, 5))
    rewards[0, 3, 4] = 1.0
    terminal = np.arange(5) == 4
    return uqf.TabularPOMDP(
        np.stack([right, left]),
        np.stack([shown] * 2),
        rewards,
        np.eye(5)[0],
        0.9,
        terminal=terminal,
        horizon=30,
    )


@pytest.fixture(scope="module")
def ring_data(ring):
    return uqf.rollout(ring, episodes=400, seed=1)
