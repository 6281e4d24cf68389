"""The learner: recovery, choices, tokens, and scikit-learn around it."""

import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import uqf
from uqf.strings import StringModel, perplexity
from uqf.strings.hankel import STATISTICS

#: Remembers for ever whether the string began with 0 or with 1, which no n-gram can.
TRUE = uqf.WFA(
    [1.0, 0.0, 0.0],
    [
        [[0.0, 0.5, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.7]],
        [[0.0, 0.0, 0.4], [0.0, 0.7, 0.0], [0.0, 0.0, 0.1]],
    ],
    [0.1, 0.2, 0.2],
)
TRAIN, TEST = StringModel(TRUE).sample(3000, seed=1), StringModel(TRUE).sample(1000, seed=2)
TRUTH = StringModel(TRUE).log_probabilities(TEST).mean()


@pytest.fixture(scope="module")
def fitted():
    return uqf.SpectralStrings().fit(TRAIN)


@pytest.mark.parametrize("statistics", STATISTICS)
def test_given_the_rank_the_automaton_is_found(statistics):
    learner = uqf.SpectralStrings(3, statistics=statistics, smoothing=0.0).fit(TRAIN)
    words = list(itertools.chain.from_iterable(itertools.product((0, 1), repeat=size) for size in range(5)))
    np.testing.assert_allclose(learner.values(words), TRUE.values(words), rtol=0, atol=0.03)
    assert learner.diagnostics_["mass"] == pytest.approx(1.0, abs=0.05)
    assert learner.rank_ == 3 and learner.smoothing_ == 0.0


def test_defaults_choose_the_rank_and_beat_the_n_grams(fitted):
    assert 3 <= fitted.rank_ <= 5
    plain = (
        StringModel(fitted.wfa_, ngrams=fitted.model_.ngrams, smoothing=1.0).log_probabilities(TEST).mean()
    )
    score = fitted.score(TEST)
    assert TRUTH - 0.02 < score < TRUTH + 0.02
    assert score > plain + 0.05


def test_scores_are_what_they_say(fitted):
    logs = fitted.log_probabilities(TEST)
    np.testing.assert_allclose(np.exp(logs), fitted.predict(TEST))
    assert fitted.score(TEST) == pytest.approx(logs.mean())
    # Brute force: one string after the other, one symbol after the other.
    surprise, count = 0.0, 0
    for string in list(TEST)[:50]:
        for place in range(len(string) + 1):
            row = fitted.next_probabilities([string[:place]])[0]
            surprise -= np.log(row[string[place] if place < len(string) else 2])
            count += 1
    assert fitted.perplexity(TEST[:50]) == pytest.approx(np.exp(surprise / count))
    words = [(), (0,), (1,), (0, 1)]
    true = TRUE.values(words)
    assert fitted.perplexity(words, true) == pytest.approx(perplexity(true, fitted.predict(words)))


def test_tokens_are_whatever_can_be_hashed():
    texts = [["on", "off"], [], ["on"], ["on", "off", "on", "off"]] * 10
    learner = uqf.SpectralStrings().fit(texts)
    assert learner.alphabet_ == ("off", "on")
    following = learner.next_probabilities([["on"]])[0]
    assert following[0] > following[1], "after on comes off"
    assert set(learner.sample(5, seed=1).alphabet) == {"on", "off"}
    wider = uqf.SpectralStrings(alphabet=["off", "on", "broken"]).fit(texts)
    assert 0.0 < wider.predict([["broken"]])[0] < wider.predict([["on"]])[0]


@pytest.mark.parametrize("strings", [[[]], [[], [], []], [[0]], [[0, 0, 0]] * 30, [[]] * 30])
@pytest.mark.parametrize("statistics", STATISTICS)
def test_the_smallest_samples_can_be_learned(strings, statistics):
    learner = uqf.SpectralStrings(statistics=statistics).fit(strings)
    assert 0.0 < learner.predict(strings[:1])[0] <= 1.0
    assert np.isfinite(learner.score(strings))


def test_it_is_a_scikit_learn_estimator(fitted):
    search = GridSearchCV(uqf.SpectralStrings(smoothing=0.1), {"rank": [1, 3]}, cv=3, error_score="raise")
    assert search.fit(TRAIN).best_params_ == {"rank": 3}
    assert cross_val_score(uqf.SpectralStrings(2, smoothing=0.1), list(TRAIN)[:300], cv=3).shape == (3,)
    assert not hasattr(clone(fitted), "model_")
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(TEST) == fitted.predict(TEST)).all()


def test_threads_do_not_change_a_bit(fitted):
    one = uqf.SpectralStrings(threads=1).fit(TRAIN)
    assert (one.wfa_.seen_operators == fitted.wfa_.seen_operators).all()
    assert (one.predict(TEST) == fitted.predict(TEST)).all()
