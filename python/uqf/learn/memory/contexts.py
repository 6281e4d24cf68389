"""Contexts, the last few symbols of a history, as a tree in which longer ones are shrunk towards shorter ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import cut_before
from uqf.episodes.trajectories import Trajectories
from uqf.policies.policy import ContextPolicy

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class ContextTree:
    """Contexts of up to `depth` symbols before the steps of a data set, and the one that every cut is in.

    parents, symbols : (nodes − 1,), node i + 1 reaches one symbol farther back, symbols[i], than node parents[i];
        node 0 is the empty context, and symbols from n_symbols on are those of `uqf.episodes.propensities.last_symbols`
    lengths : (nodes,) symbols of each context
    at_cuts : (n_steps + n_episodes,) node of the longest context
    """

    parents: IntArray
    symbols: IntArray
    lengths: IntArray
    at_cuts: IntArray

    @classmethod
    def of(
        cls, data: Trajectories, depth: int, *, min_count: int = 1, max_cells: int = 2_000_000
    ) -> ContextTree:
        """The tree of a data set; contexts of two symbols and more must have occurred `min_count` times.

        Where a table over contexts and actions would have more than `max_cells` numbers, the commonest contexts are
        kept, short ones first.
        """
        limit = max(1, max_cells // data.n_actions)
        parents, symbols, at_cuts = _core.context_tree(data, depth, min_count, limit)
        lengths = np.zeros(len(parents) + 1, np.int64)
        for level in range(1, depth + 1):
            # So far lengths count up to level − 1: a parent that has reached it has children that go farther.
            lengths[1:][lengths[parents] == level - 1] = level
        return cls(parents, symbols, lengths, at_cuts)

    def __len__(self) -> int:
        return len(self.lengths)

    def levels(self, data: Trajectories) -> Iterator[tuple[IntArray, IntArray]]:
        """For every length 0, 1, …: the steps before which there is a context of that length, and its node."""
        node = self.at_cuts[cut_before(data)]
        by_length: list[tuple[IntArray, IntArray]] = []
        for length in range(int(self.lengths.max()), -1, -1):
            steps = np.flatnonzero(self.lengths[node] == length)
            by_length.append((steps, node[steps]))
            if length > 0:
                node[steps] = self.parents[node[steps] - 1]
        # A step has a context of every length up to its longest.
        return reversed(by_length)

    def policy(self, values: FloatArray, data: Trajectories, temperature: float) -> ContextPolicy:
        """Acts on the values (nodes, n_actions) of the longest known context."""
        return ContextPolicy(
            parents=self.parents,
            symbols=self.symbols,
            values=np.ascontiguousarray(values),
            n_observations=data.n_observations,
            temperature=temperature,
        )
