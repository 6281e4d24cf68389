"""Steps of a log from which a codebook is learned: a bounded number, in whole episodes spread over the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from uqf.data.codebook import Codebook
from uqf.data.formats.columns import Layout
from uqf.data.formats.grouping import lengths_of, whole_episodes
from uqf.data.formats.values import numbers_of, raw_values, values_of

#: Steps that a codebook is learned from; up to twice as many are held.
MAX_STEPS = 100_000


@dataclass(frozen=True)
class RawEpisodes:
    """Some episodes as they stand in the log."""

    columns: dict[str, NDArray[Any]]
    first: dict[str, NDArray[Any]] | None
    actions: NDArray[Any]
    rewards: NDArray[np.float64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, table: Any, layout: Layout, first_row: int = 0) -> RawEpisodes:
        """The episodes of a table that holds whole ones only."""
        lengths = lengths_of(table, layout, first_row)
        actions = values_of(table, layout.names["action"], first_row)
        return cls(
            {name: raw_values(table, name) for name in layout.observation},
            first_columns(table, layout, lengths),
            np.asarray(actions.to_numpy(zero_copy_only=False)),
            numbers_of(table, layout.names["reward"], first_row),
            lengths,
        )

    def take(self, episodes: NDArray[np.int64]) -> RawEpisodes:
        """Some of the episodes."""
        chosen = np.zeros(len(self.lengths), np.bool_)
        chosen[episodes] = True
        steps = np.repeat(chosen, self.lengths)
        return RawEpisodes(
            {name: values[steps] for name, values in self.columns.items()},
            None if self.first is None else {name: values[chosen] for name, values in self.first.items()},
            self.actions[steps],
            self.rewards[steps],
            self.lengths[chosen],
        )

    @classmethod
    def joined(cls, parts: list[RawEpisodes]) -> RawEpisodes:
        """All episodes of several parts."""

        def join(arrays: list[NDArray[Any]]) -> NDArray[Any]:
            alike = len({array.dtype.kind for array in arrays} - {"i", "u", "f"}) == 0
            return np.concatenate(arrays if alike else [array.astype(object) for array in arrays])

        return cls(
            {name: join([part.columns[name] for part in parts]) for name in parts[0].columns},
            None
            if parts[0].first is None
            else {name: join([(part.first or {})[name] for part in parts]) for name in parts[0].first},
            join([part.actions for part in parts]),
            np.concatenate([part.rewards for part in parts]),
            np.concatenate([part.lengths for part in parts]),
        )

    def codebook(self) -> Codebook:
        """The codebook learned from these episodes, without names of actions."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        return Codebook().fit(
            self.columns, self.rewards, offsets, actions=self.actions.astype(str), first=self.first
        )


def first_columns(table: Any, layout: Layout, lengths: NDArray[np.int64]) -> dict[str, NDArray[Any]] | None:
    """What every episode showed first, under the names of the observation's columns."""
    if not layout.first_observation:
        return None
    rows = pa.array(np.cumsum(lengths) - lengths) if layout.per_step else None
    pairs = zip(layout.observation, layout.first_observation, strict=True)
    return {name: raw_values(table, first, rows) for name, first in pairs}


def sample_of(
    read: Callable[[list[str]], Iterable[Any]], layout: Layout, max_steps: int | None = None
) -> RawEpisodes:
    """Every n-th episode of a log, n growing with it; or, with `max_steps`, the first so many steps only."""
    kept: list[RawEpisodes] = []
    episodes, every = 0, 1
    for row, table in whole_episodes(read(layout.columns), layout):
        if table.num_rows == 0:
            continue
        part = RawEpisodes.of(table, layout, row)
        kept.append(part.take(np.flatnonzero((episodes + np.arange(len(part.lengths))) % every == 0)))
        episodes += len(part.lengths)
        steps = sum(len(part.rewards) for part in kept)
        if max_steps is not None and steps >= max_steps:
            break
        if steps > 2 * MAX_STEPS:
            whole = RawEpisodes.joined(kept)
            kept, every = [whole.take(np.arange(0, len(whole.lengths), 2))], 2 * every
    return RawEpisodes.joined(kept)
