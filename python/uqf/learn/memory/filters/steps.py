"""The steps of a data set, sorted by what happened in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import cut_before, episodes_within, reward_classes
from uqf.episodes.trajectories import Trajectories

IntArray = NDArray[np.int64]
Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Alphabet:
    """The symbols that occur in a data set, in increasing order."""

    symbols: IntArray
    n_observations: int

    @classmethod
    def of(cls, data: Trajectories) -> Alphabet:
        return cls(np.unique(data.symbols).astype(np.int64), data.n_observations)

    def __len__(self) -> int:
        return len(self.symbols)

    @property
    def actions(self) -> IntArray:
        return np.asarray(self.symbols // self.n_observations)

    def places(self, data: Trajectories) -> NDArray[np.int32]:
        """The place of the symbol of every step in `symbols`, (n_steps,); −1 if it is not among them."""
        place = np.minimum(np.searchsorted(self.symbols, data.symbols), len(self) - 1)
        return np.where(self.symbols[place] == data.symbols, place, -1).astype(np.int32)


@dataclass(frozen=True)
class Steps:
    """What happened in every step: its symbol, and its *event*, the symbol with the reward's class and the world's end.

    When acting, symbols are known and rewards are not: the state of the past is driven by symbols. The state of the
    future is only needed for learning, and is driven by events, which say more.
    """

    data: Trajectories
    alphabet: Alphabet
    places: NDArray[np.int32]
    events: NDArray[np.int32]
    event_symbols: IntArray
    event_ends: NDArray[np.bool_]

    @classmethod
    def of(cls, data: Trajectories) -> Steps:
        """Those of a data set, in its order."""
        alphabet = Alphabet.of(data)
        places, ended = alphabet.places(data), np.zeros(data.n_steps, np.int64)
        ended[data.offsets[1:] - 1] = data.terminated
        # Fewer classes than elsewhere: every event has a matrix to learn.
        classes = reward_classes(data, values=12, quantiles=5)
        # Events of a symbol that go on stand side by side: sums over a symbol are sums over a slice.
        size = int(classes.max()) + 1
        kinds, events = np.unique((places * np.int64(2) + ended) * size + classes, return_inverse=True)
        symbols, ends = kinds // (2 * size), (kinds // size) % 2 == 1
        return cls(data, alphabet, places, events.astype(np.int32), symbols, ends)

    def first(self, steps: int) -> Steps:
        """Those of the first episodes, so many at most; symbols and events keep their numbers."""
        data = self.data[: episodes_within(self.data, steps)]
        if len(data) == len(self.data):
            return self
        places, events = self.places[: data.n_steps], self.events[: data.n_steps]
        return replace(self, data=data, places=places, events=events)

    @cached_property
    def before(self) -> IntArray:
        """The cut before every step, in the order of events."""
        return cut_before(self.data)[self.order]

    @cached_property
    def order(self) -> IntArray:
        """Steps in the order of events."""
        return np.argsort(self.events, kind="stable")

    @cached_property
    def first_cuts(self) -> IntArray:
        """Before the first step of every episode."""
        return np.asarray(self.data.offsets[:-1] + np.arange(len(self.data)))

    @cached_property
    def last_cuts(self) -> IntArray:
        """After the last step of every episode."""
        return np.asarray(self.data.offsets[1:] + np.arange(len(self.data)))

    @cached_property
    def event_slices(self) -> list[slice]:
        """Where every event stands in `order`."""
        ends = np.cumsum(np.bincount(self.events, minlength=len(self.event_symbols)))
        return [slice(begin, end) for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]

    @cached_property
    def symbol_slices(self) -> list[slice]:
        """Where the steps of every symbol that do not end the world stand in `order`; may be empty."""
        slices = [slice(0, 0)] * len(self.alphabet)
        for symbol, ends, part in zip(self.event_symbols, self.event_ends, self.event_slices, strict=True):
            if not ends:
                known = slices[symbol]
                slices[symbol] = part if known.stop == known.start else slice(known.start, part.stop)
        return slices


def sums_of_products(rows: Rows, others: Rows, slices: list[slice]) -> FloatArray:
    """Σ x yᵀ over the rows of every slice, (slices, width, other width)."""
    sums = np.empty((len(slices), rows.shape[1], others.shape[1]))
    for place, part in enumerate(slices):
        sums[place] = sum_of_products(rows[part], others[part])
    return sums


def sum_of_products(rows: Rows, others: Rows, block: int = 8192) -> FloatArray:
    """Σ x yᵀ over all rows, (width, other width); single precision within blocks of rows only."""
    total = np.zeros((rows.shape[1], others.shape[1]))
    for first in range(0, len(rows), block):
        total += rows[first : first + block].T @ others[first : first + block]
    return total
