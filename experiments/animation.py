"""A policy that finds its way through the grid world, as a picture that moves.

The shade of a cell is how strongly the policy believes it is there. Its beliefs are over the states of learned models;
a linear regression on the exact beliefs of other episodes says which cells these states stand for.
"""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import rollout
from uqf.frames import play
from uqf.learn.belief_q import BeliefQ
from uqf.learn.plan.belief_model import BeliefModel
from uqf.policies.policy import BeliefPolicy
from uqf.worlds.environments import Environment
from uqf.worlds.named import make

Floats = NDArray[np.float64]

#: Pixels of a cell, seconds of a step, and how long the last picture stands.
CELL = 44
STEP = 0.45
REST = 4

#: Episodes from which the cells of the model's states are read.
READ = 100

STYLE = """
.wall { fill: #39424a } .floor { fill: #f2f1ec } .belief { fill: #0a6ebd }
.goal { fill: none; stroke: #1d8f6e; stroke-width: 3 } .agent { fill: #d1571b; stroke: #fff; stroke-width: 2 }
"""


def exact_beliefs(env: Environment, data: Trajectories) -> Floats:
    """Beliefs over the cells before every step, by Bayes' rule in the true model: (n_steps, cells)."""
    model = BeliefModel(env.tabular())
    rows = []
    for episode in data:
        belief = model.start
        for step, (action, observation) in enumerate(episode.history, start=1):
            rows.append(belief)
            if step < len(episode.history):
                belief = model.update(belief, action, observation)
    return np.stack(rows)


def learned_beliefs(policy: BeliefPolicy, data: Trajectories) -> Floats:
    """[1, beliefs of all models] before every step: (n_steps, 1 + features)."""
    after_last = data.offsets[1:] + np.arange(len(data))
    return np.delete(policy.beliefs_along(data), after_last, axis=0).astype(np.float64)


def cells_of_states(env: Environment, policy: BeliefPolicy) -> Floats:
    """What turns [1, beliefs] into weights of the cells, (1 + features, cells): ridge regression."""
    data = rollout(env, policy, episodes=READ, epsilon=0.3, seed=2)
    features = learned_beliefs(policy, data)
    penalty = 1e-3 * len(features) * np.eye(features.shape[1])
    return np.asarray(np.linalg.solve(features.T @ features + penalty, features.T @ exact_beliefs(env, data)))


def journey(env: Environment, policy: BeliefPolicy, seed: int) -> tuple[list[str], Floats]:
    """The pictures of the first episode that reaches the goal, and the weights of the cells in them."""
    data = rollout(env, policy, episodes=50, seed=seed)
    number = int(np.flatnonzero(data.terminated)[0])
    pictures = [frame.picture for frame in play(env, policy, seed=seed, episode=number)]
    weights = learned_beliefs(policy, data[number : number + 1]) @ cells_of_states(env, policy)
    arrived = env.tabular().terminal  # the end of the episode says where it ended
    return pictures, np.vstack([np.clip(weights, 0.0, 1.0), arrived])


def animated(attribute: str, values: list[str]) -> str:
    """An animation of one attribute through the steps; the last value stands for a while."""
    listed = ";".join(values + values[-1:] * REST)
    seconds = STEP * (len(values) + REST)
    return f'<animate attributeName="{attribute}" values="{listed}" dur="{seconds:g}s" repeatCount="indefinite"/>'


def moving_picture(pictures: list[str], weights: Floats, words: str) -> str:
    """An SVG of all steps; `words` describe it to those who cannot see it."""
    rows = pictures[0].splitlines()
    places = [(x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark != "#"]
    parts = [f'<rect class="wall" width="{CELL * len(rows[0])}" height="{CELL * len(rows)}" rx="8"/>']
    for (x, y), shades in zip(places, weights.T, strict=True):
        square = f'x="{CELL * x + 1}" y="{CELL * y + 1}" width="{CELL - 2}" height="{CELL - 2}" rx="4"'
        parts.append(f'<rect class="floor" {square}/>')
        if shades.max() > 0.01:
            shown = animated("fill-opacity", [f"{shade:.2g}" for shade in shades])
            parts.append(f'<rect class="belief" {square} fill-opacity="{shades[0]:.2g}">{shown}</rect>')
        if rows[y][x] == "G":
            parts.append(f'<rect class="goal" {square}/>')
    path = [position(picture) for picture in pictures]
    moves = [
        animated(name, [str(CELL * one[axis] + CELL // 2) for one in path])
        for axis, name in enumerate(("cx", "cy"))
    ]
    parts.append(f'<circle class="agent" r="{CELL // 4}">{"".join(moves)}</circle>')
    width, height = CELL * len(rows[0]), CELL * len(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{escape(words)}"><style>{STYLE}</style>{"".join(parts)}</svg>\n'
    )


def position(picture: str) -> tuple[int, int]:
    """Column and row of the agent."""
    for y, row in enumerate(picture.splitlines()):
        if "@" in row:
            return row.index("@"), y
    raise ValueError(f"nobody is in this picture:\n{picture}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.animation", description=__doc__)
    parser.add_argument("out", type=Path, help="an .svg file")
    parser.add_argument("--env", default="gridworld-far")
    parser.add_argument("--episodes", type=int, default=800, help="random episodes to learn from")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    env = make(arguments.env)
    learner = BeliefQ(env.discount).fit(rollout(env, episodes=arguments.episodes, seed=arguments.seed))
    words = f"A learned policy on its way through {env.name}; cells are shaded by its belief to be there"
    arguments.out.write_text(
        moving_picture(*journey(env, learner.policy_, arguments.seed + 1), words), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
