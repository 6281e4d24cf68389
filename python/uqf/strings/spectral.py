"""The learner of strings: count, decompose, convert, smooth."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from uqf.episodes.checks import FloatArray, probability, whole
from uqf.errors import NumericalError
from uqf.estimator import Estimator
from uqf.learn.not_fitted import NotFittedError
from uqf.learn.spectral.decomposition import Decomposition, decompose, enough_rank
from uqf.learn.spectral.hankel import decomposed_wfa
from uqf.learn.spectral.wfa import WFA, weights_of
from uqf.strings.hankel import Word, frequent_words, string_hankel, string_wfa
from uqf.strings.model import StringModel, perplexity
from uqf.strings.ngrams import NGrams
from uqf.strings.sample import Strings, StringsLike, checked_strings

#: Ranks and weights of the n-grams that are tried on held-out strings.
RANKS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50)
WEIGHTS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)

#: One string in so many is held out for that choice; with fewer than so many strings there is none.
HELD_OUT = 5
MIN_STRINGS = 20


@dataclass(eq=False, repr=False)
class SpectralStrings(Estimator):
    """A probability distribution over strings, learned by one singular value decomposition.

    Parameters
    ----------
    rank : int, optional
        Number of states; None chooses it on held-out strings.
    statistics : "classic", "prefix", "suffix" or "factor"
        Which function of words is counted: the probability of whole strings, of their beginnings, of their ends, or how
        often a word is expected to occur. All lead to the same distribution; those that use more of every string need
        fewer of them. `uqf.strings.string_hankel` has the definitions.
    max_prefix, max_suffix : int
        Longest words that index the Hankel matrix, in symbols.
    n_prefixes, n_suffixes : int, optional
        Keep only so many of the most frequent; None keeps all.
    smoothing : float in [0, 1], optional
        Weight of an n-gram model beside the automaton; None chooses it on held-out strings. Only with 0 can a string
        have probability zero, and the score be infinite.
    ngram : int
        Longest n-grams, in symbols.
    alphabet : sequence of tokens, optional
        All tokens that may occur; None takes those of the strings.
    threads : int, optional
        For counting; None uses all cores. The result has the same bits with any number.

    Attributes
    ----------
    wfa_ : WFA
        String probabilities as learned: values may be negative, and need not sum to one.
    model_ : StringModel
        The distribution made of it.
    alphabet_, rank_, smoothing_
        What was given or chosen.
    singular_values_ : floats
        Of the Hankel block, largest first.
    diagnostics_ : dict
        The mass (sum of `wfa_` over all strings), its spectral radius, the numbers of words that were used.

    Examples
    --------
    >>> import uqf
    >>> learner = uqf.SpectralStrings().fit(["ab", "abab", "", "ab", "ababab"] * 20)
    >>> learner.alphabet_
    ('a', 'b')
    >>> likely, unlikely = learner.predict(["ab", "ba"])
    >>> bool(likely > unlikely > 0)
    True
    >>> learner.next_probabilities(["aba"]).round(2).argmax()  # after the last a comes b
    np.int64(1)
    """

    rank: int | None = None
    _: KW_ONLY
    statistics: str = "factor"
    max_prefix: int = 4
    max_suffix: int = 4
    n_prefixes: int | None = 1000
    n_suffixes: int | None = 1000
    smoothing: float | None = None
    ngram: int = 3
    alphabet: Sequence[Hashable] | None = None
    threads: int | None = None

    def fit(self, strings: StringsLike, y: None = None) -> Self:
        """Learns from `Strings` or from a list of sequences of tokens, empty ones included; `y` is ignored."""
        self._check()
        data = checked_strings(strings, self.alphabet)
        rank, smoothing = self.rank, self.smoothing
        if (rank is None or smoothing is None) and len(data) >= MIN_STRINGS:
            rank, smoothing = self._choose(data)
        wfa, parts, words = self._learn(data, rank)
        if rank is not None and rank > parts.rank:
            if self.rank is not None:
                raise NumericalError(
                    f"rank {rank} exceeds the numerical rank {parts.rank} of the Hankel block; lower `rank`, give "
                    "more strings or longer words"
                )
            rank = parts.rank
        # Where there are too few strings to try ranks, the one that keeps most of what was counted.
        energy = float((parts.spectrum**2).sum())
        self.rank_ = rank or enough_rank(parts.spectrum[: parts.rank], energy)
        self.smoothing_ = WEIGHTS[-1] if smoothing is None else smoothing
        self.alphabet_ = data.alphabet
        self.wfa_ = string_wfa(_truncated(wfa, self.rank_), self.statistics)
        self.model_ = StringModel(self.wfa_, ngrams=NGrams(data, self.ngram), smoothing=self.smoothing_)
        self.singular_values_ = parts.spectrum
        self.n_features_in_ = data.n_symbols
        self.diagnostics_ = {
            "mass": float(self.wfa_.alpha @ self.model_.completion),
            "spectral_radius": self.wfa_.spectral_radius(),
            "prefixes": len(words[0]),
            "suffixes": len(words[1]),
        }
        return self

    def values(self, strings: StringsLike) -> FloatArray:
        """What the automaton itself computes for every string: near its probability, perhaps negative."""
        wfa, data = self._fitted().wfa, self._encoded(strings)
        return weights_of(wfa, data.symbols, data.offsets)

    def predict(self, strings: StringsLike) -> FloatArray:
        """The probability of every string, (len(strings),); over all strings they sum to one."""
        return np.exp(self.log_probabilities(strings))

    def log_probabilities(self, strings: StringsLike) -> FloatArray:
        """The natural logarithm of `predict`, also where that is too small for a number."""
        model = self._fitted()
        return model.log_probabilities(self._encoded(strings))

    def next_probabilities(self, prefixes: StringsLike) -> FloatArray:
        """How likely each token comes after each prefix, and in the last column that the string ends there.

        Shape (len(prefixes), len(alphabet_) + 1), columns in the order of `alphabet_`.
        """
        model = self._fitted()
        return model.next_probabilities(self._encoded(prefixes))

    def score(self, strings: StringsLike, y: None = None) -> float:
        """Mean log probability of a string: more is better, and scikit-learn's searches maximise it."""
        return float(self.log_probabilities(strings).mean())

    def perplexity(self, strings: StringsLike, probabilities: ArrayLike | None = None) -> float:
        """How many tokens the model hesitates between: exp of the mean surprise of a symbol or an end.

        Given the true `probabilities` of the strings, the PAutomaC competition's measure instead; see
        `uqf.strings.perplexity`. Less is better for both.
        """
        model, data = self._fitted(), self._encoded(strings)
        logs = model.log_probabilities(data)
        if probabilities is None:
            return float(np.exp(-logs.sum() / (len(data) + len(data.symbols))))
        # Only the ratios matter, and the largest of very small numbers may be scaled to one.
        return perplexity(probabilities, np.exp(logs - logs.max()))

    def sample(self, count: int, *, seed: int = 0, max_length: int = 10_000) -> Strings:
        """Strings drawn from the model; those that reach `max_length` are cut there."""
        drawn = self._fitted().sample(count, seed=seed, max_length=max_length)
        return Strings.from_arrays(drawn.symbols, drawn.offsets, self.alphabet_)

    def _learn(
        self, data: Strings, rank: int | None
    ) -> tuple[WFA, Decomposition, tuple[list[Word], list[Word]]]:
        """The automaton of the statistic, of rank up to the largest of interest; truncate, then convert."""
        words = frequent_words(
            data, self.statistics, (self.max_prefix, self.max_suffix), (self.n_prefixes, self.n_suffixes)
        )
        block = string_hankel(
            data,
            prefixes=words[0],
            suffixes=words[1],
            statistics=self.statistics,
            sparse=True,
            threads=self.threads,
        )
        if block.block.count_nonzero() == 0:
            raise NumericalError(
                f"no string is as short as max_prefix + max_suffix = {self.max_prefix + self.max_suffix} symbols: "
                f'raise them, or count more of every string with statistics="factor"'
            )
        parts = decompose(block.block, None, at_most=max(rank or 0, RANKS[-1]))
        return decomposed_wfa(block, parts), parts, words

    def _choose(self, data: Strings) -> tuple[int, float]:
        """Rank and smoothing with the highest probability of held-out strings; what was given stays."""
        held_out = np.arange(len(data)) % HELD_OUT == HELD_OUT - 1
        seen, unseen = data[~held_out], data[held_out]
        wfa, parts, _ = self._learn(seen, self.rank)
        ngrams = NGrams(seen, self.ngram)
        ranks = RANKS if self.rank is None else (min(self.rank, parts.rank),)
        weights = WEIGHTS if self.smoothing is None else (self.smoothing,)
        tried = []
        for rank in (one for one in ranks if one <= parts.rank):
            try:
                model = StringModel(string_wfa(_truncated(wfa, rank), self.statistics), ngrams=ngrams)
            except NumericalError:
                continue
            steps = model.steps(unseen)
            tried += [(steps.mixed(weight).sum(), -rank, weight) for weight in weights]
        if not tried:
            raise NumericalError("no rank gives a distribution: give more strings, or other `statistics`")
        _, negative, weight = max(tried)
        return self.rank or -negative, weight

    def _check(self) -> None:
        if self.rank is not None and (not isinstance(self.rank, (int, np.integer)) or self.rank < 1):
            raise ValueError(
                f"rank = {self.rank!r}: give an integer of at least 1, or None to have it chosen"
            )
        for name in ("max_prefix", "max_suffix"):
            whole(name, getattr(self, name))
        for name in ("n_prefixes", "n_suffixes"):
            if getattr(self, name) is not None and whole(name, getattr(self, name), -1) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: give at least 1, or None for all")
        if self.smoothing is not None:
            probability("smoothing", self.smoothing)

    def _encoded(self, strings: StringsLike) -> Strings:
        return checked_strings(strings, self.alphabet_)

    def _fitted(self) -> StringModel:
        if not hasattr(self, "model_"):
            raise NotFittedError.of(self)
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


def _truncated(wfa: WFA, rank: int) -> WFA:
    """The automaton of a lower rank: of a decomposed block its first states are the best."""
    return wfa.with_parts(wfa.alpha[:rank], wfa.seen_operators[:, :rank, :rank], wfa.omega[:rank])
