"""Exact Hankel ⇒ exact recovery; empirical Hankel → exact Hankel."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf
from strategies import pomdps
from uqf.learn.spectral.decomposition import ENERGY, MAX_RANK, decompose
from uqf.learn.spectral.hankel import exact_hankel, spectral_wfa
from words import some_words, words_up_to


def complete_basis(pomdp, minimal_rank):
    """Words long enough to tell all states apart, but not too many of them."""
    length = 1
    while sum(pomdp.n_symbols**n for n in range(length + 1)) < 4 * minimal_rank and length < 4:
        length += 1
    return words_up_to(pomdp.n_symbols, length)


def well_conditioned(block, rank):
    spectrum = np.linalg.svd(block, compute_uv=False)
    return len(spectrum) >= rank and spectrum[rank - 1] > 1e-5 * spectrum[0]


@given(pomdps(max_states=8), st.integers(0, 2**32 - 1))
def test_exact_blocks_give_the_exact_automaton(pomdp, seed):
    wfa = uqf.WFA.from_pomdp(pomdp)
    rank = wfa.minimise().rank
    basis = complete_basis(pomdp, rank)
    blocks = exact_hankel(wfa, prefixes=basis, suffixes=basis)
    assume(well_conditioned(blocks.block, rank))
    learned = spectral_wfa(blocks, rank)
    words = some_words(pomdp.n_symbols, 6, np.random.default_rng(seed), 200)
    np.testing.assert_allclose(learned.values(words), wfa.values(words), atol=1e-8)
    assume(learned.spectral_radius(pomdp.discount) <= 0.999)
    exact, found = wfa.discounted(pomdp.discount), learned.discounted(pomdp.discount)
    np.testing.assert_allclose(found.values(words), exact.values(words), atol=1e-8 / (1 - pomdp.discount))
    for history in some_words(pomdp.n_symbols, 3, np.random.default_rng(seed), 20):
        after = [(*history, symbol) for symbol in range(pomdp.n_symbols)]
        mine, theirs = (
            each.values(after).reshape(pomdp.n_actions, -1).sum(axis=1) for each in (found, exact)
        )
        best = theirs.max()
        if (best - theirs[theirs < best] > 1e-6).all():
            assert theirs[mine.argmax()] == best


@given(pomdps(max_states=5), st.integers(0, 2**32 - 1))
def test_the_policy_is_the_exact_one_step_improvement(pomdp, seed):
    """argmax Q̃ = argmax Q of the uniform policy, by exact belief and dynamic programming."""
    joint = np.einsum("ast,ato->asto", pomdp.transitions, pomdp.observations)
    immediate = (joint * pomdp.rewards_by_outcome()).sum(axis=(2, 3)) * ~pomdp.terminal
    step = pomdp.transitions * (~pomdp.terminal)[:, np.newaxis]
    uniform = np.linalg.solve(
        np.eye(pomdp.n_states) - pomdp.discount * step.mean(axis=0), immediate.mean(axis=0)
    )
    exact_q = immediate + pomdp.discount * step @ uniform
    policy = (
        uqf.WFA.from_pomdp(pomdp).discounted(pomdp.discount).policy(pomdp.n_actions, pomdp.n_observations)
    )
    data = uqf.rollout(pomdp, episodes=4, seed=seed % 1000)
    for episode in data:
        belief, state = pomdp.start, policy.initial_state()
        for action, observation in episode.history[:-1]:
            values = policy.q_values(state)
            expected = exact_q @ belief
            scale = np.abs(expected).max()
            if scale > 1e-6:
                ratio = values @ expected / (expected @ expected)
                assert ratio > 0
                np.testing.assert_allclose(values / ratio, expected, atol=1e-6 * max(scale, 1.0))
            belief = belief @ step[action] * pomdp.observations[action, :, observation]
            belief /= belief.sum()
            state = policy.update(state, action, observation)


def exact_anywhere(pomdp, words, horizon):
    """Σ over the places where a word may begin of E[reward at its end; the word is read from there]."""
    wfa = uqf.WFA.from_pomdp(pomdp)
    total = uqf.WFA.from_pomdp(pomdp, target="probability").operators.sum(axis=0)
    lengths = np.array([len(word) for word in words])
    start, block = pomdp.start, np.zeros((len(words), len(words)))
    for begin in range(horizon + 1):
        shifted = uqf.WFA(np.concatenate([start, np.zeros(pomdp.n_states)]), wfa.operators, wfa.omega)
        fits = np.add.outer(lengths, lengths) + begin <= horizon
        block += np.where(fits, exact_hankel(shifted, prefixes=words, suffixes=words).block, 0.0)
        if begin < horizon:
            # The empty word after the next step is worth that step's reward, whatever its symbol.
            block[0, 0] += shifted.values([(symbol,) for symbol in range(pomdp.n_symbols)]).sum()
        start = start @ total
    return block


@pytest.mark.parametrize("occurrences", ["start", "anywhere"])
def test_empirical_block_converges_like_one_over_root_n(occurrences):
    pomdp = uqf.make("tiger", horizon=6).tabular()
    words = words_up_to(pomdp.n_symbols, 2)
    wfa = uqf.WFA.from_pomdp(pomdp)
    exact = exact_hankel(wfa, prefixes=words, suffixes=words).block
    if occurrences == "anywhere":
        exact = exact_anywhere(pomdp, words, horizon=6)
    sizes = np.array([250, 1000, 4000, 16000])
    errors = []
    for size in sizes:
        blocks = [
            uqf.hankel(
                uqf.rollout(pomdp, episodes=int(size), seed=seed),
                prefixes=words,
                suffixes=words,
                occurrences=occurrences,
            ).block
            for seed in range(8)
        ]
        errors.append(np.sqrt(np.mean([np.linalg.norm(block - exact) ** 2 for block in blocks])))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35


def test_large_blocks_use_the_leading_vectors_only():
    rng = np.random.default_rng(0)
    block = rng.normal(size=(1100, 6)) @ rng.normal(size=(6, 1200))
    few = decompose(block, 4)
    whole = np.linalg.svd(block, compute_uv=False)
    np.testing.assert_allclose(few.singular_values, whole[:4], rtol=1e-8)
    np.testing.assert_array_equal(few.left, decompose(block, 4).left)


def test_a_chosen_rank_is_the_smallest_that_keeps_the_energy():
    rng = np.random.default_rng(0)
    spectrum = 0.5 ** np.arange(20)
    left, right = (np.linalg.qr(rng.normal(size=(40, 20)))[0] for _ in range(2))
    block = (left * spectrum) @ right.T
    chosen = decompose(block, None, choose=True).rank
    shares = np.cumsum(spectrum**2) / (spectrum**2).sum()
    assert shares[chosen - 2] < ENERGY <= shares[chosen - 1]
    assert decompose(block, None).rank == 20
    for scale in (1e-200, 1e200):
        assert decompose(scale * block, None, choose=True).rank == chosen


def test_a_chosen_rank_is_bounded_where_everything_is_noise():
    noise = np.random.default_rng(0).normal(size=(300, 200))
    assert decompose(noise, None, choose=True).rank == MAX_RANK
    assert decompose(noise, None).rank == 200
    large = np.random.default_rng(0).normal(size=(1100, 900))
    assert decompose(large, None, choose=True).rank == MAX_RANK
