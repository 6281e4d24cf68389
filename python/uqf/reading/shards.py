"""Data in parts that are read one at a time, on this machine or on many."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.types import TableLike

if TYPE_CHECKING:
    import distributed

#: Episodes in a block of data in memory. Part of what the last bits of a result depend on, so it never varies;
#: a multiple of the blocks of the core that leaves work for a good many threads.
BLOCK_EPISODES = 1 << 14


class Shard(Protocol):
    """Some of the episodes: what one worker reads. It can be pickled."""

    @property
    def name(self) -> str:
        """What to call it in messages."""

    @property
    def n_steps(self) -> int:
        """Number of steps, for showing progress; may be an estimate."""

    @property
    def changeable(self) -> bool:
        """Whether it may be another when it is read again."""

    def batches(self) -> Iterator[Trajectories]:
        """The episodes, a batch at a time; the same cut at every reading."""


class Source(Protocol):
    """A data set as a fixed list of shards."""

    n_actions: int
    n_observations: int
    codebook: Codebook | None

    @property
    def in_memory(self) -> bool:
        """Whether reading costs nothing."""

    @property
    def reward_size(self) -> float:
        """The largest absolute reward."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Shard: ...


@dataclass(frozen=True)
class Block:
    """Episodes in memory."""

    data: Trajectories
    name: str
    changeable: bool = False

    @property
    def n_steps(self) -> int:
        return self.data.n_steps

    def batches(self) -> Iterator[Trajectories]:
        yield self.data


class Blocks:
    """A data set in memory, cut into blocks of episodes."""

    in_memory = True

    def __init__(self, data: Trajectories, episodes: int = BLOCK_EPISODES) -> None:
        self.data, self.episodes = data, episodes
        self.n_actions, self.n_observations = data.n_actions, data.n_observations
        self.codebook = data.codebook

    @property
    def reward_size(self) -> float:
        return float(np.abs(self.data.rewards).max())

    def __len__(self) -> int:
        return -(-len(self.data) // self.episodes)

    def __getitem__(self, index: int) -> Block:
        if not 0 <= index < len(self):
            raise IndexError(f"block {index} of {len(self)}")
        first = index * self.episodes
        chosen: Trajectories = self.data[first : first + self.episodes]
        return Block(chosen, f"episodes from {first} on")


Data = Trajectories | Source | str | os.PathLike[str] | TableLike
"""What learners read: episodes in memory, shards, or whatever `uqf.read_log` reads."""

Workers: TypeAlias = "Executor | distributed.Client | None"
"""Who reads it; None is this process."""


def opened(data: Data) -> Trajectories | Source:
    """Episodes in memory or shards: our own Parquet files are read a batch at a time, any other log is read whole."""
    if isinstance(data, Trajectories):
        return data
    if hasattr(data, "reward_size") and hasattr(data, "in_memory"):
        return cast(Source, data)
    listed = data if isinstance(data, (list, tuple)) else [data]
    logs = (isinstance(one, (str, os.PathLike)) or hasattr(one, "__arrow_c_stream__") for one in listed)
    if not listed or not all(logs):
        raise TypeError(
            f"data is {kind_of(data)}: give uqf.Trajectories (see uqf.Trajectories.from_episodes), "
            "uqf.Shards, a log (a path, a pandas, polars or Arrow table, or a list of them)"
        )
    # pyarrow takes long to load
    from uqf.logs.log import read_log
    from uqf.reading.parquet_shards import Shards, are_shards

    return Shards(data) if isinstance(data, (str, os.PathLike)) and are_shards(Path(data)) else read_log(data)


def source_of(data: Data) -> Source:
    """Any data as shards; what is in memory is cut into blocks."""
    known = opened(data)
    return Blocks(known) if isinstance(known, Trajectories) else known


def checked_data(data: Data) -> Trajectories:
    """The argument of `fit`, or an error that says what to give instead."""
    if not isinstance(data, Trajectories):
        raise TypeError(
            f"data is {kind_of(data)}: give uqf.Trajectories (see uqf.Trajectories.from_episodes and "
            "uqf.read_log)"
        )
    return data
