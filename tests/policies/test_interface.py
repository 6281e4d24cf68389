"""What every policy of the package offers, whatever its kind."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from random_policies import (
    KINDS,
    behaviour,
    random_contexts,
    some_episodes,
)
from uqf.learn.plan.plan_policy import PlanPolicy
from uqf.policies.policy import CompiledPolicy, probs_along, remembered, softmax

HISTORIES = ([], [(0, 1)], [(2, 0), (1, 1), (1, 0)], [(0, 0), (2, 1)] * 4)
COMPILED = [kind for kind in KINDS if "plan" not in kind or "automaton" in kind]

every_kind = pytest.mark.parametrize("kind", KINDS)
every_compiled_kind = pytest.mark.parametrize("kind", COMPILED)


@every_kind
def test_every_kind_steps_chooses_and_values(kind):
    policy = KINDS[kind]()
    assert isinstance(policy, uqf.Policy)
    assert isinstance(policy, CompiledPolicy) == (kind in COMPILED)
    assert (policy.n_actions, policy.n_observations) == (3, 2)
    for history in HISTORIES:
        state = remembered(policy, history)
        probs, values = policy.action_probs(state), policy.q_values(state)
        assert probs.shape == values.shape == (3,)
        assert (probs >= 0).all() and probs.sum() == pytest.approx(1.0)
        assert probs[policy.action(state, np.random.default_rng(0))] > 0
        assert probs[policy.action(state)] > 0


@every_kind
def test_probabilities_are_the_softmax_of_the_values_at_any_temperature(kind):
    policy = KINDS[kind]()
    for warm in (policy, policy.with_temperature(0.3), policy.with_temperature(2.0), policy.greedy()):
        for history in HISTORIES:
            values = policy.q_values(remembered(policy, history))
            np.testing.assert_array_equal(warm.q_values(remembered(warm, history)), values)
            expected = softmax(values, warm.temperature)
            np.testing.assert_allclose(warm.action_probs(remembered(warm, history)), expected, atol=1e-12)


@every_kind
def test_a_greedy_policy_takes_the_best_action_and_says_so(kind):
    policy = KINDS[kind]()
    greedy = policy.greedy()
    assert type(greedy) is type(policy)
    assert (policy.temperature > 0.0, greedy.temperature) == (True, 0.0)
    state = remembered(greedy, HISTORIES[1])
    best = greedy.q_values(state).argmax()
    np.testing.assert_array_equal(greedy.action_probs(state), np.eye(3)[best])
    assert "greedy" in repr(greedy)
    assert "greedy" not in repr(policy)


@every_compiled_kind
def test_parts_of_another_shape_and_as_many_numbers_are_refused(kind):
    """Propensities of one row were let in, and acting on them was a panic."""
    policy = KINDS[kind]()
    parts = policy.parts()
    for name, part in parts.items():
        # Values by observation say themselves how many of both there are.
        if np.ndim(part) < 2 or np.size(part) == 0 or kind == "observation":
            continue
        shapes = {
            (1,) * (part.ndim - 1) + (part.size,),
            (part.size,) + (1,) * (part.ndim - 1),
            part.shape[::-1],
        }
        for shape in shapes - {part.shape}:
            with pytest.raises(ValueError, match=name):
                type(policy)(**parts | {name: part.reshape(shape)})


def expected_softmax(values, temperature, supported):
    """The rule of acting again, in NumPy, for one history."""
    allowed = np.ones(len(values), bool) if supported is None else supported
    values = np.where(allowed, values, -np.inf)
    numbers = values[~np.isnan(values)]
    if not np.isfinite(numbers.max(initial=-np.inf)):
        weights = allowed if allowed.any() else np.ones(len(values))
    elif np.isnan(values).any():
        weights = np.isfinite(values)
    elif temperature > 0.0:
        weights = np.exp((values - values.max()) / temperature)
    else:
        weights = values.max() - values <= 1e-12 * np.abs(values[np.isfinite(values)]).max()
    return weights / weights.sum()


any_number = st.floats(width=64) | st.sampled_from([0.0, 1.0, -1.0, np.nan, np.inf, -np.inf])


@given(st.data(), st.integers(1, 5), st.sampled_from([0.0, 1e-300, 0.3, 1.0, 1e300]))
def test_any_values_become_a_distribution_by_one_rule(data, n_actions, temperature):
    values = np.array([data.draw(any_number) for _ in range(n_actions)])
    supported = data.draw(
        st.none() | st.lists(st.booleans(), min_size=n_actions, max_size=n_actions).map(np.array)
    )
    probs = softmax(values, temperature, supported)
    assert (probs >= 0.0).all() and probs.sum() == pytest.approx(1.0)
    if supported is not None and supported.any():
        assert (probs[~supported] == 0.0).all()
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(
            probs, expected_softmax(values, temperature, supported), rtol=1e-12, atol=1e-300
        )
    np.testing.assert_array_equal(
        softmax(np.tile(values, (2, 2, 1)), temperature, supported), np.tile(probs, (2, 2, 1))
    )


@every_kind
@pytest.mark.parametrize("supported", [[True, False, True], [False, True, False], [False, False, False]])
def test_an_action_without_support_is_never_chosen(kind, supported):
    policy = KINDS[kind]().with_support(np.array(supported))
    assert policy.supported.tolist() == supported
    for warm in (policy, policy.with_temperature(50.0), policy.greedy(), pickle.loads(pickle.dumps(policy))):
        for history in HISTORIES:
            state = remembered(warm, history)
            probs, values = warm.action_probs(state), warm.q_values(state)
            np.testing.assert_allclose(probs, softmax(values, warm.temperature, warm.supported), atol=1e-12)
            np.testing.assert_array_equal(values, KINDS[kind]().q_values(remembered(KINDS[kind](), history)))
            if any(supported):
                assert (probs[~policy.supported] == 0.0).all()
                assert supported[warm.action(state, np.random.default_rng(1))]
            else:
                np.testing.assert_array_equal(probs, np.full(3, 1 / 3))
    if any(supported) and isinstance(policy, CompiledPolicy):
        assert np.isin(policy.with_temperature(9.0).batch(200).act(), np.flatnonzero(supported)).all()
        played = uqf.rollout(uqf.make("tiger"), policy.with_temperature(9.0), episodes=20)
        assert np.isin(played.actions, np.flatnonzero(supported)).all()
    np.testing.assert_array_equal(behaviour(policy.with_support(None)), behaviour(KINDS[kind]()))


def test_a_sum_of_policies_needs_the_support_of_both():
    one = random_contexts(3, 2, seed=1).with_support(np.array([True, True, False]))
    two = random_contexts(3, 2, seed=2).with_support(np.array([False, True, True]))
    assert one.plus(two).supported.tolist() == [False, True, False]
    assert one.plus(random_contexts(3, 2)).supported.tolist() == [True, True, False]


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e12])
@pytest.mark.parametrize(("apart", "tied"), [(1e-13, True), (1e-11, False)])
def test_ties_are_relative_to_the_largest_value_here_and_in_the_core(scale, apart, tied):
    values = np.array([[-1.0, -1.0 - apart, -2.0, -2.0]]) * scale
    expected = [[0.5, 0.5, 0.0, 0.0] if tied else [1.0, 0.0, 0.0, 0.0]]
    np.testing.assert_array_equal(softmax(values, 0.0), expected)
    policy = uqf.ObservationPolicy(np.concatenate([values, values]))
    np.testing.assert_array_equal(policy.action_probs(policy.initial_state()), expected[0])


@every_kind
@pytest.mark.parametrize("temperature", [-1.0, float("nan"), float("inf")])
def test_a_temperature_that_is_none_is_refused(kind, temperature):
    with pytest.raises(ValueError):
        KINDS[kind]().with_temperature(temperature)


@every_kind
def test_a_repr_names_kind_and_sizes(kind):
    policy = KINDS[kind]()
    assert repr(policy).startswith(f"{type(policy).__name__}(3 actions, 2 observations")


@every_kind
def test_every_kind_pickles(kind):
    policy = KINDS[kind]()
    copy = pickle.loads(pickle.dumps(policy))
    assert type(copy) is type(policy)
    assert repr(copy) == repr(policy)
    np.testing.assert_array_equal(behaviour(copy), behaviour(policy))


@every_kind
def test_parts_make_the_policy_again(kind):
    policy = KINDS[kind]()
    made = PlanPolicy.from_parts if isinstance(policy, PlanPolicy) else type(policy)
    np.testing.assert_array_equal(behaviour(made(**policy.parts())), behaviour(policy))


@every_kind
def test_updating_leaves_the_memory_as_it_was(kind):
    policy = KINDS[kind]()
    before = remembered(policy, HISTORIES[2])
    values = policy.q_values(before)
    policy.update(before, 0, 1)
    np.testing.assert_array_equal(policy.q_values(before), values)


@every_kind
def test_actions_come_as_often_as_their_probabilities_say(kind):
    policy = KINDS[kind]().with_temperature(1.0)
    state, rng = policy.initial_state(), np.random.default_rng(0)
    drawn = np.bincount([policy.action(state, rng) for _ in range(4000)], minlength=3) / 4000
    probs = policy.action_probs(state)
    assert (np.abs(drawn - probs) <= 5 * np.sqrt(probs * (1 - probs) / 4000)).all()


@every_kind
def test_along_episodes_are_the_values_and_probabilities_of_every_step(kind):
    policy = KINDS[kind]()
    data = some_episodes(policy)
    probs, values = [], []
    for episode in data:
        for length in range(len(episode.history)):
            state = remembered(policy, episode.history[:length])
            probs.append(policy.action_probs(state))
            values.append(policy.q_values(state))
    np.testing.assert_allclose(probs_along(policy, data), probs, rtol=1e-12)
    if isinstance(policy, CompiledPolicy):
        np.testing.assert_allclose(policy.q_values_along(data), values, rtol=1e-12)
        np.testing.assert_array_equal(policy.probs_along(data, threads=3), probs_along(policy, data))


@every_compiled_kind
def test_replay_finds_the_propensities_that_rollout_recorded(kind):
    policy = KINDS[kind]()
    data = uqf.rollout(uqf.make("tiger"), policy, episodes=500, seed=3)
    probs = probs_along(policy, data)
    np.testing.assert_array_equal(probs[np.arange(data.n_steps), data.actions], data.behavior_probs)


@pytest.mark.parametrize(
    ("kind", "other"),
    [pair for pair in permutations(COMPILED, 2) if not all("automaton" in one for one in pair)],
)
def test_memories_of_other_kinds_are_refused(kind, other):
    policy, memory = KINDS[kind](), KINDS[other]().initial_state()
    for call in (
        policy.q_values,
        policy.action_probs,
        policy.action,
        lambda state: policy.update(state, 0, 0),
    ):
        with pytest.raises(ValueError):
            call(memory)


@every_kind
@pytest.mark.parametrize("step", [(3, 0), (-1, 0), (0, 2), (0, -1)])
def test_steps_out_of_range_are_refused(kind, step):
    policy = KINDS[kind]()
    with pytest.raises(ValueError):
        policy.update(policy.initial_state(), *step)


@every_compiled_kind
def test_data_of_another_world_are_refused(kind):
    policy = KINDS[kind]()
    data = uqf.rollout(uqf.make("gridworld-near"), episodes=2)
    with pytest.raises(ValueError):
        policy.probs_along(data)
