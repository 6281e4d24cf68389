"""Episodes of Minari data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from uqf.data.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.worlds.spaces import Coding, coding


def _elements(stacked: Any, space: Any, length: int) -> list[Any]:
    """The elements of a stacked sequence: Minari stacks the parts of Tuple and Dict spaces one by one."""
    if isinstance(space, spaces.Dict):
        parts = {name: _elements(stacked[name], part, length) for name, part in space.spaces.items()}
        return [{name: part[index] for name, part in parts.items()} for index in range(length)]
    if isinstance(space, spaces.Tuple):
        listed = [_elements(part, inner, length) for part, inner in zip(stacked, space.spaces, strict=True)]
        return list(zip(*listed, strict=True))
    if len(stacked) != length:
        raise FileFormatError(f"{len(stacked)} entries where {length} are due")
    return list(stacked)


def _codes(stacked: Any, space: Any, codes: Coding, length: int) -> list[int]:
    return [codes.encode(element) for element in _elements(stacked, space, length)]


def from_minari(dataset: Any) -> Trajectories:
    """Episodes of a `minari.MinariDataset` with finite spaces, as `uqf.from_gymnasium` codes them.

    Minari has T + 1 observations for T actions: the one before the first action becomes that of
    `first_observations`. Minari knows no propensities, so the data have none.

    Parameters
    ----------
    dataset : minari.MinariDataset
        With finite spaces of actions and observations.

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
    actions = coding(dataset.action_space, "action")
    observations = coding(dataset.observation_space, "observation")
    episodes, ended, first = [], [], []
    for index, episode in enumerate(dataset.iterate_episodes()):
        length = len(episode.rewards)
        try:
            seen = _codes(episode.observations, dataset.observation_space, observations, length + 1)
            taken = _codes(episode.actions, dataset.action_space, actions, length)
        except FileFormatError as error:
            raise FileFormatError(f"episode {index} of the Minari data set: {error}") from None
        episodes.append((taken, seen[1:], np.asarray(episode.rewards, np.float64)))
        first.append(seen[0])
        ended.append(bool(episode.terminations[-1]))
    if not episodes:
        raise FileFormatError("the Minari data set holds no episode")
    return Trajectories.from_episodes(
        episodes,
        n_actions=actions.n,
        n_observations=observations.n,
        terminated=ended,
        first_observations=first,
    )
