"""Acting on the state of an automaton: scale, death, windows, division, ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from strategies import pomdps
from uqf import _reference
from uqf.learn.spectral.basis import Basis, Target
from uqf.learn.uqf import learn_state
from uqf.policies.policy import remembered
from uqf.reading.reader import Reader


def policy_of(wfa, n_actions=1, n_observations=None, **options):
    return wfa.policy(n_actions, n_observations or wfa.n_symbols // n_actions, **options)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_states_keep_their_scale_for_ten_thousand_steps(scale):
    rng = np.random.default_rng(0)
    operators = rng.uniform(0.1, 1.0, size=(4, 3, 3))
    alpha, omega = rng.uniform(size=3), rng.uniform(size=3)
    plain = policy_of(uqf.WFA(alpha, operators, omega), 2)
    scaled = policy_of(uqf.WFA(alpha, scale * operators, omega), 2)
    history = list(rng.integers(2, size=(10_000, 2)))
    with np.errstate(over="ignore", invalid="ignore"):
        unscaled = uqf.WFA(alpha, scale * operators, omega).state([2 * a + o for a, o in history[:500]])
    assert not np.isfinite(unscaled).all() or not unscaled.any()
    mine, theirs = remembered(scaled, history), remembered(plain, history)
    vectors = scaled.vector(mine), plain.vector(theirs)
    assert np.abs(vectors[0]).max() == pytest.approx(1.0)
    np.testing.assert_allclose(*vectors, rtol=1e-9)
    np.testing.assert_array_equal(scaled.action_probs(mine), plain.action_probs(theirs))


@given(st.integers(0, 2**32 - 1))
def test_rescaling_never_flips_the_sign(seed):
    rng = np.random.default_rng(seed)
    wfa = uqf.WFA(-rng.random(3), rng.normal(size=(2, 3, 3)), rng.normal(size=3))
    word = rng.integers(2, size=12)
    policy = policy_of(wfa)
    raw, kept = wfa.state(word), policy.vector(remembered(policy, [(0, symbol) for symbol in word]))
    assert raw @ kept > 0
    np.testing.assert_allclose(kept, raw / np.abs(raw).max(), atol=1e-9)


def test_an_unseen_symbol_keeps_the_state():
    wfa = uqf.WFA([0.25, 1.0], [[[0.5, 0.5], [0.0, 1.0]]], [1.0, 0.0], symbols=[1], n_symbols=4)
    policy = policy_of(wfa, 2)
    before = remembered(policy, [(0, 1)])
    after = policy.update(before, 1, 0)
    np.testing.assert_array_equal(policy.vector(after), policy.vector(before))
    np.testing.assert_array_equal(policy.q_values(after), policy.q_values(before))
    assert wfa((1, 2)) == 0.0


def anchored_policy(operators, anchor, weights=((1.0, 0.0), (0.0, 1.0))):
    return uqf.AutomatonPolicy(
        symbols=np.arange(2),
        operators=np.array(operators, float),
        n_actions=2,
        n_observations=1,
        start=np.array([1.0, 0.0]),
        anchor=np.array(anchor, float),
        weights=np.array(weights, float),
    )


def test_a_state_that_dies_begins_again_at_the_anchor():
    kills_first = [[0.0, 0.0], [0.0, 2.0]]
    policy = anchored_policy([kills_first, np.zeros((2, 2))], anchor=[0.5, 0.25])
    after = policy.update(policy.initial_state(), 0, 0)
    np.testing.assert_allclose(policy.vector(after), [0.0, 1.0], err_msg="the anchor after that symbol")
    dead = policy.update(after, 1, 0)
    np.testing.assert_allclose(policy.vector(dead), [1.0, 0.5], err_msg="the anchor itself")


@pytest.mark.parametrize("weights", [((1e308, 1e308), (1e308, -1e308)), ((1e308, 1e308), (-1e308, -1e308))])
def test_values_that_overflow_never_decide(weights):
    """Infinite or undefined values say nothing about actions, so all are taken alike."""
    policy = anchored_policy([np.eye(2), np.eye(2)], anchor=[1.0, 1.0], weights=weights)
    swap = anchored_policy([np.ones((2, 2)), np.ones((2, 2))], anchor=[1.0, 1.0], weights=weights)
    for each in (policy, swap):
        probs = each.action_probs(each.update(each.initial_state(), 0, 0))
        assert np.isfinite(probs).all() and probs.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(swap.action_probs(swap.update(swap.initial_state(), 0, 0)), [0.5, 0.5])


def test_ties_are_broken_by_seeded_chance():
    wfa = uqf.WFA([1.0], np.ones((6, 1, 1)), [1.0])
    policy = policy_of(wfa, 3)
    np.testing.assert_allclose(policy.action_probs(policy.initial_state()), 1 / 3)
    tiger = uqf.make("tiger", horizon=5)
    first, again, other = (uqf.rollout(tiger, policy, episodes=200, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.actions, again.actions)
    assert (first.actions[:500] != other.actions[:500]).any()
    counts = np.bincount(first.actions, minlength=3)
    assert (abs(counts - 1000 / 3) < 5 * np.sqrt(1000 * 2 / 9)).all()
    rng = np.random.default_rng(0)
    assert {policy.action(policy.initial_state(), rng) for _ in range(50)} == {0, 1, 2}


@given(pomdps(max_states=3), st.floats(1e-3, 1e3), st.integers(0, 2**32 - 1))
def test_the_policy_does_not_depend_on_basis_and_positive_scale(pomdp, scale, seed):
    rng = np.random.default_rng(seed)
    wfa = uqf.WFA.from_pomdp(pomdp).discounted(pomdp.discount)
    change = np.linalg.qr(rng.normal(size=(wfa.rank, wfa.rank)))[0] * rng.uniform(0.5, 2.0, wfa.rank)
    other = wfa.change_basis(scale * change)
    mine, theirs = (each.policy(pomdp.n_actions, pomdp.n_observations) for each in (wfa, other))
    for episode in uqf.rollout(pomdp, episodes=3, seed=seed % 1000):
        for length in range(len(episode.history)):
            history = episode.history[:length]
            one, two = mine.q_values(remembered(mine, history)), theirs.q_values(remembered(theirs, history))
            if (size := np.abs(one).max()) > 1e-6:
                np.testing.assert_allclose(two / np.abs(two).max(), one / size, atol=1e-6)


@pytest.fixture(scope="module")
def learned():
    """A state with its anchor, from data."""
    data = uqf.rollout(uqf.make("tiger", horizon=8), episodes=500, seed=7)
    basis = Basis(max_prefix=2, max_suffix=2)
    return learn_state(Reader(data), basis, Target("return", 0.9), 3)[0]


def windowed(state, window, temperature=0.0):
    return state.wfa().policy(3, 2, anchor=state.anchor, window=window, temperature=temperature)


@pytest.mark.parametrize("window", [1, 3])
def test_a_window_is_the_whole_history_while_it_reaches_the_start(learned, window):
    whole, limited = windowed(learned, None), windowed(learned, window)
    history = [(0, 1), (0, 1), (1, 0), (0, 0), (0, 1)]
    for length in range(len(history) + 1):
        state = limited.vector(remembered(limited, history[:length]))
        if length <= window:
            np.testing.assert_array_equal(state, whole.vector(remembered(whole, history[:length])))
        else:
            begin = learned.anchor
            for action, observation in history[length - window : length]:
                begin = begin @ learned.wfa().operators[2 * action + observation]
            np.testing.assert_allclose(state, begin / np.abs(begin).max(), rtol=1e-9)


def test_behavior_is_divided_out_as_the_paper_does_through_two_rounds():
    """Π is itself an ε-greedy policy on values divided by the Π of the round before."""
    tables = np.random.default_rng(1)
    automata = [
        uqf.WFA(tables.random(3), tables.normal(size=(6, 3, 3)), tables.normal(size=3)) for _ in range(3)
    ]

    def policy_on(wfa, behavior):
        return wfa.policy(3, 2, behavior=behavior)

    first = policy_on(automata[0], None)
    second = policy_on(automata[1], (first, 0.5))
    third = policy_on(automata[2], (second, 0.25))

    def greedy(values, epsilon):
        return (1 - epsilon) * (values == values.max()) + epsilon / 3

    for length in range(6):
        history = list(tables.integers([3, 2], size=(length, 2)))
        symbols = [2 * action + observation for action, observation in history]
        parts = [(wfa.alpha, wfa.operators, wfa.omega, symbols) for wfa in automata]
        one = _reference.unnormalised_q(*parts[0], np.ones(3), 2)
        two = _reference.unnormalised_q(*parts[1], greedy(one, 0.5), 2)
        three = _reference.unnormalised_q(*parts[2], greedy(two, 0.25), 2)
        values = third.q_values(remembered(third, history))
        np.testing.assert_allclose(values / np.abs(values).max(), three / np.abs(three).max(), rtol=1e-9)


@pytest.fixture(scope="module")
def tiger():
    return uqf.rollout(uqf.make("tiger", horizon=5), episodes=100, seed=0)


def test_memories_of_other_automata_are_refused(tiger):
    small, large = (uqf.UQF(rank).fit(tiger).policy_ for rank in (2, 3))
    windowed = uqf.UQF(2, window=2).fit(tiger).policy_
    nested = uqf.UQF(2, behavior=(small, 0.5)).fit(tiger).policy_
    two_steps = windowed.update(windowed.update(windowed.initial_state(), 0, 0), 0, 1)
    for policy, memory in (
        (small, large.initial_state()),
        (small, two_steps),
        (nested, small.initial_state()),
    ):
        for call in (
            policy.q_values,
            policy.action_probs,
            policy.action,
            lambda m, p=policy: p.update(m, 0, 0),
        ):
            with pytest.raises(ValueError):
                call(memory)
    np.testing.assert_array_equal(
        small.with_temperature(1.0).q_values(small.initial_state()), small.q_values(small.initial_state())
    )
