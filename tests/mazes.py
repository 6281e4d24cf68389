"""Small mazes written by hand."""

from functools import cache

import numpy as np

import uqf

MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right
SIDEWAYS = ((2, 3), (2, 3), (0, 1), (0, 1))


def _neighbours(rows):
    """The free cells of a map, in reading order, and the cell that each move leads to from each of them."""
    cells = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "#"]
    number = {cell: index for index, cell in enumerate(cells)}
    target = np.array([[number.get((r + dr, c + dc), number[r, c]) for r, c in cells] for dr, dc in MOVES])
    return cells, target


@cache
def grid_4x3():
    """The 4x3 world of Parr and Russell (1995): one sees walls left and right only; both exits end it."""
    rows = ["...+", ".#.-", "...."]
    cells, target = _neighbours(rows)
    states = np.arange(len(cells))
    transitions = np.zeros((4, len(cells), len(cells)))
    for action, (one, other) in enumerate(SIDEWAYS):
        for move, prob in ((action, 0.8), (one, 0.1), (other, 0.1)):
            np.add.at(transitions[action], (states, target[move]), prob)
    observations = np.zeros((4, len(cells), 4))
    observations[:, states, 2 * (target[2] == states) + (target[3] == states)] = 1.0
    marks = [rows[r][c] for r, c in cells]
    rewards = np.full(transitions.shape, -0.04)
    rewards[:, :, marks.index("+")] = 1.0
    rewards[:, :, marks.index("-")] = -1.0
    terminal = np.array([mark in "+-" for mark in marks])
    start = ~terminal / np.sum(~terminal)
    return uqf.TabularPOMDP(transitions, observations, rewards, start, 0.95, terminal=terminal, name="4x3")


@cache
def cheese_maze():
    """McCallum's (1993) maze: seven kinds of place in eleven; leaving the cheese leads anywhere, for ever."""
    rows = [".....", ".#.#.", ".#.#."]
    cells, target = _neighbours(rows)
    states = np.arange(len(cells))
    cheese = cells.index((2, 2))
    elsewhere = (states != cheese) / (len(cells) - 1)
    transitions = np.eye(len(cells))[target]
    transitions[:, cheese] = elsewhere
    walls = (target == states).T @ (1, 2, 4, 8)
    walls[cheese] = 16
    kinds = np.unique(walls)
    observations = np.broadcast_to(walls[:, np.newaxis] == kinds, (4, len(cells), len(kinds)))
    rewards = np.broadcast_to(states == cheese, (4, len(cells)))
    return uqf.TabularPOMDP(transitions, observations, rewards, elsewhere, 0.95, name="cheese maze")


def corridor(wrong, states=5):
    """Left and right along a corridor with slips; the last room pays and ends. What is shown is wrong now and then."""
    transitions = np.zeros((2, states + 1, states + 1))
    for action, step in enumerate((-1, 1)):
        for state in range(states):
            for moved, probability in ((step, 0.8), (-step, 0.2)):
                transitions[action, state, np.clip(state + moved, 0, states - 1)] += probability
    transitions[:, states - 1] = np.eye(states + 1)[states]
    transitions[:, states, states] = 1.0
    looks = np.full((states, states), wrong / states) + (1.0 - wrong) * np.eye(states)
    looks = np.concatenate([looks, np.eye(states)[:1]])
    rewards = np.zeros((2, states + 1))
    rewards[:, states - 1] = 1.0
    return uqf.TabularPOMDP(
        transitions,
        np.stack([looks, looks]),
        rewards,
        np.eye(states + 1)[0],
        0.9,
        terminal=np.arange(states + 1) == states,
        horizon=30,
    )


def random_world(seed, states=3, actions=2, observations=2, spread=1.0, discount=0.9, **more):
    """Laws drawn from Dirichlet distributions, rewards from a normal one."""
    rng = np.random.default_rng(seed)
    return uqf.TabularPOMDP(
        rng.dirichlet(np.full(states, spread), (actions, states)),
        rng.dirichlet(np.full(observations, spread), (actions, states)),
        rng.normal(size=(actions, states)),
        rng.dirichlet(np.ones(states)),
        discount,
        **more,
    )


def t_maze(length=1):
    """`reset` shows which way to turn at the end of a corridor of look-alike cells: forward, up, down.

    Turning rightly pays 1, wrongly −0.5, and every other step −0.02. Observations: two cues, corridor, junction.
    """
    states = 2 * (length + 1) + 1
    transitions, rewards = np.zeros((3, states, states)), np.full((3, states, states), -0.02)
    looks, first = np.zeros((states, 4)), np.zeros((states, 4))
    transitions[:, -1, -1] = looks[-1, 2] = first[-1, 2] = 1.0
    for cue in range(2):
        for place in range(length + 1):
            state, junction = cue * (length + 1) + place, place == length
            looks[state, 3 if junction else 2] = first[state, cue] = 1.0
            transitions[0, state, state if junction else state + 1] = 1.0
            for action in (1, 2):
                transitions[action, state, -1 if junction else state] = 1.0
                if junction:
                    rewards[action, state, -1] = 1.0 if action - 1 == cue else -0.5
    start = np.zeros(states)
    start[[0, length + 1]] = 0.5
    return uqf.TabularPOMDP(
        transitions,
        np.stack([looks] * 3),
        rewards,
        start,
        0.97,
        terminal=np.arange(states) == states - 1,
        first_observations=first,
        horizon=40,
    )
