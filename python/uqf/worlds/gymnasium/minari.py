"""Episodes of Minari data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.types import Raw, Record
from uqf.worlds.gymnasium.numeric_actions import known_bins
from uqf.worlds.gymnasium.space_codes import codes_shown, encoded, learned, one_to_one
from uqf.worlds.gymnasium.space_columns import column_sizes, raw_columns
from uqf.worlds.gymnasium.spaces import Space, checked_observations, coding

if TYPE_CHECKING:
    import minari


def _elements(stacked: Raw, space: Space, length: int) -> list[Raw]:
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
    bins = known_bins(dataset.action_space, action_bins, None)
    actions = coding(dataset.action_space, "action", action_bins)
    space = checked_observations(dataset.observation_space)
    episodes, ended, first = [], [], []
    for index, episode in enumerate(dataset.iterate_episodes()):
        length = len(episode.rewards)
        try:
            seen = _elements(episode.observations, space, length + 1)
            taken = _elements(episode.actions, dataset.action_space, length)
        except FileFormatError as error:
            raise FileFormatError(f"episode {index} of the Minari data set: {error}") from None
        codes = [actions.encode(action) for action in taken]
        episodes.append((codes, seen[1:], np.asarray(episode.rewards, np.float64)))
        first.append(seen[0])
        ended.append(bool(episode.terminations[-1]))
    if not episodes:
        raise FileFormatError("the Minari data set holds no episode")
    codebook = None
    if not codes_shown(space):
        codebook = one_to_one(space) or learned(space, episodes, first, seed=0)
    if bins is not None:
        codebook = (codebook or Codebook.named()).with_actions(bins)
    later, extras = [one for _, seen, _ in episodes for one in seen], Record()
    sizes = column_sizes(space, codebook)
    if sizes is not None:
        extras = {
            "columns": raw_columns(codebook, space, later, sizes),
            "first_columns": raw_columns(codebook, space, first, sizes),
            "column_sizes": sizes,
        }
    return Trajectories(
        np.concatenate([taken for taken, _, _ in episodes]),
        encoded(codebook, space, later),
        np.concatenate([rewards for _, _, rewards in episodes]),
        np.cumsum([0, *(len(taken) for taken, _, _ in episodes)]),
        n_actions=actions.n,
        n_observations=codes_shown(space) or (codebook and codebook.n_codes) or 1,
        terminated=ended,
        first_observations=encoded(codebook, space, first),
        codebook=codebook,
        **extras,
    )
