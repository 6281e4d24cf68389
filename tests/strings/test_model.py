"""The distribution made of an automaton: exact where the automaton is, proper where it is not."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from strategies import probabilistic_automata, string_samples
from uqf.strings import NGrams, StringModel, Strings, statistics_wfa


def all_strings(n_symbols, longest):
    return Strings(
        [word for size in range(longest + 1) for word in itertools.product(range(n_symbols), repeat=size)],
        range(n_symbols),
    )


@st.composite
def wild_models(draw):
    """Models of automata with weights of any sign, which compute no probabilities."""
    states, strings = draw(st.integers(1, 3)), draw(string_samples(max_symbols=2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    wfa = uqf.WFA(
        rng.normal(size=states),
        rng.normal(size=(strings.n_symbols, states, states)) / states,
        rng.normal(size=states),
    )
    smoothing = draw(st.sampled_from((0.0, 0.2, 1.0)))
    ngrams = NGrams(strings, draw(st.integers(1, 3))) if smoothing or draw(st.booleans()) else None
    return StringModel(wfa, ngrams=ngrams, smoothing=smoothing)


@settings(max_examples=50)
@given(probabilistic_automata())
def test_probabilities_of_an_automaton_are_kept(true):
    strings = all_strings(true.n_symbols, 4)
    found = np.exp(StringModel(true).log_probabilities(strings))
    np.testing.assert_allclose(found, true.values(strings.words), rtol=1e-9, atol=1e-14)


@settings(max_examples=50)
@given(probabilistic_automata())
def test_probabilities_of_all_strings_sum_to_one(true):
    """Up to a length; what is left is the probability of longer strings, which a prefix automaton knows."""
    longest = 5
    sums = np.exp(StringModel(true).log_probabilities(all_strings(true.n_symbols, longest))).sum()
    prefix = statistics_wfa(true, "prefix")
    longer = prefix.values(list(itertools.product(range(true.n_symbols), repeat=longest + 1))).sum()
    assert sums + longer == pytest.approx(1.0)


@settings(max_examples=50)
@given(wild_models())
def test_any_automaton_becomes_a_distribution(model):
    """The next symbols of every prefix have probabilities, and a string has their product."""
    symbols, longest = model.wfa.n_symbols, 4
    strings = all_strings(symbols, longest)
    following = dict(zip(map(tuple, strings.words), model.next_probabilities(strings), strict=True))
    rows = np.array(list(following.values()))
    assert (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    found = np.exp(model.log_probabilities(strings))
    for word, probability in zip(following, found, strict=True):
        steps = [following[word[:place]][word[place]] for place in range(len(word))]
        assert probability == pytest.approx(np.prod(steps) * following[word][symbols])
    # What all strings up to a length leave over is what the prefixes one longer are worth: the sum over all is one.
    left = [
        np.prod([following[word[:place]][word[place]] for place in range(len(word))])
        for word in itertools.product(range(symbols), repeat=longest + 1)
    ]
    assert found.sum() + sum(left) == pytest.approx(1.0)


@settings(max_examples=20)
@given(wild_models(), st.integers(0, 1000))
def test_strings_do_not_depend_on_their_company(model, seed):
    rng = np.random.default_rng(seed)
    strings = all_strings(model.wfa.n_symbols, 3)
    order = rng.permutation(len(strings))
    together = model.log_probabilities(strings)[order]
    np.testing.assert_allclose(model.log_probabilities(strings[order]), together, rtol=1e-12)


def test_long_strings_neither_vanish_nor_overflow():
    geometric = uqf.WFA([1.0], [[[0.25]], [[0.5]]], [0.25])
    strings = Strings([[0] * 5000, [1] * 5000], range(2))
    expected = 5000 * np.log([0.25, 0.5]) + np.log(0.25)
    np.testing.assert_allclose(StringModel(geometric).log_probabilities(strings), expected)


def test_samples_have_the_probabilities_of_the_model():
    true = uqf.WFA([0.7, 0.3], [[[0.3, 0.1], [0.0, 0.2]], [[0.1, 0.2], [0.3, 0.1]]], [0.3, 0.4])
    drawn = StringModel(true).sample(20_000, seed=3)
    assert drawn == StringModel(true).sample(20_000, seed=3)
    assert drawn != StringModel(true).sample(20_000, seed=4)
    listed = list(drawn)
    for word in all_strings(2, 2).words:
        probability = true(word)
        found = listed.count(tuple(word)) / len(listed)
        assert found == pytest.approx(probability, abs=5 * np.sqrt(probability / len(listed)))
    endless = StringModel(uqf.WFA([1.0], [[[1.0 - 2**-30]]], [2**-30]))
    assert endless.sample(3, max_length=7).lengths.tolist() == [7, 7, 7]
