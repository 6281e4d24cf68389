"""Episodes as data sets of Minari and d3rlpy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from uqf.episodes.trajectories import Trajectories
from uqf.reading.shards import checked_data
from uqf.types import AnyArray, Raw, Record
from uqf.worlds.gymnasium.spaces import Space

if TYPE_CHECKING:
    import d3rlpy
    import minari


def _shown(data: Trajectories) -> Iterator[tuple[AnyArray, AnyArray, AnyArray, bool]]:
    """(T + 1 observations that were seen, actions, rewards, whether it ended) of every episode.

    They are raw columns, (T + 1, d) float32, where there are any, or codes. Where nothing was shown first that row is
    NaN, or the code after the last, as in `uqf.gymnasium_env`.
    """
    seen: AnyArray = checked_data(data).observations
    first: AnyArray | None = data.first_observations
    if first is None:
        first = np.full(len(data), data.n_observations)
    if data.columns is not None:
        blank = np.full((len(data), data.columns.shape[1]), np.nan, np.float32)
        seen, first = data.columns, blank if data.first_columns is None else data.first_columns
    for number, (start, end) in enumerate(pairwise(data.offsets)):
        steps = slice(start, end)
        shown = np.concatenate([first[number : number + 1], seen[steps]])
        yield shown, data.actions[steps], data.rewards[steps], bool(data.terminated[number])


def to_minari(data: Trajectories, dataset_id: str, **options: Raw) -> minari.MinariDataset:
    """Writes episodes as a Minari data set on this machine, and gives it; `uqf.from_minari` reads it back.

    Parameters
    ----------
    data : Trajectories
        The episodes: raw columns where there are any, or codes. Where nothing is shown first, that row is NaN, or the
        code after the last.
    dataset_id : str
        Such as "machine/wear-v0".
    **options
        Of ``minari.create_dataset_from_buffers``, such as `author` or `description`.

    Returns
    -------
    minari.MinariDataset
        With Discrete actions, and a Box of columns or Discrete codes.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=3, seed=0)
    >>> uqf.to_minari(data, "tiger/random-v0").total_steps  # doctest: +SKIP
    60
    """
    try:
        from minari import create_dataset_from_buffers
        from minari.data_collector import EpisodeBuffer
    except ModuleNotFoundError as error:
        raise ImportError(f"to_minari needs {error.name}: pip install 'minari[create,hdf5]'") from error
    buffers = []
    for seen, taken, paid, ended in _shown(data):
        last = np.arange(1, len(taken) + 1) == len(taken)
        parts: Record = {"observations": seen, "actions": taken.astype(np.int64), "rewards": paid}
        buffers.append(EpisodeBuffer(**parts, terminations=last & ended, truncations=last & (not ended)))
    shown: Space = spaces.Discrete(data.n_observations + (data.first_observations is None))
    if data.columns is not None:
        shown = spaces.Box(-np.inf, np.inf, data.columns.shape[1:], np.float32)
    given = {"action_space": spaces.Discrete(data.n_actions), "observation_space": shown}
    return create_dataset_from_buffers(dataset_id, buffers, **given | options)


def to_d3rlpy(data: Trajectories) -> d3rlpy.dataset.MDPDataset:
    """Episodes as a data set of d3rlpy: what was seen last before every action, as raw columns or one-hot codes.

    Parameters
    ----------
    data : Trajectories
        The episodes. Raw columns are taken where there are any; where nothing was seen yet all entries are 0.

    Returns
    -------
    d3rlpy.dataset.MDPDataset
        With discrete actions. Neither the last observations nor propensities are part of it.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=3, seed=0)
    >>> uqf.to_d3rlpy(data).size()  # doctest: +SKIP
    3
    """
    try:
        from d3rlpy.constants import ActionSpace
        from d3rlpy.dataset import MDPDataset
    except ModuleNotFoundError as error:
        raise ImportError(f"to_d3rlpy needs {error.name}: pip install d3rlpy") from error
    before = np.concatenate([shown[:-1] for shown, *_ in _shown(data)])
    codes = np.vstack([np.eye(data.n_observations), np.zeros(data.n_observations)]).astype(np.float32)
    seen = codes[before] if data.columns is None else np.nan_to_num(before)
    last = np.zeros(data.n_steps, np.bool_)
    last[data.offsets[1:] - 1] = True
    ended = np.repeat(data.terminated, data.lengths)
    return MDPDataset(
        observations=seen,
        actions=data.actions.astype(np.int64)[:, None],
        rewards=data.rewards[:, None].astype(np.float32),
        terminals=(last & ended).astype(np.float32),
        timeouts=(last & ~ended).astype(np.float32),
        action_space=ActionSpace.DISCRETE,
        action_size=data.n_actions,
    )
