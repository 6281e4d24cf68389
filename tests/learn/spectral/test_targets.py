"""Targets, offsets and the places where words are counted."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqf
from strategies import pomdps
from words import words_up_to


@given(
    pomdps(max_states=3, max_actions=2, max_observations=2), st.floats(0.5, 20.0), st.integers(0, 2**32 - 1)
)
def test_an_offset_on_the_return_moves_every_action_alike(pomdp, offset, seed):
    """Exact blocks of Ṽ and of Ṽ + c·P: the learned values of actions differ by one number per history."""
    values, chances = (
        uqf.WFA.from_pomdp(pomdp).discounted(pomdp.discount),
        uqf.WFA.from_pomdp(pomdp, target="probability"),
    )
    corner = np.zeros((pomdp.n_symbols, values.rank, chances.rank))
    both = np.block([[values.operators, corner], [corner.transpose(0, 2, 1), chances.operators]])
    shifted = uqf.WFA(
        np.concatenate([values.alpha, chances.alpha]),
        both,
        np.concatenate([values.omega, offset * chances.omega]),
    )
    words = words_up_to(pomdp.n_symbols, 3 if pomdp.n_symbols < 4 else 2)
    learned = []
    for wfa in (values, shifted):
        blocks = uqf.exact_hankel(wfa, prefixes=words, suffixes=words)
        rank = wfa.minimise().rank
        spectrum = np.linalg.svd(blocks.block, compute_uv=False)
        # Otherwise the words do not tell the states apart well enough.
        assume(len(spectrum) >= rank and spectrum[rank - 1] >= 1e-4 * spectrum[0])
        learned.append(uqf.spectral_wfa(blocks, rank))
    actions = np.arange(pomdp.n_symbols) // pomdp.n_observations
    for history in words_up_to(pomdp.n_symbols, 2):
        after = [wfa.values([(*history, symbol) for symbol in range(pomdp.n_symbols)]) for wfa in learned]
        plain, moved = (np.bincount(actions, weights=value) for value in after)
        chance = chances.values([(*history, symbol) for symbol in range(pomdp.n_symbols)]).sum()
        np.testing.assert_allclose(moved - plain, offset * chance / pomdp.n_actions, atol=1e-6)


def test_long_words_from_the_start_starve_and_short_ones_anywhere_do_not():
    data = uqf.rollout(uqf.make("gridworld-far"), episodes=150, seed=3)
    longest = 6
    assert not any(episode.rewards[: 2 * longest].any() for episode in data)
    with pytest.raises(uqf.NumericalError):
        uqf.UQF(4, occurrences="start", max_prefix=longest, max_suffix=longest, n_suffixes=500).fit(data)
    learner = uqf.UQF(4, target="return", max_prefix=1, max_suffix=1).fit(data)
    assert np.ptp(learner.decision_function([[]])) > 0
