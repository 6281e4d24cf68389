import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uqf.ope.replay import estimated_propensities, target_probs

import uqf
from strategies import pomdps, trajectories
from uqf import _core, ope
from uqf.ope.estimators import replayed


def random_table(n_actions, n_observations, seed=0, softness=1.0):
    probs = np.random.default_rng(seed).dirichlet(
        np.full(n_actions, softness), n_actions * n_observations + 1
    )
    return uqf.TablePolicy(probs, n_observations)


def random_automaton(n_actions, n_observations, seed=0, rank=3):
    rng = np.random.default_rng(seed)
    n_symbols = n_actions * n_observations
    automaton = _core.Automaton(np.arange(n_symbols), rng.normal(size=(n_symbols, rank, rank)), n_symbols)
    return uqf.AutomatonPolicy(
        automaton,
        n_actions=n_actions,
        n_observations=n_observations,
        start=rng.normal(size=rank),
        anchor=rng.normal(size=rank),
        weights=rng.normal(size=(n_actions, rank)),
        temperature=0.7,
    )


class InPython:
    """A compiled policy seen as a user's own."""

    def __init__(self, policy):
        self.initial_state, self.update, self.action_probs = (
            policy.initial_state,
            policy.update,
            policy.action_probs,
        )


class NoModel:
    """A value model that knows nothing."""

    def fit(self, data, probs, *, discount):
        pass

    def values(self, data, *, horizon):
        return np.zeros((data.n_steps, data.n_actions))


def softened(env, share, seed=1):
    """A deterministic rule of the last symbol in `share` of the steps, else uniform."""
    rule = np.random.default_rng(seed).integers(env.n_actions, size=env.n_symbols + 1)
    return uqf.TablePolicy(
        (1 - share) / env.n_actions + share * np.eye(env.n_actions)[rule], env.n_observations
    )


@given(trajectories(), st.integers(0, 99), st.sampled_from([random_table, random_automaton]))
def test_replay_is_what_the_policy_says_step_by_step(data, seed, kind):
    policy = kind(data.n_actions, data.n_observations, seed)
    in_core = target_probs(policy, data)
    assert in_core.shape == (data.n_steps, data.n_actions)
    np.testing.assert_allclose(in_core, target_probs(InPython(policy), data), rtol=1e-12)
    assert np.array_equal(in_core, _core.action_probabilities(data, policy, threads=3))


@pytest.mark.parametrize("kind", [random_table, random_automaton])
def test_replay_finds_the_propensities_that_rollout_recorded(kind):
    env = uqf.make("tiger")
    policy = kind(env.n_actions, env.n_observations)
    data = uqf.rollout(env, policy, episodes=500, seed=3)
    probs = target_probs(policy, data)
    assert np.array_equal(probs[np.arange(data.n_steps), data.actions], data.behavior_probs)


def test_a_policy_of_another_world_is_refused():
    data = uqf.rollout(uqf.make("tiger"), episodes=3)
    with pytest.raises(ValueError, match="policy has 2 actions and 5 observations, the data have 3 and"):
        ope.evaluate(random_table(2, 5), data, discount=0.9)


@given(pomdps(), st.integers(0, 99))
def test_logs_of_the_policy_itself_give_the_mean_return_and_every_episode_counts(pomdp, seed):
    policy = random_table(pomdp.n_actions, pomdp.n_observations, seed)
    data = uqf.rollout(pomdp, policy, episodes=30, seed=seed)
    estimate = ope.evaluate(policy, data, discount=0.8, method="importance", replicates=100)
    assert estimate.mean == pytest.approx(data.returns(0.8).mean(), abs=1e-12)
    assert estimate.effective_sample_size == pytest.approx(30)
    assert estimate.mean_weight == pytest.approx(1)
    assert estimate.stderr == pytest.approx(data.returns(0.8).std() / np.sqrt(30), abs=1e-9)


@given(pomdps(), st.integers(0, 99))
def test_without_a_model_doubly_robust_is_importance_sampling(pomdp, seed):
    data = uqf.rollout(pomdp, episodes=20, seed=seed)
    policy = random_table(pomdp.n_actions, pomdp.n_observations, seed)
    plain, robust = (
        ope.evaluate(policy, data, discount=0.9, method=method, model=NoModel(), replicates=100)
        for method in ("importance", "doubly-robust")
    )
    assert robust.mean == pytest.approx(plain.mean, abs=1e-9)
    np.testing.assert_allclose(robust.interval, plain.interval, atol=1e-6)


def test_weights_of_ended_episodes_stay_and_those_of_cut_ones_leave():
    # Two actions; the policy always takes action 1, the logs take either with probability 1/2.
    always = uqf.TablePolicy(np.tile([0.0, 1.0], (3, 1)), 1)

    def value(ended):
        data = uqf.Trajectories(
            [1, 1, 1, 1],
            [0, 0, 0, 0],
            [1.0, 10.0, 1.0, 0.0],
            [0, 3, 4],
            n_actions=2,
            n_observations=1,
            behavior_probs=[0.5] * 4,
            terminated=[True, ended],
        )
        return ope.evaluate(always, data, discount=1.0, method="importance", replicates=100).mean

    # Weights after steps 0, 1, 2: episode 0 has 2, 4, 8; episode 1 has 2, and then keeps it or leaves.
    assert value(True) == pytest.approx(1 * 2 / 4 + 10 * 4 / 6 + 1 * 8 / 10)
    assert value(False) == pytest.approx(1 * 2 / 4 + 10 + 1)


def observable(seed, horizon):
    """A world that shows its state, with random rows and an end."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.ones(4), (2, 4))
    return uqf.TabularPOMDP(
        transitions=transitions,
        observations=np.tile(np.eye(4), (2, 1, 1)),
        rewards=rng.normal(size=(2, 4)),
        start=np.array([1.0, 0, 0, 0]),
        discount=0.9,
        terminal=np.arange(4) == 3,
        horizon=horizon,
    )


def table_value(pomdp, policy, horizon, discount):
    """Exact value of a table policy in a world that shows its state."""
    value = np.zeros((pomdp.n_symbols + 1, pomdp.n_states))
    symbols = np.arange(pomdp.n_symbols).reshape(pomdp.n_actions, pomdp.n_observations)
    goes_on = ~pomdp.terminal
    for _ in range(horizon):
        ahead = np.stack(
            [value[symbols[a], np.arange(pomdp.n_states)] * goes_on for a in range(pomdp.n_actions)]
        )
        q = pomdp.rewards + discount * np.einsum("ast,at->as", pomdp.transitions, ahead)
        value = policy.probs @ q
    return float(value[-1] @ pomdp.start)


@pytest.mark.parametrize("method", ope.METHODS)
def test_every_method_finds_the_exact_value_where_the_last_symbol_is_the_state(method):
    pomdp = observable(0, horizon=8)
    policy = random_table(2, 4, seed=5)
    data = uqf.rollout(pomdp, episodes=5000, seed=1)
    truth = table_value(pomdp, policy, 8, 0.9)
    estimate = ope.evaluate(policy, data, discount=0.9, method=method, replicates=200)
    assert abs(estimate.mean - truth) < 5 * estimate.stderr
    assert 0 < estimate.stderr < 0.2
    assert estimate.interval[0] < estimate.mean < estimate.interval[1]


def test_a_learned_world_is_played_as_the_real_one():
    # Two states that are told apart only by what was seen two steps ago: the last symbol is no state here.
    moves = np.array([[[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]], float)
    pomdp = uqf.TabularPOMDP(
        np.repeat(moves, 2, axis=0),
        np.tile(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), (2, 1, 1)),
        np.array([[0.0, 1, 0, 3], [2, 0, 1, 0]]),
        np.full(4, 0.25),
        discount=0.9,
        horizon=12,
    )
    data = uqf.rollout(pomdp, episodes=4000, seed=0)
    world = ope.CPSRSimulator(8, seed=0).fit(data)
    for policy in (None, random_table(2, 2, seed=1), InPython(random_automaton(2, 2, seed=2))):
        truth = uqf.estimate_return(pomdp, policy, episodes=2000, seed=9)
        played = world.returns(policy, 2000, horizon=12, discount=0.9, seed=3)
        noise = np.hypot(truth.stderr, played.std() / np.sqrt(2000))
        assert abs(played.mean() - truth.mean) < 5 * noise + 0.02 * abs(truth.mean)


def test_a_learned_world_ends_as_the_real_one():
    # Every step ends the episode with probability 0.2 and pays 1; nothing shows it beforehand.
    moves = np.array([[[0.8, 0.2], [0.0, 1.0]]])
    pomdp = uqf.TabularPOMDP(
        moves, np.ones((1, 2, 1)), np.ones((1, 2)), [1.0, 0.0], 1.0, terminal=[False, True], horizon=30
    )
    data = uqf.rollout(pomdp, episodes=3000, seed=0)
    estimate = ope.evaluate(None, data, discount=1.0, method="cpsr")
    assert estimate.mean == pytest.approx((1 - 0.8**30) / 0.2, rel=0.05)
    assert not estimate.sufficient and "not the error of the model" in estimate.verdict


def test_overlap_foresees_weights_that_the_logs_happen_to_lack():
    # Every step pays 1 and the policy differs from the logs alike everywhere: E[ρ_t²] is a power, known exactly.
    env, horizon = uqf.make("gridworld-hamilton"), 20
    policy = softened(env, 0.25)
    square = np.mean((4 * np.array([0.1875, 0.1875, 0.1875, 0.4375])) ** 2)
    discounts = env.discount ** np.arange(horizon)
    exact = 2000 * discounts.sum() / (discounts @ square ** np.arange(1, horizon + 1))

    def overlap(seed, behavior=None):
        data = uqf.rollout(env, behavior, episodes=2000, horizon=horizon, seed=seed)
        paid = uqf.Trajectories(
            data.actions,
            data.observations,
            np.ones(data.n_steps),
            data.offsets,
            n_actions=env.n_actions,
            n_observations=env.n_observations,
            behavior_probs=data.behavior_probs,
        )
        whole = paid[paid.lengths == horizon]
        return len(whole) / 2000, replayed(policy, whole, env.discount, NoModel(), 0).overlap

    found = [overlap(seed) for seed in range(8)]
    foreseen = np.array([one.foreseen / share for share, one in found])
    shown = np.array([one.shown / share for share, one in found])
    errors, plain = np.abs(foreseen / exact - 1), np.abs(shown / exact - 1)
    assert errors.max() < 0.25
    assert plain.mean() > 2 * errors.mean(), "the weights themselves tell it badly"
    for _, one in found:
        assert one.size == min(one.shown, one.foreseen)
        assert one.stretch == pytest.approx(np.sqrt(one.shown / one.size))
    share, own = overlap(0, policy)
    assert own.shown == pytest.approx(own.foreseen) == pytest.approx(2000 * share)
    assert own.stretch == pytest.approx(1), "nothing is lacking in logs of the policy itself"


def test_in_a_world_without_chance_the_right_values_leave_no_noise():
    transitions = np.stack([np.roll(np.eye(4), shift, axis=1) for shift in (1, 2)])
    pomdp = uqf.TabularPOMDP(
        transitions,
        np.tile(np.eye(4), (2, 1, 1)),
        np.arange(8.0).reshape(2, 4),
        np.array([1.0, 0, 0, 0]),
        discount=0.9,
        horizon=6,
    )
    data = uqf.rollout(pomdp, episodes=4000, seed=1)
    policy = random_table(2, 4, seed=5)
    plain, robust = (
        ope.evaluate(policy, data, discount=0.9, method=method) for method in ("importance", "doubly-robust")
    )
    assert robust.stderr < 0.05 * plain.stderr


def test_frequencies_after_the_last_symbol_approach_a_behaviour_that_looks_no_further():
    env = uqf.make("tiger")
    behavior = random_table(env.n_actions, env.n_observations, softness=5.0)
    data = uqf.rollout(env, behavior, episodes=20_000, seed=2)
    assert np.abs(estimated_propensities(data) - data.behavior_probs).mean() < 0.02
    bare = uqf.Trajectories(
        data.actions,
        data.observations,
        data.rewards,
        data.offsets,
        n_actions=env.n_actions,
        n_observations=env.n_observations,
        terminated=data.terminated,
    )
    estimate = ope.evaluate(behavior, bare, discount=0.9, method="importance")
    assert estimate.propensities == "estimated"
    assert "no propensities" in estimate.verdict
    assert estimate.mean == pytest.approx(data.returns(0.9).mean(), abs=5 * estimate.stderr)


def test_too_little_overlap_is_said_and_falls_back_on_a_model():
    env = uqf.make("gridworld-near")
    data = uqf.rollout(env, episodes=300, horizon=40, seed=0)
    far = softened(env, 1.0)
    assert ope.evaluate(far, data, discount=0.95).method == "model"
    asked = ope.evaluate(far, data, discount=0.95, method="importance")
    assert not asked.sufficient
    assert "cannot tell what the policy earns" in asked.verdict
    near = ope.evaluate(softened(env, 0.02), data, discount=0.95)
    assert near.sufficient and near.method == "doubly-robust"
    assert "95% confidence" in near.verdict


def test_one_episode_gives_no_interval_rather_than_a_narrow_one():
    data = uqf.rollout(uqf.make("tiger"), episodes=1, seed=0)
    estimate = ope.evaluate(None, data, discount=0.9, method="doubly-robust")
    assert estimate.interval == (-np.inf, np.inf)
    assert not estimate.sufficient


def test_two_policies_are_told_apart_or_not():
    env = uqf.make("gridworld-near")
    data = uqf.rollout(env, episodes=2000, horizon=15, seed=0)
    one, other = softened(env, 0.05), softened(env, 0.05, seed=2)
    same = ope.compare(one, one, data, discount=0.95)
    assert same.difference == same.stderr == 0.0
    assert "cannot tell the two policies apart" in same.verdict
    there, back = (ope.compare(*pair, data, discount=0.95) for pair in ((one, other), (other, one)))
    assert there.difference == pytest.approx(-back.difference)
    unpaired = np.hypot(there.first.stderr, there.second.stderr)
    assert there.stderr < 0.8 * unpaired, "the same episodes are resampled for both"
    assert (
        "cannot tell the two policies apart"
        in ope.compare(softened(env, 1.0), softened(env, 1.0, seed=2), data, discount=0.95).verdict
    )


def test_a_clear_difference_is_found():
    tiger = uqf.make("tiger")
    data = uqf.rollout(tiger, episodes=3000, horizon=3, seed=0)
    probs = np.full((tiger.n_symbols + 1, 3), [0.4, 0.3, 0.3])
    listening = uqf.TablePolicy(np.full_like(probs, [0.8, 0.1, 0.1]), tiger.n_observations)
    result = ope.compare(listening, uqf.TablePolicy(probs, tiger.n_observations), data, discount=0.95)
    assert result.distinguishable
    assert result.verdict.startswith("The first policy earns more, by ")


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("discount", 1.5, "discount = 1.5"),
        ("method", "magic", "choose importance, doubly-robust, model"),
        ("level", 95, "level = 95"),
        ("replicates", 3, "replicates = 3"),
    ],
)
def test_misuse_is_named(argument, value, message):
    data = uqf.rollout(uqf.make("tiger"), episodes=3)
    with pytest.raises(ValueError, match=message):
        ope.evaluate(None, data, **({"discount": 0.9} | {argument: value}))
    with pytest.raises(TypeError, match="data is a list"):
        ope.evaluate(None, [], discount=0.9)


def coverage(name, share, method, repetitions, horizon=25, episodes=1000):
    """(share of sufficient repetitions, how many of those cover the truth)

    The seeds had no part in choosing the bounds of sufficiency or the form of the interval.
    """
    env = uqf.make(name)
    policy = softened(env, share)
    truth = uqf.estimate_return(env, policy, episodes=1_000_000, horizon=horizon, seed=77).mean
    results = [
        ope.evaluate(
            policy,
            uqf.rollout(env, episodes=episodes, horizon=horizon, seed=52_000_000 + repetition),
            discount=env.discount,
            method=method,
            replicates=500,
            seed=repetition,
        )
        for repetition in range(repetitions)
    ]
    covers = [one.interval[0] <= truth <= one.interval[1] for one in results if one.sufficient]
    return len(covers) / repetitions, float(np.mean(covers))


@pytest.mark.parametrize("method", ["importance", "doubly-robust"])
def test_intervals_cover_quick(method):
    sufficient, covered = coverage("gridworld-near", 0.1, method, repetitions=20)
    assert sufficient > 0.9
    assert covered >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("method", ["importance", "doubly-robust"])
@pytest.mark.parametrize(
    ("name", "share", "horizon", "episodes"),
    [
        ("gridworld-near", 0.1, 25, 1000),
        ("gridworld-near", 0.2, 25, 1500),
        ("gridworld-near", 0.25, 25, 3000),
        ("gridworld-mid", 0.1, 25, 1500),
        ("gridworld-far", 0.05, 60, 1500),
        ("gridworld-hamilton", 0.1, 25, 1000),
        ("gridworld-hamilton", 0.2, 25, 1500),
    ],
)
def test_intervals_cover_the_truth_in_nine_of_ten_repetitions(name, share, horizon, episodes, method):
    sufficient, covered = coverage(name, share, method, 200, horizon, episodes)
    assert sufficient > 0.5, "the check must not be empty"
    assert covered >= 0.9


def test_a_rare_reward_is_not_trusted_though_the_weights_are():
    env = uqf.make("gridworld-far")
    data = uqf.rollout(env, episodes=1000, horizon=25, seed=1)
    assert 0 < np.count_nonzero(data.returns()) < 5
    estimate = ope.evaluate(softened(env, 0.05), data, discount=env.discount, method="importance")
    assert estimate.effective_sample_size > 100
    assert estimate.informative_episodes < 5
    assert not estimate.sufficient
    assert "hangs on about" in estimate.verdict
    both = ope.compare(
        softened(env, 0.05), softened(env, 0.02), data, discount=env.discount, method="importance"
    )
    assert not both.sufficient
    assert (
        "cannot tell the two policies apart, for want of knowledge of the first: what it earns"
        in both.verdict
    )
