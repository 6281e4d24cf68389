"""Logs as tables with one row per step."""

import numpy as np
import pyarrow as pa

STEPS = {
    "episode": [7, 7, 3, 3, 3],
    "action": ["left", "right", "left", "left", "right"],
    "observation": ["wall", "door", "wall", "wall", "wall"],
    "reward": [0.0, 1.0, 0.0, -1.0, 0.5],
    "behavior_prob": [0.5, 0.5, 0.25, 0.5, 1.0],
    "terminated": [False, True, False, False, False],
}


def as_steps(data, **changes):
    """A data set as a table with one row per step."""
    episodes = np.repeat(np.arange(len(data)), data.lengths)
    ended = np.zeros(data.n_steps, bool)
    ended[data.offsets[1:] - 1] = data.terminated
    columns = {
        "episode": episodes,
        "action": data.actions,
        "observation": data.observations,
        "reward": data.rewards,
        "terminated": ended,
    }
    if data.behavior_probs is not None:
        columns["behavior_prob"] = data.behavior_probs
    if data.first_observations is not None:
        columns["first_observation"] = np.repeat(data.first_observations, data.lengths)
    return pa.table(columns | changes)


def sizes(data):
    return {"n_actions": data.n_actions, "n_observations": data.n_observations}
