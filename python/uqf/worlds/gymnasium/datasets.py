"""Data sets of d3rlpy and RLDS as episodes, and episodes as data sets of d3rlpy, Minari and RLDS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from uqf.episodes.checks import instance
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError, kind_of
from uqf.reading.shards import checked_data
from uqf.types import AnyArray, Raw, Record
from uqf.worlds.gymnasium.minari import from_minari
from uqf.worlds.gymnasium.spaces import Space

if TYPE_CHECKING:
    import d3rlpy
    import minari


def from_d3rlpy(dataset: d3rlpy.dataset.ReplayBufferBase, *, action_bins: int | None = None) -> Trajectories:
    """Episodes of a d3rlpy data set, coded as those of `uqf.from_minari`.

    d3rlpy keeps what was seen before every action, so the first is kept as that of `first_observations`; what followed
    the last action is not in the data, and is taken to be what was seen before it.

    Parameters
    ----------
    dataset : d3rlpy.dataset.MDPDataset or ReplayBuffer
        Anything with `episodes`, each with `observations`, `actions`, `rewards` and `terminated`.
    action_bins : int, optional
        Every number of a continuous action is cut into so many values, as in `uqf.GymnasiumWorld`.

    Returns
    -------
    Trajectories
        The episodes, in the order of the data set.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np, uqf
    >>> episode = SimpleNamespace(
    ...     observations=np.array([[3], [1]]), actions=np.array([[1], [0]]), rewards=np.array([[0.0], [2.0]]),
    ...     terminated=True,
    ... )
    >>> data = uqf.from_d3rlpy(SimpleNamespace(episodes=[episode]))
    >>> data.first_observations.tolist(), data.observations.tolist()
    ([3], [1, 1])
    """
    try:
        listed = [
            (
                np.concatenate([np.asarray(one.observations), np.asarray(one.observations)[-1:]]),
                np.asarray(one.actions),
                np.asarray(one.rewards, np.float64).reshape(-1),
                bool(one.terminated),
            )
            for one in dataset.episodes
        ]
    except AttributeError as error:
        raise TypeError(f"dataset is {kind_of(dataset)}: give a d3rlpy data set ({error})") from None
    return _coded(listed, action_bins, "d3rlpy")


def from_rlds(dataset: Iterable[Raw], *, action_bins: int | None = None) -> Trajectories:
    """Episodes of an RLDS data set, coded as those of `uqf.from_minari`.

    Parameters
    ----------
    dataset : tf.data.Dataset, or any iterable of episodes
        Each with "steps": mappings (or a mapping of arrays) of observation, action, reward, is_last and is_terminal. Of
        a step with is_last only the observation counts, as RLDS says.
    action_bins : int, optional
        As in `uqf.from_d3rlpy`.

    Returns
    -------
    Trajectories
        The episodes, in the order of the data set.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=3, seed=0)
    >>> again = uqf.from_rlds(uqf.to_rlds(data))
    >>> again.actions.tolist() == data.actions.tolist()
    True
    """
    listed = []
    instance("dataset", dataset, Iterable, "a data set of RLDS, or a list of episodes")
    for number, episode in enumerate(dataset):
        if not isinstance(episode, Mapping) or "steps" not in episode:
            raise TypeError(f"dataset: episode {number} is {kind_of(episode)}: give mappings with 'steps'")
        steps = _columns(episode["steps"])
        missing = [name for name in ("observation", "action", "reward") if name not in steps]
        if missing:
            raise FileFormatError(f"episode {number} of the RLDS data set has no {missing[0]!r} in its steps")
        seen, taken, paid = steps["observation"], steps["action"], np.asarray(steps["reward"], np.float64)
        if bool(np.asarray(steps.get("is_last", [False]))[-1]):
            taken, paid = taken[:-1], paid[:-1]
        else:
            seen = _mapped(lambda part: np.concatenate([part, part[-1:]]), seen)
        ended = bool(np.asarray(steps.get("is_terminal", [False]))[-1])
        if len(paid):
            listed.append((seen, taken, paid.reshape(-1), ended))
    return _coded(listed, action_bins, "RLDS")


def _coded(
    episodes: list[tuple[Raw, AnyArray, AnyArray, bool]], action_bins: int | None, kind: str
) -> Trajectories:
    """Episodes (T + 1 observations, T actions, rewards, whether it ended) through the door of Minari."""
    if not episodes:
        raise FileFormatError(f"the {kind} data set holds no episode")
    shown = _space([seen for seen, _, _, _ in episodes])
    done = _space([taken for _, taken, _, _ in episodes])
    read = [
        SimpleNamespace(
            observations=_fitting(seen, shown),
            actions=_fitting(taken, done),
            rewards=paid,
            terminations=np.arange(1, len(paid) + 1) == len(paid) * ended,
        )
        for seen, taken, paid, ended in episodes
    ]
    found = SimpleNamespace(action_space=done, observation_space=shown, iterate_episodes=lambda: iter(read))
    return from_minari(found, action_bins=action_bins)


def _mapped(change: Callable[..., Raw], *values: Raw) -> Raw:
    """A function of the same part of values that are mappings, or of the values."""
    if isinstance(values[0], Mapping):
        return {name: _mapped(change, *(one[name] for one in values)) for name in values[0]}
    return change(*values)


def _space(values: list[Raw]) -> Space:
    """The smallest space of elements such as these, one value or an array of them a step."""
    if isinstance(values[0], Mapping):
        return spaces.Dict({name: _space([one[name] for one in values]) for name in values[0]})
    joined = np.concatenate([np.asarray(one) for one in values])
    if joined.dtype.kind in "iub" and joined.size == len(joined) and joined.min() >= 0:
        return spaces.Discrete(int(joined.max()) + 1)
    low, high = (np.nan_to_num(one.reduce(joined.astype(np.float64), axis=0)) for one in (np.fmin, np.fmax))
    return spaces.Box(low, high, joined.shape[1:], np.float64)


def _fitting(values: Raw, space: Space) -> Raw:
    if isinstance(space, spaces.Dict):
        return {name: _fitting(values[name], part) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Discrete):
        return np.asarray(values).reshape(-1)
    return np.asarray(values, np.float64)


def _columns(steps: Raw) -> Record:
    """The steps of an episode as arrays by name."""
    if not isinstance(steps, Mapping):
        listed = [
            _mapped(lambda part: part.numpy() if hasattr(part, "numpy") else part, step) for step in steps
        ]
        steps = (
            _mapped(lambda *parts: np.stack([np.asarray(one) for one in parts]), *listed) if listed else {}
        )
    columns: Record = _mapped(np.asarray, steps)
    return columns


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


def to_rlds(data: Trajectories) -> Iterator[Record]:
    """Episodes as RLDS has them: mappings with "steps", a mapping of arrays of T + 1 entries.

    ``tf.data.Dataset.from_tensor_slices(episode["steps"])`` makes a data set of an episode. The last step has the last
    observation; its action and reward mean nothing.

    Parameters
    ----------
    data : Trajectories
        The episodes, as in `uqf.to_minari`.

    Returns
    -------
    iterator of dict
        One for every episode.

    Examples
    --------
    >>> import uqf
    >>> episode = next(uqf.to_rlds(uqf.rollout(uqf.make("tiger"), episodes=3, seed=0)))
    >>> len(episode["steps"]["observation"])
    21
    """
    for seen, taken, paid, ended in _shown(data):
        last = np.arange(len(seen)) == len(taken)
        yield {
            "steps": {
                "observation": seen,
                "action": np.append(taken, 0).astype(np.int64),
                "reward": np.append(paid, 0.0),
                "discount": np.where(last & ended, 0.0, 1.0),
                "is_first": np.arange(len(seen)) == 0,
                "is_last": last,
                "is_terminal": last & ended,
            }
        }


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
