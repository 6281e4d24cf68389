"""What goes wrong with a plain reading of the paper, one test each: every one fails without its handling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uqf.learn.decision import REMEDIES, SAFE_RADIUS
from uqf.learn.state import Basis, Target, learn_state

import uqf
from strategies import pomdps
from uqf import _core, _reference
from words import words_up_to


def policy_of(wfa, n_actions=1, n_observations=None, **options):
    return wfa.policy(n_actions, n_observations or wfa.n_symbols // n_actions, **options)


def remember(policy, history):
    memory = policy.initial_state()
    for action, observation in history:
        memory = policy.update(memory, action, observation)
    return memory


# --- the start of the compressed automaton --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian", "rademacher", "sparse", "hashed"])
def test_the_start_is_estimated_directly(kind):
    """Rewards 2⁻ᵗ make a Hankel block of exactly rank 2; three dimensions then hold all of its 5 × 5."""
    data = uqf.Trajectories.from_episodes(
        [([0] * 12, [0] * 12, 0.5 ** np.arange(1, 13))], n_actions=1, n_observations=1
    )
    words = words_up_to(1, 4)
    exact = np.array([0.0, *0.5 ** np.arange(1.0, 5.0)])
    for seed in range(20):
        projections = [_core.project_words(words, kind, 3, 2 * seed + side) for side in (0, 1)]
        basis = Basis("start", 4, 4, projection=kind, prefix_dim=3, suffix_dim=3, seed=seed)
        if min(np.linalg.matrix_rank(projection) for projection in projections) < 3:
            continue  # hashed words may share too few buckets
        if kind == "hashed" and np.abs(projections[0][1:] @ projections[0][0]).max() == 0:
            continue  # λ has a bucket of its own: the one case where the paper's e exists
        state = learn_state(data, basis, [Target("reward")], 2)
        if state.decomposition.singular_values[-1] < 1e-3:
            continue
        np.testing.assert_allclose(state.wfa().values(words), exact, atol=1e-12)
        parts = state.decomposition
        paper = _reference.paper_start(parts.left, parts.singular_values, projections[0])
        assert np.linalg.norm(paper - state.alpha) > 0.05 * np.linalg.norm(state.alpha)
        return
    pytest.fail("no seed gave a usable projection")


# --- divergence -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def diverging():
    """Few episodes and a high rank: the noise alone has a radius above one."""
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=30, seed=0)


def diverging_learner(remedy):
    return uqf.UQF.paper(12, 0.95, max_prefix=2, max_suffix=2, on_divergence=remedy)


def test_divergence_is_refused_with_the_radius(diverging):
    with pytest.raises(uqf.SpectralRadiusError) as refused:
        diverging_learner("refuse").fit(diverging)
    assert refused.value.radius >= 1.0
    assert f"{refused.value.radius:.6g}" in str(refused.value)


@pytest.mark.parametrize("remedy", [remedy for remedy in REMEDIES if remedy != "refuse"])
def test_every_remedy_of_divergence_gives_a_finite_policy_and_says_so(diverging, remedy):
    learner = diverging_learner(remedy).fit(diverging)
    reward, value = learner.wfa_, learner.value_wfa_
    assert np.isfinite(learner.decision_function([[], [(0, 0)], [(0, 0)] * 50])).all()
    assert "spectral radius" in learner.diagnostics_["notes"][0]
    radius = learner.diagnostics_["spectral_radius"]
    if remedy == "lower-rank":
        assert radius < 1.0 and reward.rank < 12
        np.testing.assert_array_equal(value.omega, reward.discounted(0.95).omega)
        return
    assert radius >= 1.0 and reward.rank == 12
    step = 0.95 * reward.operators.sum(axis=0)
    if remedy == "horizon":
        powers = [np.linalg.matrix_power(step, n) @ reward.omega for n in range(6)]
        np.testing.assert_allclose(value.omega, np.sum(powers, axis=0), rtol=1e-9)
    else:
        shrunk = np.eye(reward.rank) - step * SAFE_RADIUS / radius
        np.testing.assert_allclose(shrunk @ value.omega, reward.omega, atol=1e-9 * np.abs(value.omega).max())


def test_an_unknown_remedy_is_refused(diverging):
    with pytest.raises(ValueError, match="on_divergence = 'pray'"):
        diverging_learner("pray").fit(diverging)


# --- the state ------------------------------------------------------------------------------------------


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
    mine, theirs = remember(scaled, history), remember(plain, history)
    assert np.abs(mine.vector).max() == pytest.approx(1.0)
    np.testing.assert_allclose(mine.vector, theirs.vector, rtol=1e-9)
    np.testing.assert_array_equal(scaled.action_probs(mine), plain.action_probs(theirs))


@given(st.integers(0, 2**32 - 1))
def test_rescaling_never_flips_the_sign(seed):
    rng = np.random.default_rng(seed)
    wfa = uqf.WFA(-rng.random(3), rng.normal(size=(2, 3, 3)), rng.normal(size=3))
    word = rng.integers(2, size=12)
    raw, kept = wfa.state(word), remember(policy_of(wfa), [(0, symbol) for symbol in word]).vector
    assert raw @ kept > 0
    np.testing.assert_allclose(kept, raw / np.abs(raw).max(), atol=1e-9)


def test_an_unseen_symbol_keeps_the_state():
    wfa = uqf.WFA([0.25, 1.0], [[[0.5, 0.5], [0.0, 1.0]]], [1.0, 0.0], symbols=[1], n_symbols=4)
    policy = policy_of(wfa, 2)
    before = remember(policy, [(0, 1)])
    after = policy.update(before, 1, 0)
    np.testing.assert_array_equal(after.vector, before.vector)
    np.testing.assert_array_equal(policy.q_values(after), policy.q_values(before))
    assert wfa((1, 2)) == 0.0


def anchored_policy(operators, anchor, weights=((1.0, 0.0), (0.0, 1.0))):
    automaton = _core.Automaton(np.arange(2), np.array(operators, float), 2)
    return _core.AutomatonPolicy(
        automaton,
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
    np.testing.assert_allclose(after.vector, [0.0, 1.0])  # the anchor after that symbol
    dead = policy.update(after, 1, 0)
    np.testing.assert_allclose(dead.vector, [1.0, 0.5])  # the symbol kills the anchor too: the anchor itself


@pytest.mark.parametrize("weights", [((1e308, 1e308), (1e308, -1e308)), ((1e308, 1e308), (-1e308, -1e308))])
def test_values_that_overflow_never_decide(weights):
    """Infinite or undefined values say nothing about actions, so all are taken alike."""
    policy = anchored_policy([np.eye(2), np.eye(2)], anchor=[1.0, 1.0], weights=weights)
    swap = anchored_policy([np.ones((2, 2)), np.ones((2, 2))], anchor=[1.0, 1.0], weights=weights)
    for each in (policy, swap):
        probs = each.action_probs(each.update(each.initial_state(), 0, 0))
        assert np.isfinite(probs).all() and probs.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(swap.action_probs(swap.update(swap.initial_state(), 0, 0)), [0.5, 0.5])


# --- the offset -----------------------------------------------------------------------------------------


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
        if len(spectrum) < rank or spectrum[rank - 1] < 1e-4 * spectrum[0]:
            return  # the words do not tell the states apart well enough
        learned.append(uqf.spectral_wfa(blocks, rank))
    actions = np.arange(pomdp.n_symbols) // pomdp.n_observations
    for history in words_up_to(pomdp.n_symbols, 2):
        after = [wfa.values([(*history, symbol) for symbol in range(pomdp.n_symbols)]) for wfa in learned]
        plain, moved = (np.bincount(actions, weights=value) for value in after)
        chance = chances.values([(*history, symbol) for symbol in range(pomdp.n_symbols)]).sum()
        np.testing.assert_allclose(moved - plain, offset * chance / pomdp.n_actions, atol=1e-6)


def test_an_offset_on_rewards_is_refused():
    data = uqf.rollout(uqf.make("tiger", horizon=4), episodes=20)
    with pytest.raises(ValueError, match="not invariant"):
        uqf.UQF.paper(1, offset=1.0).fit(data)


# --- starving, ties -------------------------------------------------------------------------------------


def test_long_words_from_the_start_starve_and_short_ones_anywhere_do_not():
    data = uqf.rollout(uqf.make("gridworld-far"), episodes=150, seed=3)
    longest = 6
    assert not any(episode.rewards[: 2 * longest].any() for episode in data)
    with pytest.raises(uqf.NumericalError, match='occurrences="anywhere"'):
        uqf.UQF.paper(4, max_prefix=longest, max_suffix=longest, n_suffixes=500).fit(data)
    learner = uqf.UQF(4, memory="spectral", target="return", max_prefix=1, max_suffix=1).fit(data)
    assert np.ptp(learner.decision_function([[]])) > 0


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


# --- what must not matter, and what must agree ----------------------------------------------------------


@given(pomdps(max_states=3), st.floats(1e-3, 1e3), st.integers(0, 2**32 - 1))
def test_the_policy_does_not_depend_on_basis_and_positive_scale(pomdp, scale, seed):
    rng = np.random.default_rng(seed)
    wfa = uqf.WFA.from_pomdp(pomdp).discounted(pomdp.discount)
    change = np.linalg.qr(rng.normal(size=(wfa.rank, wfa.rank)))[0] * rng.uniform(0.5, 2.0, wfa.rank)
    other = wfa.change_basis(scale * change)
    mine, theirs = (each.policy(pomdp.n_actions, pomdp.n_observations) for each in (wfa, other))
    for episode in uqf.rollout(pomdp, episodes=3, seed=seed % 1000):
        for length in range(len(episode)):
            history = episode.history[:length]
            one, two = mine.q_values(remember(mine, history)), theirs.q_values(remember(theirs, history))
            if (size := np.abs(one).max()) > 1e-6:
                np.testing.assert_allclose(two / np.abs(two).max(), one / size, atol=1e-6)


@pytest.fixture(scope="module")
def learned():
    """A state with its anchor, from data."""
    data = uqf.rollout(uqf.make("tiger", horizon=8), episodes=500, seed=7)
    return learn_state(data, Basis(max_prefix=2, max_suffix=2), [Target("return", 0.9)], 3)


def windowed(state, window, temperature=0.0):
    wfa = state.wfa()
    return _core.AutomatonPolicy(
        wfa.automaton,
        n_actions=3,
        n_observations=2,
        start=state.alpha,
        anchor=state.anchor,
        weights=wfa.action_weights(3, 2),
        window=window,
        temperature=temperature,
    )


@pytest.mark.parametrize("window", [1, 3])
def test_a_window_is_the_whole_history_while_it_reaches_the_start(learned, window):
    whole, limited = windowed(learned, None), windowed(learned, window)
    history = [(0, 1), (0, 1), (1, 0), (0, 0), (0, 1)]
    for length in range(len(history) + 1):
        state = remember(limited, history[:length]).vector
        if length <= window:
            np.testing.assert_array_equal(state, remember(whole, history[:length]).vector)
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
        weights = wfa.action_weights(3, 2)
        return _core.AutomatonPolicy(
            wfa.automaton, n_actions=3, n_observations=2, start=wfa.alpha, anchor=wfa.alpha, weights=weights,
            behavior=behavior,
        )  # fmt: skip

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
        values = third.q_values(remember(third, history))
        np.testing.assert_allclose(values / np.abs(values).max(), three / np.abs(three).max(), rtol=1e-9)


class Twin:
    """The compiled policy again in NumPy: rescaled states, windows, ties, softmax."""

    def __init__(self, state, window, temperature):
        self.wfa, self.anchor, self.window, self.temperature = state.wfa(), state.anchor, window, temperature
        self.weights = (self.wfa.operators @ self.wfa.omega).reshape(3, 2, -1).sum(axis=1)

    def initial_state(self):
        return ()

    def update(self, state, action, observation):
        return (*state, 2 * action + observation)

    def action_probs(self, word):
        whole = self.window is None or len(word) <= self.window
        state = self.wfa.alpha if whole else self.anchor
        for symbol in word if whole else word[-self.window :]:
            state = state @ self.wfa.operators[symbol]
            state = state / np.abs(state).max()
        values = self.weights @ (state / np.abs(state).max())
        best = values.max()
        if self.temperature > 0:
            weights = np.exp((values - best) / self.temperature)
        else:
            weights = (best - values <= 1e-12 * np.abs(values).max()).astype(float)
        return weights / weights.sum()


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("temperature", [0.0, 0.3])
def test_compiled_policy_acts_as_its_twin(learned, window, temperature):
    tiger = uqf.make("tiger", horizon=12)
    compiled = windowed(learned, window, temperature)
    twin = Twin(learned, window, temperature)
    one, two = (uqf.rollout(tiger, each, episodes=40, seed=5, epsilon=0.1) for each in (compiled, twin))
    np.testing.assert_array_equal(one.actions, two.actions)
    np.testing.assert_array_equal(one.observations, two.observations)
    np.testing.assert_allclose(one.behavior_probs, two.behavior_probs, atol=1e-9)
    assert len(set(one.actions)) > 1
