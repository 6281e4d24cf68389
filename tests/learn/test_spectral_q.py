"""SpectralQ: its filters do what the plain NumPy of `_reference_filters` does, and what theory says."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from logged import in_files, logged
from uqf import _core
from uqf import _reference_filters as reference
from uqf.episodes.sums import returns_to_go
from uqf.learn.improve.discounts import Halves
from uqf.learn.improve.regression import Equations, Regression
from uqf.learn.memory.filters import alternation
from uqf.learn.memory.filters.alternation import Filters, learned_filter
from uqf.learn.memory.filters.filter_memory import FilterMemory
from uqf.learn.memory.filters.steps import Alphabet, Steps
from uqf.learn.memory.filters.words import Words, first_states

SETTINGS, WORDS = Filters(rank=3), Words()
SIZES = reference.Sizes(
    rank=3,
    ridge=SETTINGS.ridge,
    constant_ridge=SETTINGS.constant_ridge,
    canonical_ridge=SETTINGS.canonical_ridge,
    reach=SETTINGS.reach,
)


def reference_episodes(steps):
    """The episodes as the reference wants them."""
    data = steps.data
    returns = np.stack([returns_to_go(data, discount) for discount in WORDS.discounts], axis=1)
    for first, last, ended in zip(data.offsets[:-1], data.offsets[1:], data.terminated, strict=True):
        here = slice(first, last)
        yield reference.Episode(
            steps.places[here].tolist(), steps.events[here].tolist(), returns[here], bool(ended)
        )


def alike(rows, others):
    """Whether two sets of states differ by a change of coordinates only: R² of either on the other, the smaller."""

    def share(x, y):
        x = np.hstack([np.ones((len(x), 1)), x])
        residual = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        return 1.0 - (residual**2).sum() / ((y - y.mean(axis=0)) ** 2).sum()

    return min(share(rows, others), share(others, rows))


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.booleans())
def test_a_filter_runs_as_the_reference_does(seed, rank, backward):
    rng = np.random.default_rng(seed)
    operators = rng.normal(size=(3, 1 + rank, rank)).astype(np.float32)
    places, offsets = rng.integers(3, size=12).astype(np.int32), np.array([0, 5, 12])
    starts = rng.normal(size=(2, rank)).astype(np.float32)
    rows = _core.filter_states(operators, 1.5, places, offsets, starts, backward=backward)
    turn = slice(None, None, -1 if backward else 1)
    expected = [
        reference.run(operators.astype(float), places[first:last][turn], start.astype(float), 1.5)[turn]
        for first, last, start in zip(offsets[:-1], offsets[1:], starts, strict=True)
    ]
    np.testing.assert_array_equal(rows[:, 0], 1.0)
    np.testing.assert_allclose(rows[:, 1:], np.vstack(expected), atol=2e-4)


def test_first_states_are_those_of_the_reference(ring_data):
    steps = Steps.of(ring_data[:40])
    past, future = first_states(steps, 3, WORDS)
    sides = reference.word_features(
        list(reference_episodes(steps)),
        len(steps.alphabet),
        WORDS.max_length,
        WORDS.min_count,
        WORDS.time_scales,
    )
    x, z, _ = reference.canonical(*sides, 3, WORDS.ridge)
    assert alike(past[:, 1:], x) > 1 - 1e-6
    assert alike(future[:, 1:], z) > 1 - 1e-6


def test_words_of_many_symbols_need_no_counter_for_every_pair():
    """Two thousand frequent symbols and forty thousand that occur once: pairs are counted as they come."""
    frequent, rare = np.repeat(np.arange(2_000), 20), np.arange(2_000, 42_000)
    shown = np.random.default_rng(0).permutation(np.concatenate([frequent, rare]))
    data = logged(0, shown.reshape(-1, 100), shown.reshape(-1, 100) % 3.0, n_actions=1, n_observations=42_000)
    steps = Steps.of(data)
    tracemalloc.start()
    past, future = first_states(steps, 2, Words(max_words=20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.isfinite(past).all() and np.isfinite(future).all()
    assert peak < 100e6, "a counter for every pair would take 670 MB, twice"


def test_filters_are_those_of_the_reference(ring_data):
    steps = Steps.of(ring_data[:60])
    x, z = first_states(steps, SIZES.rank, WORDS)
    for rounds in (1, 2):
        expected = reference.filtered(
            list(reference_episodes(steps)), x[:, 1:].astype(float), z[:, 1:].astype(float), rounds, SIZES
        )
        found = learned_filter(steps, replace(SETTINGS, rounds=rounds), 1).run(steps.places, steps.data, 1)
        assert alike(found[:, 1:], expected) > 1 - 1e-5


def test_rounds_may_begin_with_a_part_of_the_episodes(ring_data):
    data = ring_data[:60]
    early, rounds = data[:30].n_steps, 3
    settings = replace(SETTINGS, rounds=rounds, early_steps=early, late_rounds=2)
    steps = Steps.of(data)
    few = steps.first(early)
    assert few.data.n_steps == early
    assert few.event_slices[-1].stop == early
    x, z = first_states(few, SIZES.rank, WORDS)
    expected = reference.filtered(
        list(reference_episodes(steps)), x[:, 1:].astype(float), z[:, 1:].astype(float), rounds, SIZES, 30, 2
    )
    found = learned_filter(steps, settings, 1).run(steps.places, data, 1)
    assert alike(found[:, 1:], expected) > 1 - 1e-5
    everywhere = learned_filter(few, settings, 1).run(steps.places, data, 1)
    assert alike(everywhere[:, 1:], expected) < 1 - 1e-4


def told_world(states=3, tells=2, seed=0):
    """A world whose beliefs change linearly: what is seen tells how the hidden state moves, not where it is.

    The hidden part moves by a matrix of the action and of what is seen; what is seen is drawn regardless of it.
    Rewards tell the hidden part, but are not seen. Returns the world and the matrices.
    """
    rng = np.random.default_rng(seed)
    n_actions = 2
    moves = rng.dirichlet(np.full(states, 0.3), (n_actions, tells, states))
    seen = rng.dirichlet(np.full(tells, 5.0), n_actions)
    # State (hidden, seen) is number hidden · tells + seen.
    transitions = np.einsum("ao,aohk->ahko", seen, moves).reshape(n_actions, states, 1, states * tells)
    transitions = np.broadcast_to(transitions, (n_actions, states, tells, states * tells))
    rewards = np.broadcast_to(np.arange(states)[:, np.newaxis] == 0, (n_actions, states, tells))
    start = np.kron(rng.dirichlet(np.ones(states)), np.eye(tells)[0])
    world = uqf.TabularPOMDP(
        transitions.reshape(n_actions, states * tells, -1),
        np.broadcast_to(np.tile(np.eye(tells), (states, 1)), (n_actions, states * tells, tells)).copy(),
        rewards.reshape(n_actions, -1).astype(float),
        start,
        0.9,
        horizon=40,
    )
    return world, moves, start.reshape(states, tells).sum(axis=1)


def exact_beliefs(data, moves, start):
    rows = []
    for episode in data:
        rows.append(start)
        for action, observation in episode.history:
            rows.append(rows[-1] @ moves[action, observation])
    return np.stack(rows)


def truncated_anywhere(data, seed=0):
    """Episodes of random lengths: where all are truncated at the same step, time tells how much is to come."""
    lengths = np.minimum(np.random.default_rng(seed).geometric(1 / 20, len(data)), data.lengths)
    kept = np.arange(data.n_steps) - np.repeat(data.offsets[:-1], data.lengths) < np.repeat(
        lengths, data.lengths
    )
    return uqf.Trajectories(
        data.actions[kept],
        data.observations[kept],
        data.rewards[kept],
        np.concatenate([[0], np.cumsum(lengths)]),
        n_actions=data.n_actions,
        n_observations=data.n_observations,
    )


def recovered(episodes, world_seed):
    """(R² of exact beliefs on the learned state, what its coordinates and the future have in common)."""
    world, moves, start = told_world(seed=world_seed)
    data = truncated_anywhere(uqf.rollout(world, episodes=episodes, seed=1))
    steps = Steps.of(data)
    learned = learned_filter(steps, Filters(12, 5), 1)
    rows = learned.run(steps.places, data, 1).astype(float)
    beliefs = exact_beliefs(data, moves, start)
    residual = beliefs - rows @ np.linalg.lstsq(rows, beliefs, rcond=None)[0]
    return 1.0 - (residual**2).sum() / ((beliefs - beliefs.mean(axis=0)) ** 2).sum(), learned.values


@pytest.mark.parametrize("world_seed", range(4))
def test_beliefs_that_change_linearly_are_recovered_and_the_better_the_more_data(world_seed):
    found = [recovered(episodes, world_seed) for episodes in (30, 300, 3000)]
    errors = [1.0 - share for share, _ in found]
    assert errors[0] > 1.4 * errors[1] > 2.5 * errors[2]
    assert errors[2] < 0.02
    # A belief over three hidden states has two coordinates; the rest is chance.
    values = found[2][1]
    assert values[1] > 2.0 * values[2]


def test_values_do_not_depend_on_the_coordinates_that_rounds_begin_with(ring_data, monkeypatch):
    # The belief over four rooms has three coordinates: more would be chance, whose directions are anybody's.
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]

    def turned(*arguments):
        past, future = first_states(*arguments)
        past[:, 1:] = past[:, 1:] @ turn.astype(np.float32)
        return past, future

    # Too few episodes to choose a penalty: a choice between those that are as good may fall either way.
    few = ring_data[:280]
    plain = uqf.SpectralQ(0.9, rank=3, learning_discount=0.9).fit(few)
    monkeypatch.setattr(alternation, "first_states", turned)
    other = uqf.SpectralQ(0.9, rank=3, learning_discount=0.9).fit(few)
    assert plain.diagnostics_["ridge_evidence"] == {}
    values, others = (learner.decision_function(ring_data) for learner in (plain, other))
    np.testing.assert_allclose(values, others, atol=1e-4 * np.abs(values).max())


def test_a_policy_has_the_same_values_in_other_coordinates():
    """x S for x: the matrix of a symbol becomes [1, S⁻¹] F S, and weights S⁻¹ W."""
    rng = np.random.default_rng(0)
    symbols, rank = np.arange(4), 3
    operators, weights = rng.normal(size=(4, 4, rank)) / 4, rng.normal(size=(1 + rank, 2))
    start, turn = rng.normal(size=rank), rng.normal(size=(rank, rank))
    back = np.linalg.inv(turn)
    inverse = np.block([[np.ones((1, 1)), np.zeros((1, rank))], [np.zeros((rank, 1)), back]])
    data = uqf.rollout(uqf.make("tiger", horizon=9), episodes=3, seed=0)
    data = uqf.Trajectories(
        data.actions % 2, data.observations, data.rewards, data.offsets, n_actions=2, n_observations=2
    )

    def values(operators, start, weights):
        policy = uqf.FilterPolicy(
            symbols=symbols,
            operators=operators.astype(np.float32),
            n_observations=2,
            start=start.astype(np.float32),
            reach=1e6,
            weights=np.ascontiguousarray(weights),
        )
        return policy.q_values_along(data)

    plain = values(operators, start, weights)
    np.testing.assert_allclose(
        values(inverse @ operators @ turn, start @ turn, inverse @ weights), plain, atol=1e-4
    )


def test_rows_are_the_states_that_the_policy_reaches(ring_data):
    steps = Steps.of(ring_data[:50])
    memory = FilterMemory.of(learned_filter(steps, Filters(7, 1), 1), steps, 1)
    weights = np.random.default_rng(0).normal(size=(memory.width, 2))
    rows, policy = memory.rows(ring_data, 1), memory.policy(weights, 0.0)
    before = np.delete(rows, Steps.of(ring_data).last_cuts, axis=0)
    np.testing.assert_allclose(policy.q_values_along(ring_data), before @ weights, atol=1e-4)
    np.testing.assert_allclose(rows[0], memory.start, atol=1e-6)


def test_a_symbol_that_was_never_seen_changes_nothing(ring_data):
    policy = uqf.SpectralQ(0.9, rank=7, rounds=1).fit(ring_data).policy_
    unseen = set(range(6)) - set(np.unique(ring_data.symbols).tolist())
    state = policy.update(policy.initial_state(), 0, 1)
    for symbol in unseen:
        after = policy.update(state, symbol // 3, symbol % 3)
        np.testing.assert_array_equal(policy.q_values(after), policy.q_values(state))
    assert unseen


def test_an_alphabet_knows_its_symbols_only(ring_data):
    few = Alphabet.of(ring_data[:1])
    places = few.places(ring_data)
    np.testing.assert_array_equal(few.symbols[places[places >= 0]], ring_data.symbols[places >= 0])
    assert not np.isin(ring_data.symbols[places < 0], few.symbols).any()


def bits(learner):
    return {name: np.asarray(part).tobytes() for name, part in learner.policy_.parts().items()}


def test_the_bits_do_not_depend_on_threads_nor_on_executors(ring_data, tmp_path):
    assert bits(uqf.SpectralQ(0.9, threads=1).fit(ring_data)) == bits(
        uqf.SpectralQ(0.9, threads=3).fit(ring_data)
    )
    in_files(ring_data, tmp_path, 4)
    alone = uqf.SpectralQ(0.9).fit(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        assert bits(uqf.SpectralQ(0.9).fit(tmp_path, executor=pool)) == bits(alone)
    assert alone.diagnostics_["episodes"] == 400


def test_however_the_data_are_cut_into_shards_the_filter_is_the_same(tmp_path):
    data = uqf.rollout(uqf.make("tiger"), episodes=400, seed=1)
    parts = []
    for name, size in (("few", 200), ("many", 40)):
        folder = in_files(data, tmp_path / name, 400 // size)
        parts.append(uqf.SpectralQ(0.9).fit(folder).policy_.parts())
    assert parts[0]["operators"].tobytes() == parts[1]["operators"].tobytes()
    np.testing.assert_allclose(parts[0]["weights"], parts[1]["weights"], rtol=1e-3, atol=1e-6)


def test_policies_are_worth_on_other_episodes_what_they_earn(ring, ring_data):
    steps = Steps.of(ring_data)
    memory = FilterMemory.of(learned_filter(steps, Filters(3, 4), 1), steps, 1)
    settings = Regression()
    halves = Halves(memory, ring_data[:200], ring_data[200:], settings, 1)
    blind = uqf.estimate_return(ring, None, episodes=4000, seed=3).mean
    for ridge, worth in halves.worths(0.9, (40.0, 4_000.0)).items():
        equations = Equations(memory, halves.grams, replace(settings, ridge=ridge))
        ((weights, noise),) = equations.solved([halves.learned(0.9)[1]])
        policy = memory.policy(weights, 0.6 * noise)
        assert abs(worth - uqf.estimate_return(ring, policy, episodes=4000, seed=3).mean) < 0.05
        assert worth > blind + 0.2


def test_what_is_chosen_follows_from_the_evidence(ring_data):
    found = uqf.SpectralQ(0.99).fit(ring_data).diagnostics_
    gains, worths = found["learning_discount_evidence"], found["ridge_evidence"]
    assert sorted(gains) == [0.85, 0.95, 0.99]
    assert found["learning_discount"] == max(one for one in gains if gains[one] > max(gains.values()) - 0.5)
    assert found["ridge"] == max(worths, key=worths.get)
    few = uqf.SpectralQ(0.99).fit(ring_data[:100]).diagnostics_
    assert (few["ridge"], few["ridge_evidence"]) == (Regression().ridge, {})


def test_it_finds_the_way_round_the_ring(ring, ring_data):
    learner = uqf.SpectralQ(0.9).fit(ring_data)
    blind = uqf.estimate_return(ring, None, episodes=500, seed=5).mean
    assert uqf.estimate_return(ring, learner.policy_, episodes=500, seed=5).mean > blind + 0.2
    assert learner.refit(ring_data).diagnostics_["learning_discount_evidence"] == learner._kept.gains


def test_one_step_is_enough_to_learn_something():
    data = uqf.Trajectories([0], [0], [1.0], [0, 1], n_actions=2, n_observations=1)
    policy = uqf.SpectralQ(0.9).fit(data).policy_
    assert np.isfinite(policy.q_values(policy.initial_state())).all()


def test_many_short_episodes_leave_enough_digits():
    """Sums of single precision over 100,000 episodes of one step were not positive definite any more."""
    n, rng = 100_000, np.random.default_rng(0)
    actions, seen = rng.integers(2, size=n), rng.integers(3, size=n)
    data = uqf.Trajectories(actions, seen, 1.0 * actions, np.arange(n + 1), n_actions=2, n_observations=3)
    assert uqf.SpectralQ(0.9).fit(data).predict([[]]).tolist() == [1]


@pytest.mark.slow
def test_a_hundred_episodes_of_the_grid_world_teach_most_of_it():
    env = uqf.make("gridworld-mid")
    scores = []
    for seed in range(40, 44):
        learner = uqf.SpectralQ(env.discount).fit(uqf.rollout(env, episodes=100, seed=seed))
        scores.append(uqf.estimate_return(env, learner.policy_, episodes=1000, seed=seed).mean)
    assert np.mean(scores) > 0.65
