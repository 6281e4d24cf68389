"""Logs written by hand: episodes of one length, and other versions of a log."""

import numpy as np

import uqf


def logged(actions, observations, rewards, *, behavior_probs=None, terminated=None, **sizes):
    """Episodes from parts (episodes, steps), or (episodes,) for a single step each; smaller parts are repeated."""
    shape = np.broadcast_shapes(*map(np.shape, (actions, observations, rewards)))
    steps, size = shape[1] if len(shape) == 2 else 1, int(np.prod(shape))
    flat = [np.broadcast_to(part, shape).ravel() for part in (actions, observations, rewards)]
    if behavior_probs is not None:
        sizes["behavior_probs"] = np.broadcast_to(behavior_probs, shape).ravel()
    if terminated is not None:
        sizes["terminated"] = np.broadcast_to(terminated, shape[0])
    return uqf.Trajectories(*flat, np.arange(0, size + 1, steps), **sizes)


def changed(data, **parts):
    """The same log with other parts."""
    return uqf.Trajectories(**data.__getstate__() | parts)


def in_files(data, folder, count):
    """The folder, with the episodes in so many Parquet files of about the same size."""
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(np.array_split(np.arange(len(data)), count)):
        data[part].to_parquet(folder / f"{number:02d}.parquet")
    return folder
