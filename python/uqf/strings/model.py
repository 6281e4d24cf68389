"""A probability distribution over strings, made of an automaton whose weights need not be probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uqf.episodes.checks import FloatArray, floats, positive
from uqf.learn.spectral.wfa import WFA, states_after
from uqf.strings.hankel import completed
from uqf.strings.ngrams import Codes, NGrams
from uqf.strings.sample import Strings
from uqf.types import Integers

#: So many next-symbol weights are held at a time.
MAX_WEIGHTS = 2**22


@dataclass(frozen=True)
class Steps:
    """Probabilities of all symbols and ends of some strings, as the automaton and as the n-grams see them.

    owners : which string each belongs to
    spectral, plain : (n_steps,); spectral is NaN where the automaton has no distribution
    """

    owners: Codes
    spectral: FloatArray
    plain: FloatArray

    def mixed(self, weight: float) -> FloatArray:
        """Logarithms of the mixture, with this weight of the n-grams."""
        with np.errstate(divide="ignore"):
            return np.log(_mixture(self.spectral, self.plain, weight))


class StringModel:
    """P(x₁…x_n) = Π P(x_t | x₁…x_{t−1}) · P(end | x), where each factor is a ratio of the automaton's weights.

    After the prefix u the symbol σ weighs αᵀA_u A_σ (I − A)⁻¹ω and the end αᵀA_u ω. Negative weights, which a learned
    automaton may have, count as zero, and the weights are scaled to sum to one. Where all vanish the n-grams decide, or
    all symbols are alike. An automaton that computes probabilities keeps them exactly.

    Parameters
    ----------
    wfa : WFA
        Of string probabilities.
    ngrams : NGrams, optional
    smoothing : float in [0, 1]
        With this weight the next symbol is the n-grams'. Then no string has probability zero.

    Attributes
    ----------
    completion : (k,)
        (I − A)⁻¹ω: what a state weighs, all continuations together.

    Examples
    --------
    >>> import uqf
    >>> model = uqf.strings.StringModel(uqf.WFA([1.0], [[[0.5]], [[0.25]]], [0.25]))
    >>> model.next_probabilities(uqf.strings.Strings([[0, 1]], range(2)))
    array([[0.5 , 0.25, 0.25]])
    """

    def __init__(self, wfa: WFA, *, ngrams: NGrams | None = None, smoothing: float = 0.0) -> None:
        if not 0.0 <= smoothing <= 1.0 or (smoothing > 0.0 and ngrams is None):
            raise ValueError(f"smoothing = {smoothing}: give a number in [0, 1], with ngrams if it is not 0")
        self.wfa, self.ngrams, self.smoothing = wfa, ngrams, float(smoothing)
        self.completion = completed(wfa.omega, wfa)
        self._weights = np.zeros((wfa.rank, wfa.n_symbols + 1))
        self._weights[:, wfa.symbols] = (wfa.seen_operators @ self.completion).T
        self._weights[:, -1] = wfa.omega

    def log_probabilities(self, strings: Strings) -> FloatArray:
        """Natural logarithm of the probability of every string, (len(strings),)."""
        steps = self.steps(strings)
        return np.bincount(steps.owners, steps.mixed(self.smoothing), len(strings)).astype(float, copy=False)

    def steps(self, strings: Strings) -> Steps:
        """What both models said of every symbol and of every end, string by string."""
        owners, spectral, plain = [], [], []
        for part, ahead, states, contexts, following in self._walk(strings):
            owners.append(part.start + ahead)
            spectral.append(self._spectral(states)[np.arange(len(states)), following])
            plain.append(self._plain(contexts, following))
        return Steps(np.concatenate(owners), np.concatenate(spectral), np.concatenate(plain))

    def next_probabilities(self, prefixes: Strings) -> FloatArray:
        """P of every symbol after every prefix, and in the last column that it ends: (n, n_symbols + 1)."""
        result = np.empty((len(prefixes), self.wfa.n_symbols + 1))
        for part, ahead, states, contexts, following in self._walk(prefixes):
            last = following == self.wfa.n_symbols
            result[part.start + ahead[last]] = self._mixed(states[last], contexts[last])
        return result

    def sample(self, count: int, *, seed: int = 0, max_length: int = 10_000) -> Strings:
        """Strings drawn from the model, as symbols; those that reach `max_length` are cut there."""
        rng = np.random.default_rng(seed)
        drawn: list[list[int]] = [[] for _ in range(positive("count", count))]
        going = np.arange(count)
        states, contexts = self._begin(count)
        for _ in range(max_length):
            heaped = self._mixed(states, contexts).cumsum(axis=1)
            symbols = (rng.random(len(going))[:, np.newaxis] * heaped[:, -1:] >= heaped).sum(axis=1)
            stays = symbols < self.wfa.n_symbols
            going, symbols = going[stays], symbols[stays].astype(np.int32)
            if len(going) == 0:
                break
            for place, symbol in zip(going.tolist(), symbols.tolist(), strict=True):
                drawn[place].append(symbol)
            states, contexts = self._step(states[stays], contexts[stays], symbols)
        return Strings(drawn, range(self.wfa.n_symbols))

    def _walk(self, strings: Strings) -> Iterator[tuple[slice, Codes, FloatArray, Codes, Codes]]:
        """Some strings at a time, and with them from symbol to symbol.

        Yields (which strings, those of them that go on, states, contexts, what comes next); the end is `n_symbols`.
        """
        end, size = self.wfa.n_symbols, max(1, MAX_WEIGHTS // (self.wfa.n_symbols + 1))
        for first in range(0, len(strings), size):
            part = slice(first, min(first + size, len(strings)))
            lengths, offsets = strings.lengths[part], strings.offsets[part]
            longest = np.argsort(-lengths, kind="stable")
            states, contexts = self._begin(len(lengths))
            for place in range(int(lengths.max()) + 1):
                ahead = longest[: np.count_nonzero(lengths >= place)]
                following = np.full(len(ahead), end, np.int64)
                goes_on = np.count_nonzero(lengths > place)
                following[:goes_on] = strings.symbols[offsets[ahead[:goes_on]] + place]
                yield part, ahead, states, contexts, following
                states, contexts = self._step(states[:goes_on], contexts[:goes_on], following[:goes_on])

    def _begin(self, count: int) -> tuple[FloatArray, Codes]:
        contexts = np.zeros((count, 0), np.int64) if self.ngrams is None else self.ngrams.begin(count)
        return np.tile(self.wfa.alpha, (count, 1)), contexts

    def _step(self, states: FloatArray, contexts: Codes, symbols: Integers) -> tuple[FloatArray, Codes]:
        """States and contexts after one more symbol each; states are rescaled, their signs kept."""
        result = states_after(self.wfa, states, symbols)
        size = np.abs(result).max(axis=1, keepdims=True, initial=0.0)
        result /= np.where(size > 0.0, size, 1.0)
        return result, contexts if self.ngrams is None else self.ngrams.step(contexts, symbols)

    def _spectral(self, states: FloatArray) -> FloatArray:
        """The automaton's own distribution of what comes next; NaN where it has none."""
        weights = np.maximum(states @ self._weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        lost = (states @ self.completion <= 0.0)[:, np.newaxis] | (total <= 0.0)
        return np.where(lost, np.nan, weights / np.where(total > 0.0, total, 1.0))

    def _mixed(self, states: FloatArray, contexts: Codes) -> FloatArray:
        return _mixture(self._spectral(states), self._plain(contexts), self.smoothing)

    def _plain(self, contexts: Codes, following: Codes | None = None) -> FloatArray:
        """The n-grams' probabilities; without n-grams all symbols are alike."""
        if self.ngrams is not None:
            return self.ngrams.probabilities(contexts, following)
        size = self.wfa.n_symbols + 1
        return np.full((len(contexts), size) if following is None else len(contexts), 1.0 / size)


def _mixture(spectral: FloatArray, plain: FloatArray, weight: float) -> FloatArray:
    """Both models together; the plain one alone where the other has no distribution (NaN)."""
    return np.where(np.isnan(spectral), plain, (1.0 - weight) * spectral + weight * plain)


def perplexity(probabilities: ArrayLike, predicted: ArrayLike) -> float:
    """2^(−Σ p log₂ q) over a test set, with p and q scaled to sum to one over it; 1 or more, lower is better.

    Parameters
    ----------
    probabilities : (n,), not negative
        The true probabilities, or for strings without any the same number for each.
    predicted : (n,)
        Those of a model.

    Returns
    -------
    float
        Infinite if a prediction is zero where the truth is not.

    Notes
    -----
    The set should list every string once. The least value, at ``predicted = probabilities``, is not 1 but the
    perplexity of the truth itself: compare with that.

    Examples
    --------
    >>> from uqf.strings import perplexity
    >>> perplexity([0.5, 0.25, 0.25], [0.5, 0.25, 0.25]) == 2**1.5
    True
    """
    true, model = floats("probabilities", probabilities), floats("predicted", predicted)
    if true.shape != model.shape or len(true) == 0:
        raise ValueError(
            f"predicted has {len(model)} numbers: give one for each of {len(true)} probabilities"
        )
    for name, values in (("probabilities", true), ("predicted", model)):
        if not (np.isfinite(values).all() and (values >= 0.0).all() and values.any()):
            raise ValueError(
                f"{name}: give finite numbers that are not negative, at least one of them positive"
            )
    with np.errstate(divide="ignore"):
        bits = np.log2(model) - np.log2(model.sum())
    certain = true > 0.0
    return float(2.0 ** -(true[certain] / true.sum() @ bits[certain]))
