"""A sample of strings: flat symbols cut by offsets, and the tokens that the symbols stand for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.episodes.checks import frozen, instance, integers
from uqf.errors import kind_of
from uqf.types import Raw

#: A string as users give it; text is a sequence of characters.
Tokens = Sequence[Hashable]
#: Several of them.
StringsLike: TypeAlias = "Strings | Iterable[Tokens]"


class Strings:
    """Strings over a finite alphabet; any of them may be empty.

    Parameters
    ----------
    strings : iterable of sequences of tokens
        Tokens are numbers, characters, words: whatever can be hashed.
    alphabet : iterable of tokens, optional
        All tokens that may occur; token ``alphabet[i]`` is symbol i. By default those that do occur, sorted.

    Attributes
    ----------
    symbols, offsets : int32 (n,), int64 (n_strings + 1,)
        String i is ``symbols[offsets[i]:offsets[i + 1]]``.

    Notes
    -----
    An integer index gives one string as a tuple of tokens; slices, index arrays and masks give `Strings` with the same
    alphabet, as scikit-learn's cross-validation asks for.

    Examples
    --------
    >>> from uqf.strings import Strings
    >>> strings = Strings(["ab", "", "b"])
    >>> strings
    Strings(3 strings, 3 symbols, alphabet of 2)
    >>> strings[0], strings.symbols.tolist(), strings.offsets.tolist()
    (('a', 'b'), [0, 1, 1], [0, 2, 2, 3])
    """

    def __init__(self, strings: Iterable[Tokens], alphabet: Iterable[Hashable] | None = None) -> None:
        if isinstance(strings, (str, bytes)):
            raise TypeError(f"strings = {strings[:20]!r}: give a list of strings, not a single one")
        if not isinstance(strings, Iterable):
            raise TypeError(f"strings = {strings!r}: give a list of strings, each a sequence of tokens")
        _refuse_padding(strings)
        listed = list(strings)
        for place, string in enumerate(listed):
            if not isinstance(string, (Sequence, np.ndarray)):
                raise TypeError(f"strings[{place}] is {kind_of(string)}: give a sequence of tokens")
        if alphabet is not None:
            instance("alphabet", alphabet, Iterable, "all tokens, in the order of their codes")
        plain = [string.tolist() if isinstance(string, np.ndarray) else string for string in listed]
        self.alphabet = _found(plain) if alphabet is None else tuple(alphabet)
        try:
            codes = {token: code for code, token in enumerate(self.alphabet)}
        except TypeError as error:
            raise TypeError(
                f"alphabet: tokens are numbers or strings, such as may be sorted; {error}"
            ) from None
        if len(codes) != len(self.alphabet):
            raise ValueError("alphabet lists a token twice: give every token once")
        try:
            symbols = [codes[token] for token in chain.from_iterable(plain)]
        except TypeError as error:
            raise TypeError(f"strings: tokens are numbers or strings; {error}") from None
        except KeyError as error:
            raise ValueError(
                f"the token {error.args[0]!r} is not in the alphabet of {len(codes)} tokens; give all tokens that "
                "may occur as `alphabet`"
            ) from None
        self.symbols = frozen(np.array(symbols, np.int32))
        self.offsets = frozen(np.concatenate([[0], np.cumsum([len(one) for one in plain], dtype=np.int64)]))

    @classmethod
    def from_arrays(cls, symbols: ArrayLike, offsets: ArrayLike, alphabet: Iterable[Hashable]) -> Strings:
        """From symbols as numbers (n,) and offsets (n_strings + 1,) that never decrease."""
        made = cls((), alphabet)
        made.symbols = frozen(integers("symbols", symbols, np.int32))
        made.offsets = frozen(integers("offsets", offsets, np.int64))
        size = len(made.symbols)
        if len(made.offsets) == 0 or made.offsets[0] != 0 or made.offsets[-1] != size:
            raise ValueError(f"offsets: give n_strings + 1 numbers from 0 to len(symbols) = {size}")
        if (np.diff(made.offsets) < 0).any():
            raise ValueError("offsets decrease: string i is symbols[offsets[i]:offsets[i + 1]]")
        if size and not (made.symbols.min() >= 0 and made.symbols.max() < made.n_symbols):
            raise ValueError(
                f"symbols go from {made.symbols.min()} to {made.symbols.max()}: choose 0 to {made.n_symbols - 1}"
            )
        return made

    @property
    def n_symbols(self) -> int:
        return len(self.alphabet)

    @property
    def shape(self) -> tuple[int]:
        """(number of strings,)."""
        return (len(self),)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    @property
    def words(self) -> list[list[int]]:
        """Every string as a list of symbols."""
        flat = self.symbols.tolist()
        return [flat[first:last] for first, last in pairwise(self.offsets.tolist())]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[Hashable, ...]]:
        return (tuple(self.alphabet[symbol] for symbol in word) for word in self.words)

    @overload
    # Any: integers of any width.
    def __getitem__(self, index: int | np.integer[Any]) -> tuple[Hashable, ...]: ...

    @overload
    def __getitem__(self, index: slice | ArrayLike) -> Strings: ...

    def __getitem__(self, index: Raw) -> Strings | tuple[Hashable, ...]:
        """The tokens of one string, or `Strings` for a slice, an index array or a boolean mask."""
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]  # how scikit-learn 1.9 selects samples
        chosen = np.arange(len(self))[index]
        if chosen.ndim == 0:
            symbols = self.symbols[self.offsets[chosen] : self.offsets[chosen + 1]].tolist()
            return tuple(self.alphabet[symbol] for symbol in symbols)
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Strings.from_arrays(self.symbols[places], offsets, self.alphabet)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strings):
            return NotImplemented
        same = np.array_equal(self.symbols, other.symbols) and np.array_equal(self.offsets, other.offsets)
        return same and self.alphabet == other.alphabet

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Strings({len(self)} strings, {len(self.symbols)} symbols, alphabet of {self.n_symbols})"


def _refuse_padding(strings: Iterable[Tokens]) -> None:
    """scikit-splearn's arrays have a row for every string, filled up with −1: here −1 would be a token."""
    if not isinstance(strings, np.ndarray) or strings.ndim != 2 or strings.dtype.kind not in "if":
        return
    if strings.size and (strings[:, -1] == -1).any():
        raise ValueError(
            "strings is an array with rows that end in -1, as scikit-splearn fills them up: give strings of their "
            "own lengths, [row[row >= 0].astype(int) for row in strings]"
        )


def _found(strings: list[Sequence[Raw]]) -> tuple[Hashable, ...]:
    """The tokens that occur: sorted, or in the order of their appearance where they cannot be compared."""
    try:
        tokens = dict.fromkeys(chain.from_iterable(strings))
    except TypeError as error:
        raise TypeError(f"strings: tokens are numbers or strings; {error}") from None
    try:
        return tuple(sorted(tokens))
    except TypeError:
        return tuple(tokens)


def checked_strings(strings: StringsLike, alphabet: Iterable[Hashable] | None) -> Strings:
    """The argument of `fit` and `predict`, in the given alphabet; at least one string."""
    if isinstance(strings, Strings) and (alphabet is None or strings.alphabet == tuple(alphabet)):
        checked = strings
    else:
        checked = Strings(strings, alphabet)
    if len(checked) == 0:
        raise ValueError("strings holds no string: give at least one (it may be the empty string)")
    return checked
