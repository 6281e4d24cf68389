"""What the logged actions depended on, found in the log alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from evaluation_worlds import WORLDS, Controller, played, remembered_bit, without_propensities
from random_policies import random_table
from strategies import trajectories
from uqf import ope
from uqf.episodes.propensities import propensities
from uqf.ope.behavior import LOGGED, PLAIN, behavior_of
from uqf.ope.calibration import refutation


def small_world(rng, states=3, actions=2, observations=2):
    return uqf.TabularPOMDP(
        rng.dirichlet(np.ones(states), (actions, states)),
        rng.dirichlet(np.ones(observations), (actions, states)),
        rng.normal(size=(actions, states)),
        rng.dirichlet(np.ones(states)),
        0.9,
    )


def surprise(data, probs):
    """By how much less likely than with their true propensities the actions of an episode are, in nats."""
    return float((np.log(data.behavior_probs) - np.log(probs)).sum()) / len(data)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6))
def test_a_behaviour_that_keeps_a_bit_is_found_by_what_it_does(seed):
    """The controller begins with a fair coin that the log does not show but every later action does."""
    rng = np.random.default_rng(seed)
    favourite, world = rng.uniform(0.8, 0.95), small_world(rng)
    data = uqf.concatenate(
        [
            played(
                world,
                Controller(np.array([[share, 1.0 - share]]), np.zeros((1, 4), int)),
                300,
                8,
                rng,
            )
            for share in (favourite, 1.0 - favourite)
        ]
    )
    # In no order: else it would be the part of the log that shows the coin.
    data = data[rng.permutation(len(data))]
    bare = without_propensities(data)
    found = behavior_of(bare)
    assert found.source.startswith("a memory of")
    # The coin is not known before the first action. Whoever knows the favourite can do no better than Bayes' rule.
    ones = np.add.reduceat(data.actions, data.offsets[:-1])
    chances = [share ** (8 - ones) * (1.0 - share) ** ones for share in (favourite, 1.0 - favourite)]
    best = float((np.log(data.behavior_probs).sum() - np.log(np.mean(chances, axis=0)).sum()) / len(data))
    plain = surprise(data, propensities(bare))
    assert surprise(data, found.probs) - best < 0.3 * (plain - best)


@pytest.mark.parametrize("seed", range(3))
def test_a_bit_that_the_log_shows_once_is_found(seed):
    data = remembered_bit().log(seed)
    found = behavior_of(data)
    assert "first observation" in found.source or "memory" in found.source
    bit = np.repeat(data.observations[data.offsets[:-1]], data.lengths)
    first = np.arange(data.n_steps) % 5 == 0
    truth = np.where(first, 0.5, np.where(data.actions == bit, 0.8, 0.2))
    assert np.abs(found.probs - truth).mean() < 0.04 < 0.1 < np.abs(propensities(data) - truth).mean()


def test_what_is_not_there_is_seldom_found():
    rng = np.random.default_rng(0)
    sources = []
    for seed in range(20):
        table = random_table(2, 2, seed=seed, softness=3.0)
        data = played(small_world(rng), Controller.of_table(table), 300, 6, rng)
        sources.append(behavior_of(without_propensities(data)).source)
    assert sources.count(PLAIN) >= 17


@settings(deadline=None)
@given(trajectories())
def test_estimates_are_probabilities_and_what_is_logged_is_believed_unless_the_actions_refute_it(data):
    found = behavior_of(data)
    if data.behavior_probs is None or found.refuted:
        for probs in (found.probs, *found.others):
            assert probs.shape == (data.n_steps,)
            assert (probs > 0).all() and (probs <= 1 + 1e-12).all()
    else:
        assert found.source == LOGGED and found.logged
        np.testing.assert_array_equal(found.probs, data.behavior_probs)


@pytest.mark.parametrize("rare", [0, 1, 3])
def test_actions_that_one_half_lacks_are_no_trouble(rare):
    rng = np.random.default_rng(rare)
    actions = rng.integers(2, size=300)
    actions[:rare] = 2 + np.arange(rare)
    data = uqf.Trajectories(
        actions,
        rng.integers(3, size=300),
        np.zeros(300),
        np.arange(0, 301, 3),
        n_actions=6,
        n_observations=3,
    )
    found = behavior_of(data)
    for probs in (found.probs, *found.others):
        assert (probs > 0).all() and (probs < 1).all()


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["importance", "doubly-robust", None]))
def test_nothing_is_known_on_the_strength_of_an_estimate(seed, method):
    rng = np.random.default_rng(seed)
    data = played(small_world(rng), Controller.of_table(random_table(2, 2, softness=5.0)), 300, 3, rng)
    logged, bare = (
        ope.evaluate(None, log, discount=0.9, method=method, return_range=(-20.0, 20.0), replicates=100)
        for log in (data, without_propensities(data))
    )
    assert bare.answer is not ope.Answer.KNOWN
    assert "nothing that the log does not show" in bare.condition and not logged.condition
    if bare.answer is ope.Answer.CONDITIONAL:
        assert bare.text().endswith(f"if {bare.condition}") and bare.verdict.startswith(
            "If the logged actions"
        )
        assert "behavior_prob) are missing" in bare.lack
    assert bare.propensities != "logged" and logged.propensities == "logged"


def test_a_winner_without_propensities_is_named_on_a_condition_only():
    tiger = uqf.make("tiger")
    data = without_propensities(uqf.rollout(tiger, episodes=3000, horizon=3, seed=0))
    listening = uqf.TablePolicy(np.tile([0.8, 0.1, 0.1], (7, 1)), 2)
    result = ope.compare(listening, None, data, discount=0.95, return_range=(-300.0, 30.0))
    assert result.answer is ope.Answer.CONDITIONAL and not result.distinguishable
    assert result.verdict.startswith(
        "If the logged actions depended on nothing that the log does not show: The first"
    )


def test_what_cannot_be_told_apart_widens_the_interval():
    """Few episodes cannot tell whether the bit matters: the interval then holds both answers."""
    case = remembered_bit(episodes=120)
    found = behavior_of(case.log(0))
    assert found.others, "some memories are about as likely as the best"
    estimate = ope.evaluate(case.first, case.log(0), discount=1.0, method="importance", replicates=200)
    assert estimate.propensities == found.source


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("actions repeat", "after action"),
        ("actions drift", "of the log"),
        ("actions drift in episodes", "in steps from"),
    ],
)
def test_propensities_that_the_actions_refute_are_not_used(name, words):
    case = WORLDS[name]()
    for seed in range(5):
        found = behavior_of(case.log(seed))
        assert words in found.refuted and not found.logged
        estimate = ope.evaluate(
            case.first, case.log(seed), discount=1.0, return_range=case.return_range, replicates=100
        )
        assert not estimate.known
        if estimate.answer is ope.Answer.CONDITIONAL:
            assert (
                "disagree with the actions" in estimate.lack and "depended on nothing" in estimate.condition
            )


@pytest.mark.parametrize(("logged", "agrees"), [(0.5, False), (1.0, True)])
def test_the_only_action_of_a_log_was_certain(logged, agrees):
    one = uqf.Trajectories(
        np.zeros(240, int),
        np.zeros(240, int),
        np.ones(240),
        np.arange(0, 241, 4),
        n_actions=1,
        n_observations=1,
        behavior_probs=np.full(240, logged),
    )
    assert behavior_of(one).logged == agrees


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 5), st.floats(0.05, 3.0))
def test_propensities_that_are_right_are_refuted_seldom(seed, actions, softness):
    """One log in a hundred at most: four of sixty would be seen once in three hundred runs."""
    rng = np.random.default_rng(seed)
    world = small_world(rng, actions=actions)
    data = played(world, Controller.of_table(random_table(actions, 2, seed, softness)), 100, 6, rng)
    if refutation(data):
        REFUTED.append(seed)
    assert len(REFUTED) < 4


#: Logs with right propensities that were refuted.
REFUTED = []


def test_every_log_of_several_has_a_behaviour_of_its_own():
    """Each of two logs is made by a habit; together they look like a behaviour that neither was."""
    rng = np.random.default_rng(0)
    world = small_world(rng)
    habits = [Controller(np.array([[share, 1.0 - share]]), np.zeros((1, 4), int)) for share in (0.2, 0.7)]
    logs = [played(world, habit, 600, 4, rng) for habit in habits]
    policy = random_table(2, 2, softness=5.0)
    truth, apart = (
        ope.evaluate(policy, data, discount=0.9, return_range=(-20.0, 20.0))
        for data in (logs, [without_propensities(log) for log in logs])
    )
    assert truth.known and truth.episodes == 1200
    assert truth == ope.evaluate(policy, uqf.concatenate(logs), discount=0.9, return_range=(-20.0, 20.0))
    assert apart.answer is ope.Answer.CONDITIONAL
    assert abs(apart.mean - truth.mean) < truth.stderr
    mixed = ope.evaluate(policy, [logs[0], without_propensities(logs[1])], discount=0.9)
    assert "depended on nothing" in mixed.condition
