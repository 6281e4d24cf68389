"""Hankel sums as arrays: what the core counts, merged and relabelled."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.learn.spectral.basis import Counting
from uqf.types import AnyArray, Matrix

Places = NDArray[np.int64]

#: Owner of the block of all symbols.
ALL = -1


@dataclass(frozen=True, eq=False)
class HankelSums:
    """Sums over episodes, not yet divided by their number. Merging in any grouping gives the same bits.

    A sum is a pair (high, low) of floats, whose terms are multiples of one small number: adding them rounds nothing.

    shape : (left_dim, right_dim)
    by_symbol : whether every seen symbol has a block of its own
    counts : (episodes, steps)
    coverage : ((known, seen) occurrences of prefixes, (known, seen) occurrences of suffixes)
    owners, offsets, keys, parts : the cells that are not zero, (cells, 2). Those of `owners[i]`, in increasing order
        `ALL` and the symbols, are `offsets[i]:offsets[i + 1]`; their keys, row · right_dim + column, increase as well.
    column, start, average : column λ (left_dim, 2); row λ at the first step of the episodes and over every place
        (right_dim, 2)
    """

    shape: tuple[int, int]
    by_symbol: bool
    counts: tuple[int, int]
    coverage: tuple[tuple[int, int], tuple[int, int]]
    owners: Places
    offsets: Places
    keys: NDArray[np.uint64]
    parts: FloatArray
    column: FloatArray
    start: FloatArray
    average: FloatArray

    @classmethod
    def of(
        cls,
        data: Trajectories,
        counting: Counting,
        *,
        by_symbol: bool = False,
        threads: int | None = None,
    ) -> HankelSums:
        """One pass over the data; `by_symbol` also keeps a block per symbol, which saves a second pass."""
        return cls(**_core.hankel_sums(data, counting, by_symbol=by_symbol, threads=threads))

    @property
    def arrays(self) -> dict[str, AnyArray]:
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: part for name, part in named.items() if isinstance(part, np.ndarray)}

    @property
    def symbols(self) -> list[int]:
        """Those that have a block of their own."""
        return [symbol for symbol in self.owners.tolist() if symbol != ALL]

    def block(self, owner: int = ALL) -> Matrix:
        """The block of all symbols or of one, (left_dim, right_dim), sparse."""
        (place,) = np.flatnonzero(self.owners == owner)
        cells = slice(*self.offsets[place : place + 2])
        row, column = np.divmod(self.keys[cells].astype(np.int64), self.shape[1])
        high, low = self.parts[cells].T
        begins = np.searchsorted(row, np.arange(self.shape[0] + 1))
        return scipy.sparse.csr_array((high + low, column, begins), shape=self.shape)

    def plus(self, other: HankelSums, sign: float = 1.0) -> HankelSums:
        """The sums of both shards, or with `sign` −1 without those of a shard that was added; neither changes."""
        if (self.shape, self.by_symbol) != (other.shape, other.by_symbol):
            raise ValueError(f"other = statistics of shape {other.shape}: these have shape {self.shape}")
        if sign < 0.0 and (np.array(self.counts) < other.counts).any():
            raise ValueError(f"other = {other.counts[0]} episodes: only {self.counts[0]} were ever added")

        def counted(mine: tuple[int, int], theirs: tuple[int, int]) -> tuple[int, int]:
            left, right = (max(0, one + int(sign) * more) for one, more in zip(mine, theirs, strict=True))
            return left, right

        pairs = zip(self.coverage, other.coverage, strict=True)
        (prefixes, suffixes) = (counted(*pair) for pair in pairs)
        # Cells of both, those of one place side by side.
        owner = np.concatenate([np.repeat(one.owners, np.diff(one.offsets)) for one in (self, other)])
        keys = np.concatenate([self.keys, other.keys])
        order = np.lexsort([keys, owner])
        owner, keys = owner[order], keys[order]
        terms = np.concatenate([self.parts, sign * other.parts])[order]
        again = np.zeros(len(keys), np.bool_)
        again[1:] = (owner[1:] == owner[:-1]) & (keys[1:] == keys[:-1])
        parts, (twice,) = terms[~again], np.nonzero(again)
        places = twice - np.arange(1, len(twice) + 1)
        parts[places] = _added(parts[places], terms[twice])
        merged = replace(
            self,
            counts=counted(self.counts, other.counts),
            coverage=(prefixes, suffixes),
            owners=np.union1d(self.owners, other.owners),
            column=_added(self.column, sign * other.column),
            start=_added(self.start, sign * other.start),
            average=_added(self.average, sign * other.average),
        )
        return merged._with_cells(owner[~again], keys[~again], parts)

    def moved(
        self, rows: tuple[Places, int], columns: tuple[Places, int], symbols: Collection[int], factor: float
    ) -> HankelSums:
        """A copy in which row i becomes row ``rows[0][i]`` of ``rows[1]``, and columns likewise; −1 leaves one out.

        Only the blocks of `symbols` are kept, and all sums are multiplied by `factor`.
        """
        row, column = (
            where[place]
            for (where, _), place in zip(
                (rows, columns), np.divmod(self.keys.astype(np.int64), self.shape[1]), strict=True
            )
        )
        owner = np.repeat(self.owners, np.diff(self.offsets))
        owners = self.owners[np.isin(self.owners, [ALL, *symbols])]
        kept = (row >= 0) & (column >= 0) & np.isin(owner, owners)
        row, column, owner = row[kept], column[kept], owner[kept]
        keys = (row * columns[1] + column).astype(np.uint64)
        order = np.lexsort([keys, owner])

        def line(sums: FloatArray, places: Places, length: int) -> FloatArray:
            moved, listed = np.zeros((length, 2)), places >= 0
            moved[places[listed]] = factor * sums[listed]
            return moved

        made = replace(
            self,
            shape=(rows[1], columns[1]),
            owners=owners,
            column=line(self.column, *rows),
            start=line(self.start, *columns),
            average=line(self.average, *columns),
        )
        return made._with_cells(owner[order], keys[order], factor * self.parts[kept][order])

    def _with_cells(self, owner: Places, keys: NDArray[np.uint64], parts: FloatArray) -> HankelSums:
        """Other cells, in the order of owners and keys; those that are zero, such as of forgotten data, are dropped."""
        kept = (parts != 0.0).any(axis=1)
        offsets = np.append(np.searchsorted(owner[kept], self.owners), np.count_nonzero(kept))
        return replace(self, offsets=offsets, keys=keys[kept], parts=parts[kept])


def _added(sums: FloatArray, terms: FloatArray) -> FloatArray:
    """Pairs (n, 2) and pairs: Knuth's two-sum of the one with both parts of the other, renormalised."""
    high, low = sums.T
    for term in terms.T:
        total = high + term
        shadow = total - high
        low = low + ((high - (total - shadow)) + (term - shadow))
        high = total + low
        low = low - (high - total)
    return np.stack([high, low], axis=1)
