"""The four statistics against their definitions, and the way from each to the probabilities of strings."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import uqf
from strategies import probabilistic_automata, string_samples
from uqf.strings import statistics_wfa, string_hankel, string_wfa
from uqf.strings.hankel import STATISTICS, frequent_words

every_statistic = pytest.mark.parametrize("statistics", STATISTICS)


def words(n_symbols, longest):
    return [word for size in range(longest + 1) for word in itertools.product(range(n_symbols), repeat=size)]


def occurrences(string, word):
    return sum(string[place : place + len(word)] == word for place in range(len(string) - len(word) + 1))


DEFINITIONS = {
    "classic": lambda string, word: string == word,
    "prefix": lambda string, word: string[: len(word)] == word,
    "suffix": lambda string, word: len(word) <= len(string) and string[len(string) - len(word) :] == word,
    "factor": occurrences,
}


def statistic(strings, name, word):
    return np.mean([DEFINITIONS[name](tuple(string), tuple(word)) for string in strings])


@every_statistic
@settings(max_examples=40)
@given(string_samples(max_strings=8, max_symbols=2), st.booleans())
def test_blocks_hold_what_the_statistic_says(statistics, strings, sparse):
    basis = words(strings.n_symbols, 2)
    made = string_hankel(strings, prefixes=basis, suffixes=basis, statistics=statistics, sparse=sparse)

    def expected(middle):
        return [[statistic(strings, statistics, u + middle + v) for v in basis] for u in basis]

    def dense(block):
        return block.toarray() if sparse else block

    np.testing.assert_allclose(dense(made.block), expected(()), rtol=0, atol=1e-12)
    np.testing.assert_allclose(made.start, expected(())[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(made.column, np.array(expected(()))[:, 0], rtol=0, atol=1e-12)
    for symbol in range(strings.n_symbols):
        block = made.symbol_blocks.get(symbol)
        found = np.zeros((len(basis), len(basis))) if block is None else dense(block)
        np.testing.assert_allclose(found, expected((symbol,)), rtol=0, atol=1e-12)


@every_statistic
@given(string_samples(max_strings=6, max_length=3, max_symbols=2))
def test_the_automaton_of_all_words_is_the_empirical_distribution(statistics, strings):
    """A finite sample is itself an automaton, so the way from counts to string probabilities has no error."""
    basis = words(strings.n_symbols, 3)
    made = string_hankel(strings, prefixes=basis, suffixes=basis, statistics=statistics)
    assume(np.linalg.svd(made.block, compute_uv=False).max() > 0)
    wfa = string_wfa(uqf.spectral_wfa(made), statistics)
    longer = words(strings.n_symbols, 4)
    expected = [statistic(strings, "classic", word) for word in longer]
    np.testing.assert_allclose(wfa.values(longer), expected, rtol=0, atol=1e-9)


@every_statistic
@given(probabilistic_automata())
def test_exact_blocks_recover_the_automaton(statistics, true):
    basis = words(true.n_symbols, 3)
    exact = uqf.exact_hankel(statistics_wfa(true, statistics), prefixes=basis, suffixes=basis)
    spectrum = np.linalg.svd(exact.block, compute_uv=False)
    rank = true.minimise().rank
    assume(spectrum[rank - 1] > 1e-6 * spectrum[0])
    learned = string_wfa(uqf.spectral_wfa(exact, rank), statistics)
    longer = words(true.n_symbols, 5)
    np.testing.assert_allclose(learned.values(longer), true.values(longer), rtol=0, atol=1e-7)


@every_statistic
@given(probabilistic_automata())
def test_conversion_goes_both_ways(statistics, true):
    there = statistics_wfa(true, statistics)
    back = string_wfa(there, statistics)
    np.testing.assert_allclose(back.alpha, true.alpha, rtol=0, atol=1e-10)
    np.testing.assert_allclose(back.omega, true.omega, rtol=0, atol=1e-10)


@given(probabilistic_automata())
def test_statistics_add_up(true):
    """A string that begins with w is w or goes on; one that ends with w is w or began earlier; all have a prefix."""
    prefix, suffix, factor = (statistics_wfa(true, name) for name in ("prefix", "suffix", "factor"))
    symbols = [(symbol,) for symbol in range(true.n_symbols)]
    for word in words(true.n_symbols, 3):
        after = sum(prefix(word + symbol) for symbol in symbols)
        before = sum(suffix(symbol + word) for symbol in symbols)
        inside = sum(factor(symbol + word) for symbol in symbols)
        assert prefix(word) == pytest.approx(true(word) + after)
        assert suffix(word) == pytest.approx(true(word) + before)
        assert factor(word) == pytest.approx(prefix(word) + inside)
    assert prefix(()) == pytest.approx(1.0)
    assert suffix(()) == pytest.approx(1.0)


@every_statistic
@given(strings=string_samples(), limit=st.none() | st.integers(1, 5))
def test_words_are_the_most_frequent_of_their_kind(statistics, strings, limit):
    rows, columns = frequent_words(strings, statistics, (2, 3), (limit, limit))
    begins, to_end = STATISTICS[statistics]
    kinds = ("prefix" if begins == "start" else "factor", "suffix" if to_end else "factor")
    for found, kind, longest in zip((rows, columns), kinds, (2, 3), strict=True):
        counts = {word: statistic(strings, kind, word) for word in words(strings.n_symbols, longest)}
        seen = [word for word in counts if counts[word] > 0]
        assert found[0] == ()
        assert sorted((counts[word] for word in found), reverse=True) == pytest.approx(
            sorted((counts[word] for word in seen), reverse=True)[:limit]
        )


def test_sums_over_endless_futures_are_refused():
    endless = uqf.WFA([1.0], [[[1.0]]], [0.5])
    with pytest.raises(uqf.SpectralRadiusError):
        statistics_wfa(endless, "prefix")
    assert statistics_wfa(endless, "classic")((0,)) == 0.5
