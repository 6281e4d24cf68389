"""Episodes as flat arrays cut by offsets."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf import _core
from uqf.coding.codebook import Codebook
from uqf.episodes.checks import FloatArray, floats, frozen, integers, joined_episodes, number, positive
from uqf.episodes.columns import checked_extras
from uqf.episodes.episode import Episode
from uqf.types import AnyArray, Raw, Record

MAX_SYMBOLS = 2**31 - 1

#: What there is of every step, and of every episode.
BY_STEP = ("actions", "observations", "rewards", "behavior_probs", "columns", "allowed")
BY_EPISODE = ("terminated", "first_observations", "first_columns")


class Trajectories:
    """A data set of episodes (action, observation, reward), checked once when it is made.

    Arrays come out read-only. Slices share memory with the whole; index arrays copy. The object works as a
    list of samples in scikit-learn (`KFold`, `train_test_split`, `GridSearchCV`).

    Parameters
    ----------
    actions, observations : integers, shape (n_steps,)
        Step t of an episode is the action taken and the observation that came back.
    rewards : floats, shape (n_steps,)
        The reward that arrived together with the observation.
    offsets : integers, shape (n_episodes + 1,)
        Episode i is steps ``offsets[i]:offsets[i + 1]``. Strictly increasing: there are no empty episodes.
    n_actions, n_observations : int
        Sizes of the alphabets; every entry lies below them.
    behavior_probs : floats in (0, 1], shape (n_steps,), optional
        Probability of the logged action under the policy that collected the data, *given the history*.
    terminated : booleans, shape (n_episodes,), optional
        Whether the world ended the episode (True) or it was truncated (False, the default).
    codebook : Codebook, optional
        Names of actions and observations, if the logs had names.
    first_observations : integers, shape (n_episodes,), optional
        What every episode showed before its first action, as the `reset` of Gymnasium does.
    columns : floats, shape (n_steps, d), optional
        The observations as they came, beside their codes, in single precision: numbers as they are, categories by code
        (0, 1, 2, …), NaN where a value is missing. Learners read them with `uqf.episodes.columns.columns_of`.
    first_columns : floats, shape (n_episodes, d), optional
        The same of `first_observations`: there if, and only if, both these and `columns` are.
    column_sizes : integers, shape (d,), optional
        What each column is: 0 for a number (the default for all), k for a category of k values.
    allowed : booleans, shape (n_steps, n_actions), optional
        The actions that were allowed when the action of the step was chosen, this one among them; by default all.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.Trajectories([0, 1, 0], [1, 1, 0], [0, 5, 1], [0, 2, 3], n_actions=2, n_observations=2)
    >>> data[0].history
    [(0, 1), (1, 1)]
    """

    __slots__ = (*BY_STEP, *BY_EPISODE, "offsets", "n_actions", "n_observations", "codebook", "column_sizes")

    actions: NDArray[np.int32]
    observations: NDArray[np.int32]
    rewards: FloatArray
    offsets: NDArray[np.int64]
    behavior_probs: FloatArray | None
    terminated: NDArray[np.bool_]
    n_actions: int
    n_observations: int
    codebook: Codebook | None
    first_observations: NDArray[np.int32] | None
    columns: NDArray[np.float32] | None
    first_columns: NDArray[np.float32] | None
    column_sizes: NDArray[np.int32] | None
    allowed: NDArray[np.bool_] | None

    def __init__(
        self,
        actions: ArrayLike,
        observations: ArrayLike,
        rewards: ArrayLike,
        offsets: ArrayLike,
        *,
        n_actions: int,
        n_observations: int,
        behavior_probs: ArrayLike | None = None,
        terminated: ArrayLike | None = None,
        codebook: Codebook | None = None,
        first_observations: ArrayLike | None = None,
        columns: ArrayLike | None = None,
        first_columns: ArrayLike | None = None,
        column_sizes: ArrayLike | None = None,
        allowed: ArrayLike | None = None,
    ) -> None:
        for name, size in (("n_actions", n_actions), ("n_observations", n_observations)):
            positive(name, size)
        if n_actions * n_observations > MAX_SYMBOLS:
            raise ValueError(
                f"n_actions * n_observations = {n_actions * n_observations}: at most {MAX_SYMBOLS} symbols; "
                "group rare observations first"
            )
        episode_offsets = integers("offsets", offsets, np.int64)
        n_episodes = len(episode_offsets) - 1
        if n_episodes == 0:
            raise ValueError("the data set is empty: give at least one episode")
        ended = np.zeros(max(n_episodes, 0), np.bool_)
        if terminated is not None:
            ended = np.ascontiguousarray(terminated, np.bool_)
            if ended.shape != (n_episodes,):
                raise ValueError(f"terminated has shape {ended.shape}: there are {n_episodes} episodes")
        first = first_observations
        self._keep(
            actions=integers("actions", actions, np.int32),
            observations=integers("observations", observations, np.int32),
            rewards=floats("rewards", rewards),
            behavior_probs=None if behavior_probs is None else floats("behavior_probs", behavior_probs),
            offsets=episode_offsets,
            terminated=ended,
            n_actions=operator.index(n_actions),
            n_observations=operator.index(n_observations),
            codebook=codebook,
            first_observations=None if first is None else integers("first_observations", first, np.int32),
        )
        _core.validate(self)
        self._keep(
            **self.__getstate__() | checked_extras(self, columns, first_columns, column_sizes, allowed)
        )

    def _keep(self, **parts: object) -> None:
        """These parts, None for those that are not given; arrays cannot be written to any longer."""
        for name in self.__slots__:
            part = parts.get(name)
            setattr(self, name, frozen(part) if isinstance(part, np.ndarray) else part)

    @classmethod
    def _trusted(cls, **parts: object) -> Trajectories:
        """Parts that the core made or that were cut out of checked ones."""
        made = cls.__new__(cls)
        made._keep(**parts)
        return made

    @classmethod
    def from_episodes(
        cls,
        episodes: Sequence[tuple[ArrayLike, ...]],
        *,
        n_actions: int,
        n_observations: int,
        terminated: ArrayLike | None = None,
        first_observations: ArrayLike | None = None,
    ) -> Trajectories:
        """From a list of (actions, observations, rewards), perhaps with behavior_probs as a fourth part."""
        (actions, observations, rewards, *probs), offsets = joined_episodes(episodes)
        return cls(
            actions,
            observations,
            rewards,
            offsets,
            n_actions=n_actions,
            n_observations=n_observations,
            behavior_probs=probs[0] if probs else None,
            terminated=terminated,
            first_observations=first_observations,
        )

    @property
    def shape(self) -> tuple[int]:
        """(number of episodes,)."""
        return (len(self),)

    @property
    def n_steps(self) -> int:
        """Number of steps of all episodes together."""
        return len(self.actions)

    @property
    def n_symbols(self) -> int:
        """Size of the alphabet of (action, observation) symbols."""
        return self.n_actions * self.n_observations

    @property
    def symbols(self) -> NDArray[np.int32]:
        """``action * n_observations + observation`` of every step."""
        return frozen(self.actions * np.int32(self.n_observations) + self.observations)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def returns(self, discount: float = 1.0) -> FloatArray:
        """Discounted return of every episode, the first reward undiscounted."""
        within = np.arange(self.n_steps) - np.repeat(self.offsets[:-1], self.lengths)
        return np.asarray(
            np.add.reduceat(self.rewards * number("discount", discount) ** within, self.offsets[:-1])
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Episode]:
        return (self[index] for index in range(len(self)))

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Episode: ...  # Any: of every width
    @overload
    def __getitem__(self, index: slice | ArrayLike) -> Trajectories: ...
    def __getitem__(self, index: Raw) -> Episode | Trajectories:
        """An `Episode` for an integer; `Trajectories` for a slice, an index array or a boolean mask."""
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]  # how scikit-learn 1.9 selects samples
        if isinstance(index, (int, np.integer)):
            return self._episode(int(index))
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step == 1 and first < last:
                return self._contiguous(first, last)
            return self._take(np.arange(first, last, step))
        chosen = np.asarray(index)
        if chosen.dtype == np.bool_:
            if chosen.shape != self.shape:
                raise IndexError(f"a mask of shape {chosen.shape} for {len(self)} episodes")
            chosen = np.flatnonzero(chosen)
        return self._take(integers("index", chosen, np.int64))

    def _episode(self, index: int) -> Episode:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"episode {index} of {len(self)}")
        steps = slice(self.offsets[position], self.offsets[position + 1])
        first = None if self.first_observations is None else int(self.first_observations[position])
        shown = None if self.first_columns is None else self.first_columns[position]
        parts = self._cut(BY_STEP, steps)
        ended = bool(self.terminated[position])
        return Episode(**parts, terminated=ended, first_observation=first, first_columns=shown)

    def _cut(self, names: Sequence[str], index: slice | AnyArray) -> Record:
        """Some of the parts at these steps or episodes; None stays None."""
        parts = {name: getattr(self, name) for name in names}
        return {name: None if part is None else part[index] for name, part in parts.items()}

    def _selected(
        self, episodes: slice | AnyArray, steps: slice | AnyArray, offsets: AnyArray
    ) -> Trajectories:
        cut = self._cut(BY_STEP, steps) | self._cut(BY_EPISODE, episodes)
        return self._trusted(**self.__getstate__() | cut | {"offsets": offsets})

    def _contiguous(self, first: int, last: int) -> Trajectories:
        begin, end = self.offsets[[first, last]].tolist()
        return self._selected(slice(first, last), slice(begin, end), self.offsets[first : last + 1] - begin)

    def _take(self, chosen: NDArray[np.int64]) -> Trajectories:
        if len(chosen) == 0:
            raise ValueError("the selection holds no episode; a data set needs at least one")
        chosen = np.where(chosen < 0, chosen + len(self), chosen)
        if chosen.min() < 0 or chosen.max() >= len(self):
            raise IndexError(f"episode index out of range for {len(self)} episodes")
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        steps = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return self._selected(chosen, steps, offsets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trajectories):
            return NotImplemented
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return all(
            np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f")
            if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray)
            else type(mine) is type(theirs) and mine == theirs
            for mine, theirs in pairs
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> Record:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: Record) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file, one row per episode, that `uqf.read_log` reads back bit for bit."""
        from uqf.episodes.parquet_file import write_parquet  # pyarrow takes long to load

        write_parquet(self, path)

    def __repr__(self) -> str:
        return (
            f"Trajectories({len(self)} episodes, {self.n_steps} steps, "
            f"{self.n_actions} actions, {self.n_observations} observations)"
        )
