"""Next symbols from the last few: what a spectral model falls back on where its weights say nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray, instance, positive
from uqf.strings.sample import Strings
from uqf.types import Integers

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class _Table:
    """Counts by code, both sorted by code; codes that were not seen have count 0."""

    codes: Codes
    counts: FloatArray

    @classmethod
    def of(cls, codes: Codes) -> _Table:
        seen, counts = np.unique(codes, return_counts=True)
        return cls(seen, counts.astype(float))

    def __call__(self, codes: Codes) -> FloatArray:
        places = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[places] == codes, self.counts[places], 0.0)


class NGrams:
    """P(next symbol | the last order − 1), by Witten–Bell interpolation down to the uniform distribution.

    Symbol `n_symbols` is the end of a string when it comes next, and its beginning within a context. No probability
    is zero, and each context's sum to one.

    Parameters
    ----------
    strings : Strings
        What is counted.
    order : int
        Length of the longest n-grams.

    Examples
    --------
    >>> from uqf.strings import NGrams, Strings
    >>> bigrams = NGrams(Strings(["ab", "ab"]), 2)
    >>> bigrams.probabilities(bigrams.begin(1)).argmax()  # strings begin with a
    np.int64(0)
    """

    def __init__(self, strings: Strings, order: int) -> None:
        instance("strings", strings, Strings, "uqf.strings.Strings")
        self.order, self.base = positive("ngram", order), strings.n_symbols + 1
        if self.base**order >= 2**62:
            raise ValueError(f"ngram = {order}: too long for an alphabet of {strings.n_symbols}; lower it")
        # Every string as (order − 1) beginnings, its symbols and an end, one after the other.
        padded = np.insert(
            strings.symbols.astype(np.int64),
            np.repeat(strings.offsets, [order - 1, *[order] * (len(strings) - 1), 1]),
            strings.n_symbols,
        )
        length = strings.lengths + order
        within = np.arange(len(padded)) - np.repeat(np.cumsum(length) - length, length)
        (places,) = np.nonzero(within >= order - 1)
        self._following, self._totals, self._kinds = [], [], []
        for size in range(1, order + 1):
            codes = sum(padded[places - back] * self.base**back for back in range(size))
            self._following.append(_Table.of(np.asarray(codes)))
            self._totals.append(_Table.of(np.asarray(codes) // self.base))
            self._kinds.append(_Table.of(self._following[-1].codes // self.base))

    def begin(self, count: int) -> Codes:
        """The contexts (count, order − 1) of so many empty strings."""
        return np.full((count, self.order - 1), self.base - 1, np.int64)

    def step(self, contexts: Codes, symbols: Integers) -> Codes:
        """The contexts after one more symbol each."""
        return np.concatenate([contexts, symbols[:, np.newaxis]], axis=1, dtype=np.int64)[:, 1:]

    def probabilities(self, contexts: Codes, following: Codes | None = None) -> FloatArray:
        """P of the given next symbols (n,), or of all of them and the end (n, n_symbols + 1)."""
        asked = np.arange(self.base) if following is None else following[:, np.newaxis]
        probs = np.full(np.broadcast_shapes((len(contexts), 1), asked.shape), 1.0 / self.base)
        code = np.zeros((len(contexts), 1), np.int64)
        for size in range(1, self.order + 1):
            if size > 1:
                code = code + contexts[:, [-size + 1]] * self.base ** (size - 2)
            total, kinds = self._totals[size - 1](code), self._kinds[size - 1](code)
            counts = self._following[size - 1](code * self.base + asked)
            probs = np.where(total > 0.0, (counts + kinds * probs) / np.maximum(total + kinds, 1.0), probs)
        return probs if following is None else probs[:, 0]
