"""The core against the NumPy twin, for every combination of target, occurrences and projection."""

from functools import cache

import numpy as np
import pytest
import xxhash
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import uqf
from counting import counted, learned_state
from strategies import trajectories
from uqf import _core, _reference
from uqf.learn.spectral.basis import Basis, Target
from uqf.learn.spectral.sums import HankelSums
from words import words_up_to

PROJECTIONS = [None, "gaussian", "rademacher", "sparse", "hashed"]
TARGETS = [Target("reward"), Target("return", 0.9, 0.25), Target("probability")]


def episodes_of(data):
    return [
        (episode.actions * data.n_observations + episode.observations, episode.rewards) for episode in data
    ]


def features(data, basis):
    """φ for prefixes and suffixes, as functions of a word."""
    if basis.projection is not None:
        sides = ((basis.prefix_dim, 2 * basis.seed), (basis.suffix_dim, 2 * basis.seed + 1))
        return tuple(
            cache(
                lambda word, dim=dim, seed=seed: _core.project_words([word], basis.projection, dim, seed)[0]
            )
            for dim, seed in sides
        )
    maps = []
    for where, length in ((basis.occurrences, basis.max_prefix), ("anywhere", basis.max_suffix)):
        words, _ = _core.most_frequent(data, occurrences=where, max_length=length)
        places = {tuple(word): row for word, row in zip(words, np.eye(len(words)), strict=True)}
        maps.append(places.__getitem__)
    return tuple(maps)


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("occurrences", ["start", "anywhere"])
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@settings(max_examples=max(5, settings().max_examples // 8))
@given(data=trajectories(max_episodes=5, max_length=5), seed=st.integers(0, 1000))
def test_core_equals_twin(projection, occurrences, target, data, seed):
    """Values of words, since singular vectors are free in their sign; and only where the data fix them."""
    basis = Basis(
        occurrences=occurrences,
        max_prefix=2,
        max_suffix=2,
        projection=projection,
        prefix_dim=7,
        suffix_dim=6,
        seed=seed,
    )
    sums = HankelSums.of(data, counted(data, basis, target))
    spectrum = np.linalg.svd(_dense(sums) / len(data), compute_uv=False)
    gaps = -np.diff(np.append(spectrum, 0.0))[:3]
    rank = int(gaps.argmax()) + 1
    # Otherwise no leading space stands out, and the twin's may be another one.
    assume(gaps.max() >= 0.02 * spectrum[0])
    alpha, operators, omega = _reference.learn_automaton(
        episodes_of(data),
        data.n_symbols,
        rank,
        *features(data, basis),
        target=target.name,
        where=occurrences,
        discount=target.discount,
        offset=target.offset,
        max_prefix=2,
        max_suffix=2,
    )
    state = learned_state(data, basis, target, rank)
    np.testing.assert_allclose(state.decomposition.singular_values, spectrum[:rank], rtol=1e-12)
    words = words_up_to(data.n_symbols, 2)
    expected = uqf.WFA(alpha, operators, omega).values(words)
    # Rounding is relative to the sizes of the factors, which may cancel, and to the inverse of the gap.
    sizes = uqf.WFA(abs(alpha), abs(operators), abs(omega)).values(words).max()
    tolerance = 1e-12 * sizes * spectrum[0] / gaps.max()
    np.testing.assert_allclose(state.wfa().values(words), expected, rtol=0, atol=tolerance)


def _dense(sums):
    return sums.block().toarray()


@given(trajectories(), st.sampled_from(PROJECTIONS), st.sampled_from(["start", "anywhere"]))
def test_first_pass_equals_twin_to_the_last_digits(data, projection, occurrences):
    basis = Basis(
        occurrences=occurrences, max_prefix=2, max_suffix=3, projection=projection, prefix_dim=7, suffix_dim=6
    )
    target = Target("return", 0.8, 0.5)
    sums = HankelSums.of(data, counted(data, basis, target))
    prefix_feature, suffix_feature = features(data, basis)
    expected = np.zeros(sums.shape)
    for symbols, rewards in episodes_of(data):
        y = _reference.target_values(rewards, "return", 0.8, 0.5)
        for u, _, v, end in _reference.occurrences(symbols, occurrences, 2, 3):
            expected += y[end] * np.outer(prefix_feature(u), suffix_feature(v))
    np.testing.assert_allclose(_dense(sums), expected, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_theorem_and_decision_equal_twin():
    data = uqf.rollout(uqf.make("tiger", horizon=5), episodes=400, seed=2)
    learner = uqf.UQF(3, 0.6, occurrences="start", max_prefix=2, max_suffix=2).fit(data)
    wfa = learner.wfa_
    omega = _reference.value_readout(wfa.operators, wfa.omega, 0.6)
    np.testing.assert_allclose(learner.value_wfa_.omega, omega, atol=1e-10)
    parts = learner.policy_.parts()
    for history in ([], [(0, 1)], [(0, 1), (0, 0)]):
        symbols = [action * 2 + observation for action, observation in history]
        row = parts["symbols"].tolist().index(symbols[-1]) if history else len(parts["symbols"]) + 1
        expected = _reference.unnormalised_q(
            wfa.alpha, wfa.operators, omega, symbols, parts["propensities"][row], 2
        )
        values = learner.decision_function([history])[0]
        np.testing.assert_allclose(
            values / np.abs(values).max(), expected / np.abs(expected).max(), atol=1e-9
        )


@pytest.mark.parametrize("kind", ["hashed", "sparse", "rademacher", "gaussian"])
@given(
    word=st.lists(st.integers(0, 2**32 - 1), max_size=5), seed=st.integers(0, 2**40), dim=st.integers(1, 130)
)
def test_projection_specification_is_frozen(kind, word, seed, dim):
    """Written out again from its documentation: XXH3 of little-endian words, then SplitMix64."""
    key = xxhash.xxh3_64_intdigest(b"".join(symbol.to_bytes(4, "little") for symbol in word), seed=seed)
    mask = 2**64 - 1

    def output(counter):
        z = (key + 0x9E3779B97F4A7C15 * (counter + 1)) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    expected = np.zeros(dim)
    if kind in ("hashed", "sparse"):
        size, count = (1.0, 1) if kind == "hashed" else (0.5, 4)
        for counter in range(count):
            bits = output(counter)
            expected[(bits * dim) >> 64] += size if bits % 2 == 0 else -size
    elif kind == "rademacher":
        signs = [1.0 if output(i // 64) >> (i % 64) & 1 == 0 else -1.0 for i in range(dim)]
        expected = np.array(signs) / np.sqrt(dim)
    else:
        for i in range(dim):
            first, second = output(2 * (i // 2)), output(2 * (i // 2) + 1)
            radius = np.sqrt(-2.0 * np.log(((first >> 11) + 1) / 2**53))
            angle = 2.0 * np.pi * ((second >> 11) / 2**53)
            expected[i] = radius * (np.cos(angle) if i % 2 == 0 else np.sin(angle)) / np.sqrt(dim)
    np.testing.assert_allclose(_core.project_words([word], kind, dim, seed)[0], expected, atol=1e-14)
