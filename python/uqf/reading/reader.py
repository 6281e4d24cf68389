"""Reading a data set, as often as an algorithm asks, on this machine or on many."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from uqf.episodes.fingerprint import Fingerprint
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.reading.map_reduce import Tick, map_reduce
from uqf.reading.progress import LOG, Callback, Reporter
from uqf.reading.shards import Data, Shard, Workers, source_of


class Additive(Protocol):
    """What is summed over episodes."""

    def plus(self, other: Self) -> Self:
        """The sum of both; neither changes."""


Sum = TypeVar("Sum", bound=Additive)


class Reader:
    """Sums over all episodes of a data set: `Trajectories`, `uqf.Shards`, a folder of Parquet files.

    Shards are read a batch at a time, and nothing but the sums outlives a batch. Every pass must find the same
    episodes: a file that changes in between is detected by its checksum. The bits of a sum depend on the shards,
    not on `executor` nor on `threads`.
    """

    def __init__(
        self,
        data: Data,
        *,
        threads: int | None = None,
        executor: Workers = None,
        progress: Callback | None = None,
    ) -> None:
        self.source, self.in_memory = source_of(data), isinstance(data, Trajectories)
        self.n_steps = sum(self.source[index].n_steps for index in range(len(self.source)))
        self.executor = executor
        self.threads = 1 if threads is None and executor is not None else threads
        self.reporter = Reporter(progress)
        self._checksums: tuple[int, ...] = ()
        self._fingerprint: Fingerprint | None = None

    def sum(self, stage: str, work: Callable[[Trajectories], Sum]) -> Sum:
        """The sum of ``work(episodes)`` over all batches; `work` can be pickled."""
        LOG.info("%s: %d shards, %s steps", stage, len(self.source), f"{self.n_steps:,}")
        self.reporter.enter(stage, self.n_steps)
        reads = partial(_read, work, self._fingerprint is None)
        result: Pass = map_reduce(
            reads, self.source, _plus, executor=self.executor, tick=self.reporter.advance
        )
        for index, (before, now) in enumerate(zip(self._checksums, result.checksums, strict=False)):
            if before != now:
                raise FileFormatError(
                    f"{self.source[index].name}: the file changed while it was being read; fit again when it is "
                    "at rest"
                )
        self._checksums = result.checksums
        self._fingerprint = self._fingerprint or result.fingerprint
        total: Sum = result.total
        return total

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the content of all episodes, once they have been read."""
        if self._fingerprint is None:
            raise RuntimeError("nothing was read yet: call sum first")
        return self._fingerprint.digest


@dataclass(frozen=True)
class Pass:
    """The sum over some shards, and a checksum of every shard in their order."""

    # Any: kinds of sums follow one another through one reader; `sum` gives each its type back.
    total: Any
    checksums: tuple[int, ...]
    fingerprint: Fingerprint | None
    """None if it is known from an earlier reading."""


def _read(
    work: Callable[[Trajectories], Additive], identifies: bool, shard: Shard, tick: Tick | None = None
) -> Pass:
    total, checksum, fingerprint = None, 0, None
    for batch in shard.batches():
        if shard.changeable:
            tables = [table for table in (batch.columns, batch.allowed) if table is not None]
            for array in (batch.offsets, batch.actions, batch.observations, batch.rewards, *tables):
                checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
        if identifies:
            here = Fingerprint.of(batch)
            fingerprint = here if fingerprint is None else fingerprint.plus(here)
        part = work(batch)
        total = part if total is None else total.plus(part)
        if tick is not None:
            tick(batch.n_steps)
    if total is None:
        raise FileFormatError(f"{shard.name}: the shard holds no episode")
    return Pass(total, (checksum,), fingerprint)


def _plus(one: Pass, other: Pass) -> Pass:
    fingerprint = one.fingerprint and other.fingerprint and one.fingerprint.plus(other.fingerprint)
    return Pass(one.total.plus(other.total), one.checksums + other.checksums, fingerprint)
