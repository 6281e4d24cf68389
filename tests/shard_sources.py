"""Sources of shards that tests can watch, slow down or break. In a module of its own, so that workers can import it."""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import uqf

HASHED = {
    "rank": 3,
    "discount": 0.9,
    "target": "return",
    "projection": "hashed",
    "prefix_dim": 20,
    "suffix_dim": 20,
}
LISTED = {
    "rank": 3,
    "discount": 0.9,
    "target": "return",
    "max_prefix": 2,
    "max_suffix": 2,
    "n_prefixes": 20,
}


def bits(learner):
    return (learner.wfa_.alpha.tobytes(), learner.wfa_.operators.tobytes(), learner.wfa_.omega.tobytes())


def with_paths():
    """The environment of a process that finds what this one finds."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@dataclass(frozen=True)
class WatchedShard:
    """Episodes that take a while to read, and leave a file behind for every reading."""

    data: uqf.Trajectories
    name: str
    folder: Path
    seconds: float = 0.0
    broken: bool = False
    changeable: bool = False

    @property
    def n_steps(self) -> int:
        return self.data.n_steps

    def batches(self) -> Iterator[uqf.Trajectories]:
        (self.folder / f"{self.name}.{os.getpid()}.{time.time_ns()}").touch()
        if self.broken:
            os._exit(1) if self.seconds < 0 else (_ for _ in ()).throw(ValueError("a broken shard"))
        time.sleep(self.seconds)
        yield self.data


class Watched:
    """A data set as a list of `WatchedShard`."""

    in_memory = False
    reward_size = 100.0

    def __init__(self, shards: list[WatchedShard]) -> None:
        self.shards = shards
        self.n_actions, self.n_observations = shards[0].data.n_actions, shards[0].data.n_observations
        self.codebook = None

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, index: int) -> WatchedShard:
        return self.shards[index]

    def readings(self) -> list[str]:
        """One entry per reading: shard.pid.time."""
        return sorted(path.name for path in self.shards[0].folder.iterdir())
