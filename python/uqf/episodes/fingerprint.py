"""A short number that stands for a data set: equal for equal episodes, in whatever order and files they come."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.sums import time_within
from uqf.episodes.trajectories import Trajectories
from uqf.types import AnyArray

Words = NDArray[np.uint64]

#: Two independent sums of 64 bits make an accident impossible.
SALTS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)


@dataclass(frozen=True)
class Fingerprint:
    """How many episodes, and sums of hashes of their content; additive, so that files can be read one by one.

    Columns and allowed actions are part of it, names and propensities are not.
    """

    episodes: int
    sums: tuple[int, ...]

    @classmethod
    def of(cls, data: Trajectories) -> Fingerprint:
        return cls(len(data), tuple(int(_hashes(data, salt).sum()) for salt in SALTS))

    def plus(self, other: Fingerprint) -> Fingerprint:
        sums = tuple((one + more) % 2**64 for one, more in zip(self.sums, other.sums, strict=True))
        return Fingerprint(self.episodes + other.episodes, sums)

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.episodes, *self.sums]).encode()).hexdigest()


def fingerprint(data: Trajectories) -> str:
    """Of a data set in memory."""
    return Fingerprint.of(data).digest


def _hashes(data: Trajectories, salt: int) -> Words:
    """One of every episode, (n_episodes,)."""
    # Adding 0 makes one zero of both.
    rewards = np.ascontiguousarray(data.rewards + 0.0).view(np.uint64)
    symbols = (data.actions.astype(np.uint64) << np.uint64(32)) | data.observations.astype(np.uint64)
    within = _mixed(time_within(data).astype(np.uint64) + np.uint64(salt))
    for table in (data.columns, data.allowed):
        within = within if table is None else _mixed(within ^ _row_hashes(table))
    steps = _mixed(rewards ^ _mixed(symbols ^ within))
    first = np.zeros(len(data)) if data.first_observations is None else data.first_observations + 1
    ends = (first.astype(np.uint64) << np.uint64(1)) | data.terminated.astype(np.uint64)
    if data.first_columns is not None:
        ends = ends ^ _row_hashes(data.first_columns)
    return _mixed(np.add.reduceat(steps, data.offsets[:-1]) ^ _mixed(ends + np.uint64(salt)))


def _row_hashes(table: AnyArray) -> Words:
    """One of every row of a table, (rows,)."""
    hashes = np.zeros(len(table), np.uint64)
    for place, column in enumerate(table.T):
        if column.dtype == np.bool_:
            words = column
        else:  # one zero and one NaN of all
            words = np.where(np.isnan(column), np.float32(np.nan), column + np.float32(0.0)).view(np.uint32)
        hashes += _mixed(words.astype(np.uint64) ^ _mixed(np.full(1, place + 1, np.uint64)))
    return hashes


def _mixed(words: Words) -> Words:
    """Every bit of the result depends on every bit: the last steps of the generator SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
