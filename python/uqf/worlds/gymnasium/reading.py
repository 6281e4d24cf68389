"""Data sets of Minari and d3rlpy as episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from gymnasium import spaces

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError, kind_of
from uqf.types import AnyArray, Raw
from uqf.worlds.gymnasium.finite import codes_shown, coding, known_bins
from uqf.worlds.gymnasium.recorded import Recorded, as_trajectories, usual_codebook
from uqf.worlds.gymnasium.space_columns import column_sizes
from uqf.worlds.gymnasium.spaces import Space, checked_observations

if TYPE_CHECKING:
    import d3rlpy
    import minari

NO_EPISODE = "the {} data set holds no episode"


class Stacked(NamedTuple):
    """T + 1 observations and T actions of an episode; parts of mappings and tuples are stacked one by one."""

    observations: Raw
    actions: Raw
    rewards: Raw
    terminated: bool


def from_minari(dataset: minari.MinariDataset | str, *, action_bins: int | None = None) -> Trajectories:
    """Episodes of a Minari data set, coded as those of a `uqf.GymnasiumWorld`.

    Observations of spaces that are not small and finite become cells of a codebook that is learned from the data.
    Minari has T + 1 observations for T actions: the one before the first action becomes that of
    `first_observations`. Minari knows no propensities, so the data have none.

    Parameters
    ----------
    dataset : minari.MinariDataset, or its name
        With finitely many actions, or with a Box of them. By its name only a data set on this machine is read.
    action_bins : int, optional
        Every number of a Box of actions is cut into so many values, as in `uqf.GymnasiumWorld`.

    Returns
    -------
    Trajectories
        The episodes, in the order of the data set.

    Raises
    ------
    FileFormatError
        If an episode has other lengths than it must have.

    Examples
    --------
    Anything that is read like such a data set will do:

    >>> from types import SimpleNamespace
    >>> import numpy as np, uqf
    >>> from gymnasium.spaces import Discrete
    >>> episode = SimpleNamespace(
    ...     observations=np.array([3, 1, 2]), actions=np.array([1, 0]),
    ...     rewards=np.array([0.0, 2.0]), terminations=np.array([False, True]),
    ... )
    >>> dataset = SimpleNamespace(
    ...     action_space=Discrete(2), observation_space=Discrete(4), iterate_episodes=lambda: [episode]
    ... )
    >>> uqf.from_minari(dataset).first_observations.tolist()
    [3]
    """
    if isinstance(dataset, str):
        dataset = _loaded(dataset)
    episodes = [
        Stacked(one.observations, one.actions, one.rewards, bool(one.terminations[-1]))
        for one in dataset.iterate_episodes()
    ]
    return _coded(episodes, dataset.action_space, dataset.observation_space, action_bins, "Minari")


def _loaded(name: str) -> minari.MinariDataset:
    try:
        import minari
    except ModuleNotFoundError as error:
        raise ImportError(
            f"dataset = {name!r}: data sets by name need {error.name}: pip install minari"
        ) from error
    try:
        return minari.load_dataset(name)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"dataset = {name!r} is not on this machine: minari.download_dataset({name!r}) fetches it"
        ) from None


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
        seen = [np.asarray(one.observations) for one in dataset.episodes]
        done = [np.asarray(one.actions) for one in dataset.episodes]
        paid = [(one.rewards, one.terminated) for one in dataset.episodes]
    except AttributeError as error:
        raise TypeError(f"dataset is {kind_of(dataset)}: give a d3rlpy data set ({error})") from None
    if not paid:
        raise FileFormatError(NO_EPISODE.format("d3rlpy"))
    shown, acting = _space(seen), _space(done)
    episodes = [
        Stacked(_fitting(np.concatenate([one, one[-1:]]), shown), _fitting(actions, acting), *rest)
        for one, actions, rest in zip(seen, done, paid, strict=True)
    ]
    return _coded(episodes, acting, shown, action_bins, "d3rlpy")


def _space(values: list[AnyArray]) -> Space:
    """The smallest space of elements such as these, one value or an array of them a step."""
    stacked = np.concatenate(values)
    if stacked.dtype.kind in "iub" and stacked.size == len(stacked) and stacked.min() >= 0:
        return spaces.Discrete(int(stacked.max()) + 1)
    low, high = (np.nan_to_num(one.reduce(stacked.astype(np.float64), axis=0)) for one in (np.fmin, np.fmax))
    return spaces.Box(low, high, stacked.shape[1:], np.float64)


def _fitting(values: AnyArray, space: Space) -> AnyArray:
    return np.ravel(values) if isinstance(space, spaces.Discrete) else np.asarray(values, np.float64)


def _elements(stacked: Raw, space: Space, length: int) -> list[Raw]:
    if isinstance(space, spaces.Dict):
        parts = {name: _elements(stacked[name], part, length) for name, part in space.spaces.items()}
        return [{name: part[index] for name, part in parts.items()} for index in range(length)]
    if isinstance(space, spaces.Tuple):
        listed = [_elements(part, inner, length) for part, inner in zip(stacked, space.spaces, strict=True)]
        return list(zip(*listed, strict=True))
    if len(stacked) != length:
        raise FileFormatError(f"{len(stacked)} entries where {length} are due")
    return list(stacked)


def _coded(
    episodes: list[Stacked], action_space: Space, observation_space: Space, action_bins: int | None, kind: str
) -> Trajectories:
    bins = known_bins(action_space, action_bins, None)
    actions, space = coding(action_space, "action", action_bins), checked_observations(observation_space)
    read = []
    for index, episode in enumerate(episodes):
        rewards = np.asarray(episode.rewards, np.float64).ravel()
        try:
            first, *seen = _elements(episode.observations, space, len(rewards) + 1)
            taken = actions.encode(_elements(episode.actions, action_space, len(rewards))).tolist()
        except FileFormatError as error:
            raise FileFormatError(f"episode {index} of the {kind} data set: {error}") from None
        read.append(Recorded(first, taken, seen, rewards.tolist(), bool(episode.terminated)))
    if not read:
        raise FileFormatError(NO_EPISODE.format(kind))
    codebook = usual_codebook(space, lambda: read)
    if bins is not None:
        codebook = (codebook or Codebook.named()).with_actions(bins)
    codes = codes_shown(space) or (codebook and codebook.n_codes) or 1
    return as_trajectories(
        read, space, codebook, column_sizes(space, codebook), n_actions=actions.n, n_observations=codes
    )
