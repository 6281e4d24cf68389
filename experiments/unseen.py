"""Worlds that nothing was decided on: drawn from a seed, of five kinds, with 5 to 25 states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import uqf

Floats = NDArray[np.float64]

DISCOUNT, STEPS = 0.95, 40


def unseen(number: int) -> uqf.TabularPOMDP:
    """The world of a number, which is the seed and, modulo five, the kind."""
    return KINDS[number % len(KINDS)](np.random.default_rng([20_270, number]))


def any_world(rng: np.random.Generator) -> uqf.TabularPOMDP:
    """Actions lead to one of three states; states look alike; two pairs of state and action pay."""
    states, actions, shown = rng.integers(5, 21), rng.integers(2, 5), rng.integers(3, 7)
    moves = np.zeros((actions, states, states))
    for row in moves.reshape(-1, states):
        row[rng.choice(states, 3, replace=False)] = rng.dirichlet([0.5, 0.5, 0.5])
    looks = rng.dirichlet(np.full(shown, 0.1), size=states)
    rewards = np.zeros((actions, states))
    rewards.ravel()[rng.choice(actions * states, 2, replace=False)] = 1.0
    return _world(moves, looks, rewards, np.full(states, 1.0 / states))


def cue(rng: np.random.Generator) -> uqf.TabularPOMDP:
    """The first of several cells shows a cue, the others do not; in the last one the action that the cue names pays."""
    cues, cells = rng.integers(2, 4), rng.integers(3, 7)
    states = cues * cells
    cell, which = np.divmod(np.arange(states), cues)
    moves = np.zeros((cues, states, states))
    moves[:, np.arange(states), (cell + 1) % cells * cues + which] = 1.0
    ends = cell == cells - 1
    moves[:, ends] = np.where(cell == 0, 1.0 / cues, 0.0)
    looks = np.zeros((states, cues + 2))
    looks[cell == 0, :cues] = np.eye(cues)
    looks[(cell > 0) & ~ends, cues] = 1.0
    looks[ends, cues + 1] = 1.0
    looks = 0.95 * looks + 0.05 / looks.shape[1]
    rewards = np.where(ends & (which == np.arange(cues)[:, np.newaxis]), 1.0, np.where(ends, -0.5, 0.0))
    return _world(moves, looks, rewards, np.where(cell == 0, 1.0 / cues, 0.0))


def erring(rng: np.random.Generator) -> uqf.TabularPOMDP:
    """A ring of places with a sensor that is wrong now and then; staying at one place pays, at others it costs."""
    places, wrong = int(rng.integers(5, 9)), rng.uniform(0.1, 0.4)
    right = np.roll(np.eye(places), 1, axis=1)
    moves = np.stack([0.9 * move + 0.1 * np.eye(places) for move in (right, right.T, np.eye(places))])
    looks = (1.0 - wrong) * np.eye(places) + wrong / places
    rewards = np.zeros((3, places))
    rewards[2] = np.where(np.arange(places) == rng.integers(places), 1.0, -0.5)
    return _world(moves, looks, rewards, np.full(places, 1.0 / places))


def drifting(rng: np.random.Generator) -> uqf.TabularPOMDP:
    """A machine wears and its sensor errs the more; running a worn machine costs, and replacing it costs once."""
    levels, sight = int(rng.integers(5, 9)), rng.uniform(0.5, 0.9)
    wear = rng.uniform(0.1, 0.3)
    worse = (1.0 - wear) * np.eye(levels) + wear * np.eye(levels, k=1)
    worse[-1, -1] = 1.0
    new = np.zeros((levels, levels))
    new[:, 0] = 1.0
    level = np.arange(levels)
    clear = np.linspace(sight, 0.3, levels)[:, np.newaxis]
    looks = clear * np.eye(4)[level * 4 // levels] + (1.0 - clear) / 4
    run = np.where(level < levels - 2, 1.0, -3.0)
    rewards = np.stack([run, np.full(levels, -2.0), run - 0.1])
    serviced = np.eye(levels, k=-1) * 0.6 + np.eye(levels) * 0.4
    serviced[0, 0] = 1.0
    return _world(np.stack([worse, new, serviced @ worse]), looks, rewards, new[0])


def rare(rng: np.random.Generator) -> uqf.TabularPOMDP:
    """A grid that shows only how many walls there are around a cell; one corner pays, and leads to a random cell."""
    width, height = rng.integers(3, 6), rng.integers(3, 6)
    states = width * height
    x, y = np.divmod(np.arange(states), height)
    moves = np.full((4, states, states), 0.0)
    for action, (right, up) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        target = np.clip(x + right, 0, width - 1) * height + np.clip(y + up, 0, height - 1)
        moves[action, np.arange(states), target] = 0.9
        moves[action] += 0.1 * np.eye(states)
    goal = states - 1
    moves[:, goal] = 1.0 / states
    walls = 1 * (x == 0) + 1 * (x == width - 1) + 2 * (y == 0) + 2 * (y == height - 1)
    looks = np.eye(5)[np.where(np.arange(states) == goal, 4, walls)] * 0.9 + 0.1 / 5
    rewards = np.zeros((4, states))
    rewards[:, goal] = 1.0
    return _world(moves, looks, rewards, np.full(states, 1.0 / states))


def _world(moves: Floats, looks: Floats, rewards: Floats, start: Floats) -> uqf.TabularPOMDP:
    shown = np.broadcast_to(looks, (len(moves), *looks.shape))
    return uqf.TabularPOMDP(moves, shown, rewards, start, DISCOUNT, first_observations=looks, horizon=STEPS)


KINDS: tuple[Callable[[np.random.Generator], uqf.TabularPOMDP], ...] = (
    any_world,
    cue,
    erring,
    drifting,
    rare,
)
