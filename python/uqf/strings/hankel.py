"""Hankel blocks of four statistics of strings, and the automata of these.

With A the sum of all operators, Σ_v A_v = (I − A)⁻¹ over all words v. So the four automata differ only in their ends:
"prefix" reads out (I − A)⁻¹ω, "suffix" starts from αᵀ(I − A)⁻¹, "factor" does both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray, instance, one_of
from uqf.errors import NumericalError, SpectralRadiusError
from uqf.learn.spectral.hankel import Hankel, check_ends, hankel
from uqf.learn.spectral.wfa import WFA
from uqf.strings.sample import Strings
from uqf.types import Matrix

Word = tuple[int, ...]

#: Each statistic: where a word may begin, and whether it must reach the end of the string.
STATISTICS = {
    "classic": ("start", True),
    "prefix": ("start", False),
    "suffix": ("anywhere", True),
    "factor": ("anywhere", False),
}


def checked_statistics(statistics: str) -> tuple[str, bool]:
    """(where a word may begin, whether it must reach the end)."""
    return STATISTICS[one_of("statistics", statistics, list(STATISTICS))]


def string_hankel(
    strings: Strings,
    *,
    prefixes: Iterable[Sequence[int]],
    suffixes: Iterable[Sequence[int]],
    statistics: str = "classic",
    sparse: bool = False,
    threads: int | None = None,
) -> Hankel:
    """Hankel blocks H[u, v] = f(uv) of a sample, averaged over its strings.

    Parameters
    ----------
    strings : Strings
    prefixes, suffixes : lists of words
        A word is a sequence of symbols (places in ``strings.alphabet``). Both must contain the empty word ``()``.
    statistics : str
        What f(w) estimates. "classic": the probability of the string w; "prefix": of strings that begin with w;
        "suffix": of strings that end with w; "factor": how often w is expected to occur in a string, for the empty word
        its length plus one.
    sparse : bool
        Scipy sparse matrices instead of dense arrays.
    threads : int, optional
        All cores by default; the bits do not depend on it.

    Returns
    -------
    Hankel
        `uqf.spectral_wfa` makes an automaton of f, and `uqf.strings.string_wfa` one of the probabilities of strings.

    Examples
    --------
    >>> from uqf.strings import Strings, string_hankel
    >>> strings = Strings(["ab", "", "abab", "ab"])
    >>> string_hankel(strings, prefixes=[(), (0,)], suffixes=[(), (1,)], statistics="prefix").block
    array([[1.  , 0.  ],
           [0.75, 0.75]])
    """
    begins, to_end = checked_statistics(statistics)
    blocks = hankel(
        _Episodes.of(strings),  # type: ignore[arg-type]
        prefixes=prefixes,
        suffixes=suffixes,
        target="reward" if to_end else "probability",
        occurrences=begins,
        sparse=sparse,
        threads=threads,
    )
    check_ends(blocks)
    row, column, block = blocks.prefixes.index(()), blocks.suffixes.index(()), blocks.block
    if to_end:
        # The core's last rewards mark the ends of strings; an empty one has no last step.
        block = block.tolil() if sparse else block
        block[row, column] += np.mean(strings.lengths == 0)
        block = block.tocsr() if sparse else block
    return replace(
        blocks, block=block, start=_dense(block[[row], :])[0], column=_dense(block[:, [column]])[:, 0]
    )


def frequent_words(
    strings: Strings, statistics: str, lengths: tuple[int, int], limits: tuple[int | None, int | None]
) -> tuple[list[Word], list[Word]]:
    """The prefixes and suffixes that index the block of a statistic, the empty word first.

    Of up to so many symbols, and so many of the most frequent; ties go to the shorter, then to the smaller word.
    """
    begins, to_end = checked_statistics(statistics)
    forward = _Episodes.of(strings)

    def listed(data: _Episodes, occurrences: str, side: int) -> list[Word]:
        words, _ = _core.most_frequent(
            data, occurrences=occurrences, max_length=lengths[side], limit=limits[side]
        )
        return [tuple(word) for word in words]

    prefixes = listed(forward, begins, 0)
    if not to_end:
        return prefixes, listed(forward, "anywhere", 1)
    # Words that end a string begin its mirror image.
    return prefixes, [word[::-1] for word in listed(_Episodes.of(_mirrored(strings)), "start", 1)]


def _mirrored(strings: Strings) -> Strings:
    first, last = strings.offsets[:-1], strings.offsets[1:]
    places = np.repeat(first + last - 1, strings.lengths) - np.arange(len(strings.symbols))
    return Strings.from_arrays(strings.symbols[places], strings.offsets, strings.alphabet)


def _dense(matrix: Matrix) -> FloatArray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


@dataclass
class _Episodes:
    """Strings as the core reads episodes: one action, and a reward of 1 at the last symbol of a string."""

    actions: NDArray[np.int32]
    observations: NDArray[np.int32]
    rewards: FloatArray
    offsets: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    n_observations: int
    n_actions: int = 1
    behavior_probs: FloatArray | None = None
    first_observations: None = None

    @classmethod
    def of(cls, strings: Strings) -> _Episodes:
        instance("strings", strings, Strings, "uqf.strings.Strings")
        size = len(strings.symbols)
        rewards = np.zeros(size)
        rewards[strings.offsets[1:][strings.lengths > 0] - 1] = 1.0
        ended = np.ones(len(strings), np.bool_)
        return cls(
            np.zeros(size, np.int32), strings.symbols, rewards, strings.offsets, ended, strings.n_symbols
        )

    @property
    def n_symbols(self) -> int:
        return self.n_observations

    def __len__(self) -> int:
        return len(self.terminated)


def string_wfa(wfa: WFA, statistics: str) -> WFA:
    """The automaton of string probabilities, from one that computes a statistic of them.

    Parameters
    ----------
    wfa : WFA
        Computes the statistic.
    statistics : "classic", "prefix", "suffix" or "factor"
        Which one; see `string_hankel`.

    Returns
    -------
    WFA
        Only its ends differ.

    Examples
    --------
    >>> import uqf
    >>> begins = uqf.WFA([1.0], [[[0.75]]], [1.0])  # a string has at least n symbols with probability 0.75ⁿ
    >>> uqf.strings.string_wfa(begins, "prefix")((0,))
    0.1875
    """
    begins, to_end = checked_statistics(statistics)
    rest = np.eye(wfa.rank) - wfa.seen_operators.sum(axis=0)
    alpha = wfa.alpha @ rest if begins == "anywhere" else wfa.alpha
    omega = wfa.omega if to_end else rest @ wfa.omega
    return wfa.with_parts(alpha, wfa.seen_operators, omega)


def statistics_wfa(wfa: WFA, statistics: str) -> WFA:
    """The automaton of a statistic, from one of string probabilities.

    Parameters
    ----------
    wfa : WFA
        Computes the probabilities of strings.
    statistics : "classic", "prefix", "suffix" or "factor"
        What the result computes; see `string_hankel`.

    Returns
    -------
    WFA
        Only its ends differ.

    Raises
    ------
    SpectralRadiusError
        Where the sum over all words diverges.

    Examples
    --------
    >>> import uqf
    >>> geometric = uqf.WFA([1.0], [[[0.75]]], [0.25])  # ends at every step with probability 0.25
    >>> uqf.strings.statistics_wfa(geometric, "factor")(())  # mean length plus one
    4.0
    """
    begins, to_end = checked_statistics(statistics)
    radius = wfa.spectral_radius()
    if statistics != "classic" and not radius < 1.0:
        raise SpectralRadiusError(radius, 1.0, "learn with a lower `rank`, or from more strings")
    alpha = completed(wfa.alpha, wfa, forward=False) if begins == "anywhere" else wfa.alpha
    omega = wfa.omega if to_end else completed(wfa.omega, wfa)
    return wfa.with_parts(alpha, wfa.seen_operators, omega)


def completed(end: FloatArray, wfa: WFA, *, forward: bool = True) -> FloatArray:
    """(I − A)⁻¹ end, or endᵀ (I − A)⁻¹; where the sum over all words diverges, its formal continuation."""
    rest = np.eye(wfa.rank) - wfa.seen_operators.sum(axis=0)
    try:
        return np.linalg.solve(rest if forward else rest.T, end)
    except np.linalg.LinAlgError:
        raise NumericalError(
            "I minus the sum of the operators is singular: learn with another `rank`, or from more strings"
        ) from None
