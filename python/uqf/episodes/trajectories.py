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
from uqf.episodes.checks import FloatArray, floats, frozen, instance, integers, positive
from uqf.episodes.episode import Episode
from uqf.types import AnyArray, Raw, Record

MAX_SYMBOLS = 2**31 - 1


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

    Examples
    --------
    >>> import uqf
    >>> data = uqf.Trajectories([0, 1, 0], [1, 1, 0], [0, 5, 1], [0, 2, 3], n_actions=2, n_observations=2)
    >>> data[0].history
    [(0, 1), (1, 1)]
    """

    __slots__ = (  # noqa: RUF023  (the order in which the core gives them)
        "actions",
        "observations",
        "rewards",
        "behavior_probs",
        "offsets",
        "terminated",
        "n_actions",
        "n_observations",
        "codebook",
        "first_observations",
    )

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
        first = None if first is None else integers("first_observations", first, np.int32)
        self._keep(
            integers("actions", actions, np.int32),
            integers("observations", observations, np.int32),
            floats("rewards", rewards),
            None if behavior_probs is None else floats("behavior_probs", behavior_probs),
            episode_offsets,
            ended,
            operator.index(n_actions),
            operator.index(n_observations),
            codebook,
            first,
        )
        _core.validate(self)

    def _keep(self, *parts: object) -> None:
        """The parts in the order of `__slots__`; arrays cannot be written to any longer."""
        for name, part in zip(self.__slots__, parts, strict=True):
            setattr(self, name, frozen(part) if isinstance(part, np.ndarray) else part)

    @classmethod
    def _trusted(cls, *parts: object) -> Trajectories:
        """Parts that the core made or that were cut out of checked ones."""
        made = cls.__new__(cls)
        made._keep(*parts)
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
        instance("episodes", episodes, Sequence, "a list of (actions, observations, rewards)")
        if len(episodes) == 0:
            raise ValueError("episodes is empty: give at least one episode")
        lengths = []
        for index, episode in enumerate(episodes):
            instance(f"episodes[{index}]", episode, Sequence, "(actions, observations, rewards)")
            sizes = {len(np.atleast_1d(np.asarray(part))) for part in episode}
            if len(episode) not in (3, 4) or len(episode) != len(episodes[0]):
                raise ValueError(
                    f"episode {index} has {len(episode)} parts: every episode is (actions, observations, "
                    "rewards), or every one has behavior_probs as a fourth part"
                )
            if len(sizes) != 1 or 0 in sizes:
                raise ValueError(
                    f"episode {index}: its parts have lengths {sorted(sizes)}, all must be equal and positive"
                )
            lengths.append(sizes.pop())
        actions, observations, rewards, *probs = (
            np.concatenate([np.atleast_1d(np.asarray(part)) for part in same])
            for same in zip(*episodes, strict=True)
        )
        return cls(
            actions,
            observations,
            rewards,
            np.concatenate([[0], np.cumsum(lengths)]),
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
        """Number of steps of every episode."""
        return np.diff(self.offsets)

    def returns(self, discount: float = 1.0) -> FloatArray:
        """Discounted return of every episode, the first reward undiscounted."""
        within = np.arange(self.n_steps) - np.repeat(self.offsets[:-1], self.lengths)
        return np.asarray(np.add.reduceat(self.rewards * float(discount) ** within, self.offsets[:-1]))

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
        return Episode(*self._cut(steps), bool(self.terminated[position]), first)

    def _cut(self, steps: slice) -> tuple[AnyArray, AnyArray, FloatArray, FloatArray | None]:
        """Actions, observations, rewards and behavior_probs of some steps."""
        probs = None if self.behavior_probs is None else self.behavior_probs[steps]
        return self.actions[steps], self.observations[steps], self.rewards[steps], probs

    def _contiguous(self, first: int, last: int) -> Trajectories:
        steps = slice(self.offsets[first], self.offsets[last])
        offsets = self.offsets[first : last + 1] - self.offsets[first]
        shown = None if self.first_observations is None else self.first_observations[first:last]
        sizes = (self.n_actions, self.n_observations, self.codebook)
        return self._trusted(*self._cut(steps), offsets, self.terminated[first:last], *sizes, shown)

    def _take(self, chosen: NDArray[np.int64]) -> Trajectories:
        if len(chosen) == 0:
            raise ValueError("the selection holds no episode; a data set needs at least one")
        chosen = np.where(chosen < 0, chosen + len(self), chosen)
        if chosen.min() < 0 or chosen.max() >= len(self):
            raise IndexError(f"episode index out of range for {len(self)} episodes")
        *steps, probs, offsets, ended, first = _core.take_episodes(self, chosen)
        known = None if self.behavior_probs is None else probs
        return self._trusted(
            *steps, known, offsets, ended, self.n_actions, self.n_observations, self.codebook, first
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trajectories):
            return NotImplemented
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return all(
            np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs
            for mine, theirs in pairs
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> Record:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: Record) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file, one row per episode, that `uqf.read_parquet` reads back bit for bit."""
        from uqf.episodes.parquet_file import write_parquet  # pyarrow takes long to load

        write_parquet(self, path)

    def __repr__(self) -> str:
        return (
            f"Trajectories({len(self)} episodes, {self.n_steps} steps, "
            f"{self.n_actions} actions, {self.n_observations} observations)"
        )
