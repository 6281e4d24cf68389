"""Hankel blocks over explicit lists of words, and the automaton of a block."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uqf.episodes.checks import FloatArray, instance
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.learn.spectral.basis import Basis, Counting, Target
from uqf.learn.spectral.decomposition import Decomposition, decompose
from uqf.learn.spectral.sums import HankelSums
from uqf.learn.spectral.wfa import WFA
from uqf.types import Matrix

Word = tuple[int, ...]


@dataclass(frozen=True)
class Hankel:
    """A block H[u, v] = f(uv) and the blocks H_σ[u, v] = f(uσv) of every seen symbol.

    Attributes
    ----------
    block : (len(prefixes), len(suffixes))
        A dense array or a scipy sparse matrix, as are all blocks.
    symbol_blocks : {symbol: block}
        Of the symbols that were seen.
    prefixes, suffixes : lists of words
        What rows and columns stand for.
    n_symbols : int
        Size of the alphabet.
    start, column : (len(suffixes),) and (len(prefixes),)
        Row of the empty prefix and column of the empty suffix.

    Examples
    --------
    >>> import uqf
    >>> counting = uqf.WFA([1.0, 0.0], [[[1.0, 1.0], [0.0, 1.0]]], [0.0, 1.0])  # f(word) = its length
    >>> uqf.exact_hankel(counting, prefixes=[(), (0,)], suffixes=[(), (0,)]).block
    array([[0., 1.],
           [1., 2.]])
    """

    block: Matrix
    symbol_blocks: Mapping[int, Matrix]
    prefixes: list[Word]
    suffixes: list[Word]
    n_symbols: int
    #: f(v) for every suffix: row λ, from the start of the episodes also when prefixes may begin anywhere.
    start: FloatArray
    #: f(u) for every prefix: column λ.
    column: FloatArray


def _words(name: str, words: Iterable[Sequence[int]], n_symbols: int) -> list[Word]:
    try:
        listed = [tuple(map(operator.index, word)) for word in words]
    except TypeError as error:
        raise TypeError(f"{name} is no list of words, each a sequence of symbols: {error}") from None
    if not listed:
        raise ValueError(f"{name} is empty: give at least the empty word ()")
    for word in listed:
        if any(not 0 <= symbol < n_symbols for symbol in word):
            raise ValueError(f"{name} holds {word}: symbols go from 0 to {n_symbols - 1}")
    return listed


def hankel(
    data: Trajectories,
    *,
    prefixes: Iterable[Sequence[int]],
    suffixes: Iterable[Sequence[int]],
    target: str = "reward",
    occurrences: str = "start",
    discount: float | None = None,
    sparse: bool = False,
    threads: int | None = None,
) -> Hankel:
    """Empirical Hankel blocks of a data set, averaged over its episodes.

    Parameters
    ----------
    data : Trajectories
        What is counted.
    prefixes, suffixes : lists of words
        A word is a sequence of symbols ``action * n_observations + observation``; the empty word is ``()``.
    target : "reward", "return" or "probability"
        The reward that a history ends with, the discounted return from that reward on (`discount` must be given), or
        how often the history occurs.
    occurrences : "start" or "anywhere"
        Whether prefixes are counted at the first step only or at every step.
    discount : float, optional
        Of target "return".
    sparse : bool
        Scipy sparse matrices instead of dense arrays.
    threads : int, optional
        All cores by default.

    Returns
    -------
    Hankel
        The blocks.

    Raises
    ------
    ValueError
        If a word has a symbol that the data do not know, or an argument does not fit the target.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=1000, seed=0)
    >>> words = [(), *((symbol,) for symbol in range(data.n_symbols))]
    >>> blocks = uqf.hankel(data, prefixes=words, suffixes=words, target="probability")
    >>> blocks.block.shape
    (7, 7)
    """
    instance("target", target, str, "reward, return or probability")
    if target == "return" and discount is None:
        raise ValueError("discount = None: the return target needs a discount in [0, 1]")
    if not hasattr(data, "n_symbols") or not hasattr(data, "rewards"):
        raise TypeError(f"data is {kind_of(data)}: give uqf.Trajectories (see uqf.read_log)")
    rows, columns = _words("prefixes", prefixes, data.n_symbols), _words("suffixes", suffixes, data.n_symbols)
    wanted = Target(target, 1.0 if discount is None else discount)
    largest = float(np.abs(data.rewards).max(initial=0.0))
    counting = Counting(Basis(occurrences=occurrences), wanted, largest, (rows, columns))
    sums = HankelSums.of(data, counting, by_symbol=True, threads=threads)

    def matrix(made: Matrix) -> Matrix:
        made.data /= len(data)
        return made if sparse else made.toarray()

    return Hankel(
        block=matrix(sums.block()),
        symbol_blocks={symbol: matrix(sums.block(symbol)) for symbol in sums.symbols},
        prefixes=rows,
        suffixes=columns,
        n_symbols=data.n_symbols,
        start=sums.start.sum(axis=1) / len(data),
        column=sums.column.sum(axis=1) / len(data),
    )


def exact_hankel(wfa: WFA, *, prefixes: Iterable[Sequence[int]], suffixes: Iterable[Sequence[int]]) -> Hankel:
    """The blocks of the function that an automaton computes, for checking what data should converge to.

    Parameters
    ----------
    wfa : WFA
        The automaton.
    prefixes, suffixes : lists of words
        As in `hankel`.

    Returns
    -------
    Hankel
        Without any noise.

    Examples
    --------
    >>> import uqf
    >>> halving = uqf.WFA([1.0], [[[0.5]]], [1.0])  # f(n steps) = 2⁻ⁿ
    >>> uqf.exact_hankel(halving, prefixes=[(), (0,)], suffixes=[()]).block.tolist()
    [[1.0], [0.5]]
    """
    instance("wfa", wfa, WFA, "a uqf.WFA")
    rows, columns = _words("prefixes", prefixes, wfa.n_symbols), _words("suffixes", suffixes, wfa.n_symbols)
    forward = np.stack([wfa.state(word) for word in rows])
    backward = np.stack([_backward(wfa, word) for word in columns], axis=1)
    blocks = {int(s): forward @ a @ backward for s, a in zip(wfa.symbols, wfa.seen_operators, strict=True)}
    return Hankel(
        block=forward @ backward,
        symbol_blocks=blocks,
        prefixes=rows,
        suffixes=columns,
        n_symbols=wfa.n_symbols,
        start=wfa.alpha @ backward,
        column=forward @ wfa.omega,
    )


def _backward(wfa: WFA, word: Word) -> FloatArray:
    vector = wfa.omega
    for symbol in reversed(word):
        vector = wfa.operators[symbol] @ vector
    return vector


def spectral_wfa(hankel: Hankel, rank: int | None = None) -> WFA:
    """The automaton of rank `rank` that best explains a Hankel block (exactly, if the block is exact).

    Parameters
    ----------
    hankel : Hankel
        Both bases must contain the empty word: its row and column are the automaton's ends.
    rank : int, optional
        The numerical rank of the block by default.

    Returns
    -------
    WFA
        With as many states.

    Raises
    ------
    NumericalError
        If the rank exceeds that of the block.

    Examples
    --------
    >>> import uqf
    >>> counting = uqf.WFA([1.0, 0.0], [[[1.0, 1.0], [0.0, 1.0]]], [0.0, 1.0])  # f(word) = its length
    >>> words = [(), (0,), (0, 0)]
    >>> wfa = uqf.spectral_wfa(uqf.exact_hankel(counting, prefixes=words, suffixes=words), 2)
    >>> round(wfa([0] * 7), 6)
    7.0
    """
    check_ends(hankel)
    return decomposed_wfa(hankel, decompose(hankel.block, rank))


def check_ends(hankel: Hankel) -> None:
    """Refuses blocks without the empty word."""
    instance("hankel", hankel, Hankel, "what uqf.hankel returned")
    for name, words in (("prefixes", hankel.prefixes), ("suffixes", hankel.suffixes)):
        if () not in words:
            raise ValueError(f"{name} lacks the empty word (): its row and column are the automaton's ends")


def decomposed_wfa(hankel: Hankel, parts: Decomposition) -> WFA:
    """The automaton of a decomposed block; its first k states are the automaton of rank k."""
    symbols = sorted(hankel.symbol_blocks)
    operators = [parts.prefix_map.T @ (hankel.symbol_blocks[symbol] @ parts.suffix_map) for symbol in symbols]
    return WFA(
        hankel.start @ parts.suffix_map,
        np.stack(operators) if operators else np.zeros((0, parts.rank, parts.rank)),
        parts.prefix_map.T @ hankel.column,
        symbols=symbols,
        n_symbols=hankel.n_symbols,
    )
