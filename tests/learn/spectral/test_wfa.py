"""Weighted automata: exact ones of POMDPs, the theorem, changes of basis."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from strategies import pomdps
from words import some_words


def brute_force(pomdp, word):
    """(P(h), E[r; h]) under the uniform policy, by summing over all state paths."""
    mass, reward = pomdp.start.copy(), 0.0
    rewards = pomdp.rewards_by_outcome()
    for symbol in word:
        action, seen = divmod(symbol, pomdp.n_observations)
        nxt, reward = np.zeros(pomdp.n_states), 0.0
        for s, t in itertools.product(range(pomdp.n_states), repeat=2):
            if pomdp.terminal[s]:
                continue
            p = (
                mass[s]
                / pomdp.n_actions
                * pomdp.transitions[action, s, t]
                * pomdp.observations[action, t, seen]
            )
            nxt[t] += p
            reward += p * rewards[action, s, t, seen]
        mass = nxt
    return mass.sum(), reward


@given(pomdps(), st.randoms(use_true_random=False))
def test_exact_automata_agree_with_summing_over_paths(pomdp, random):
    rng = np.random.default_rng(random.randrange(2**32))
    words = some_words(pomdp.n_symbols, 4, rng, 30)
    exact = np.array([brute_force(pomdp, word) for word in words])
    np.testing.assert_allclose(
        uqf.WFA.from_pomdp(pomdp, target="probability").values(words), exact[:, 0], atol=1e-12
    )
    np.testing.assert_allclose(uqf.WFA.from_pomdp(pomdp).values(words), exact[:, 1], atol=1e-12)


@given(pomdps())
def test_theorem_equals_the_truncated_series(pomdp):
    rewards = uqf.WFA.from_pomdp(pomdp)
    values = rewards.discounted(pomdp.discount)
    total = rewards.operators.sum(axis=0) * pomdp.discount
    series, term = np.zeros(rewards.rank), rewards.omega
    for _ in range(2000):
        series, term = series + term, total @ term
    np.testing.assert_allclose(values.omega, series, atol=1e-8)
    np.testing.assert_allclose(rewards.discounted(pomdp.discount, horizon=2000).omega, series, atol=1e-8)


@given(pomdps())
def test_value_of_the_start_is_the_dynamic_programming_value(pomdp):
    """Ṽ(λ) = γ · V(start) of the uniform policy, by solving the Bellman equations of the states."""
    going = (~pomdp.terminal)[:, np.newaxis]
    step = np.einsum("ast->st", pomdp.transitions) / pomdp.n_actions * going
    joint = np.einsum("ast,ato->asto", pomdp.transitions, pomdp.observations)
    reward = (joint * pomdp.rewards_by_outcome()).sum(axis=(0, 2, 3)) / pomdp.n_actions * going[:, 0]
    values = np.linalg.solve(np.eye(pomdp.n_states) - pomdp.discount * step, reward)
    expected = pomdp.discount * pomdp.start @ values
    assert uqf.WFA.from_pomdp(pomdp).discounted(pomdp.discount)(()) == pytest.approx(expected, abs=1e-9)


@given(pomdps(), st.integers(0, 2**32 - 1))
def test_values_do_not_depend_on_the_basis(pomdp, seed):
    rng = np.random.default_rng(seed)
    wfa = uqf.WFA.from_pomdp(pomdp)
    change = np.linalg.qr(rng.normal(size=(wfa.rank, wfa.rank)))[0] * rng.uniform(0.5, 2.0, wfa.rank)
    words = some_words(pomdp.n_symbols, 5, rng)
    np.testing.assert_allclose(wfa.change_basis(change).values(words), wfa.values(words), atol=1e-10)


@given(pomdps(), st.floats(5e-324, 1e-16))
def test_a_tolerance_below_rounding_comes_to_an_end(pomdp, tolerance):
    wfa = uqf.WFA.from_pomdp(pomdp)
    assert wfa.minimise(tolerance).rank <= wfa.rank


@given(pomdps(), st.integers(0, 2**32 - 1))
def test_minimal_automaton_computes_the_same_with_the_rank_of_the_hankel_matrix(pomdp, seed):
    rng = np.random.default_rng(seed)
    wfa = uqf.WFA.from_pomdp(pomdp)
    minimal = wfa.minimise()
    words = some_words(pomdp.n_symbols, 5, rng)
    np.testing.assert_allclose(minimal.values(words), wfa.values(words), atol=1e-8)
    basis = some_words(pomdp.n_symbols, 4, rng, 150)
    block = uqf.exact_hankel(wfa, prefixes=set(basis), suffixes=set(basis)).block
    assert minimal.rank >= np.linalg.matrix_rank(block, tol=1e-9) or not wfa.values(words).any()
    assert minimal.rank <= wfa.rank


def test_state_batches_and_sparse_operators():
    rng = np.random.default_rng(0)
    alpha, operators, omega = rng.normal(size=3), rng.normal(size=(2, 3, 3)), rng.normal(size=3)
    wfa = uqf.WFA(alpha, operators, omega, symbols=[4, 1], n_symbols=6)
    assert wfa((4, 1)) == pytest.approx(alpha @ operators[0] @ operators[1] @ omega)
    np.testing.assert_allclose(wfa.state((4, 1)), alpha @ operators[0] @ operators[1])
    assert wfa((4, 2)) == 0.0
    np.testing.assert_array_equal(wfa.operators[[0, 2, 3, 5]], 0.0)
    np.testing.assert_array_equal(wfa.values([(), (4,)]), [wfa(()), wfa((4,))])
    copy = pickle.loads(pickle.dumps(wfa))
    assert copy((4, 1, 1)) == wfa((4, 1, 1))


def test_spectral_radius_of_one_is_refused_and_every_remedy_works():
    wfa = uqf.WFA([1.0, 1.0], [np.diag([1.25, 0.25])], [1.0, 1.0])
    with pytest.raises(uqf.SpectralRadiusError) as refused:
        wfa.discounted(0.9)
    assert refused.value.radius == pytest.approx(1.125)
    assert pickle.loads(pickle.dumps(refused.value)).radius == refused.value.radius
    finite = wfa.discounted(0.9, horizon=10)(())
    assert finite == pytest.approx(sum(1.125**n + 0.225**n for n in range(10)))
    assert wfa.discounted(0.5)(()) == pytest.approx(1 / (1 - 0.625) + 1 / (1 - 0.125))
