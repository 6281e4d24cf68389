"""Plans in hidden models: what they earn in worlds with known answers, and what they never do."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import uqf
from mazes import t_maze
from random_policies import behaviour
from uqf.learn.improve.gain import Gain
from uqf.learn.improve.on_beliefs import gain_on_beliefs
from uqf.learn.memory.hidden import Growth
from uqf.learn.model_q import ModelSettings, always, as_good, constant

QUICK = ModelSettings(models=2, played=50, growth=Growth(states=8, first=4, explore=5, settle=5))
SMALL = ModelSettings(models=3, growth=Growth(states=16))


def earned(world, learner, episodes=1000):
    return uqf.estimate_return(world, learner.policy_, episodes=episodes, seed=1).mean


@pytest.fixture(scope="module")
def tiger():
    return uqf.rollout(uqf.make("tiger"), episodes=500, seed=0)


@pytest.fixture(scope="module")
def fitted(tiger):
    return uqf.ModelQ(0.95, settings=SMALL).fit(tiger)


def test_the_plan_of_the_tiger_is_nearly_the_best(fitted):
    """Listen until one door was heard twice more often; 20 steps of it earn about 10.8."""
    world = uqf.make("tiger")
    assert fitted.decision_function([[]])[0].argmax() == 0, "listen first"
    assert earned(world, fitted, 4000) > 9.5
    assert uqf.estimate_return(world, None, episodes=1000, seed=1).mean < -200.0


def test_values_that_know_the_state_at_the_next_step_listen_too_little_or_for_ever(fitted, tiger):
    """QMDP sees no use in finding out; its values are no less than those of the plan in the same models."""
    blind = uqf.ModelQ(0.95, planner="qmdp", settings=SMALL).fit(tiger)
    assert blind.policy_.weights.shape[1] == 1 < fitted.policy_.weights.shape[1]
    assert np.array_equal(blind.models_[0].transitions, fitted.models_[0].transitions)
    best = blind.decision_function([[]])[0].max()
    assert best > fitted.decision_function([[]])[0].max()


def test_every_plan_is_judged_in_all_good_models_but_its_own(fitted, tiger):
    assert fitted.cross_play_.shape == (3, 3)
    np.testing.assert_array_equal(np.isnan(fitted.cross_play_), np.eye(3, dtype=bool))
    told, made = fitted.diagnostics_, fitted.diagnostics_["model"]
    assert made == np.nanmean(fitted.cross_play_, axis=1).argmax()
    assert told["gains"][made] == gain_on_beliefs(fitted.policy_, tiger, 0.95).mean > 0.0, "on its beliefs"
    assert told["planned_in"] == [0, 1, 2]
    assert told["states"] == [model.n_states for model in fitted.models_]
    assert (told["episodes"], told["steps"]) == (500, 10_000)
    np.testing.assert_array_equal(fitted.earned_by(fitted.policy_), np.delete(fitted.cross_play_[made], made))


def test_models_are_planned_in_unless_others_are_clearly_better():
    noise = np.random.default_rng(0).normal(size=(5, 400))
    gains = [Gain(mean + rows) for mean, rows in zip([0.0, 1.0, 0.5, 0.1, 0.95], noise, strict=True)]
    assert as_good(gains, ModelSettings(judges=1)) == [1, 4], "the error of a difference is 0.07"
    assert as_good(gains, ModelSettings(judges=3)) == [1, 2, 4]
    assert as_good(gains[:1], ModelSettings()) == [0]


def test_beliefs_that_know_nothing_are_not_planned_on(fitted, tiger):
    """A state that is left for any other, whatever is done, and shows all there is as often as the log does."""
    parts = fitted.policy_.parts()
    even = np.full_like(parts["transitions"], 1.0 / len(parts["starts"]))
    blind = uqf.BeliefPolicy(**parts | {"transitions": even, "shown": np.ones_like(parts["shown"])})
    known, unknown = (gain_on_beliefs(policy, tiger, 0.95).totals for policy in (fitted.policy_, blind))
    assert Gain(known - unknown).evidence > 3.0
    assert gain_on_beliefs(blind, tiger[:1], 0.95).totals.tolist() == [0.0]


def test_one_action_for_ever_is_judged_as_plans_are(fitted):
    for action in range(3):
        policy = constant(fitted.policy_, action)
        played = uqf.rollout(uqf.make("tiger"), policy, episodes=20, seed=0)
        assert (played.actions == action).all()
        means = [uqf.estimate_return(world, policy, episodes=4000, seed=1).mean for world in fitted.worlds_]
        assert always(action, fitted.worlds_) == pytest.approx(np.mean(means), rel=0.05)


def gambles(seed, episodes=100, steps=10):
    """Rewards and observations that nothing explains, but that action 0 earns nothing."""
    rng = np.random.default_rng(seed)
    actions, shown = rng.integers(3, size=(2, episodes * steps))
    rewards = np.where(actions == 0, 0.0, rng.normal(-0.1, 1.0, episodes * steps))
    offsets = np.arange(episodes + 1) * steps
    return uqf.Trajectories(actions, shown, rewards, offsets, n_actions=3, n_observations=3)


def test_where_models_agree_on_nothing_one_action_is_better_than_their_plans():
    taken = []
    for seed in range(3):
        learner, plan = (
            uqf.ModelQ(0.9, settings=replace(QUICK, constant=constant)).fit(gambles(seed))
            for constant in (True, False)
        )
        best = max(always(action, learner.worlds_) for action in range(3))
        alone = best > np.nanmean(plan.cross_play_, axis=1).max()
        assert alone == (learner.diagnostics_["model"] is None)
        models = len(learner.earned_by(learner.policy_))
        assert models == (2 if alone else 1), "nobody made one action for ever"
        taken.append(alone)
    assert any(taken)


def test_one_model_has_no_judge(tiger):
    learner = uqf.ModelQ(0.95, settings=ModelSettings(models=1, growth=QUICK.growth)).fit(tiger[:50])
    assert len(learner.earned_by(learner.policy_)) == 0 and learner.diagnostics_["model"] == 0


def noisy_ring(wrong=0.3, places=8):
    """Places in a ring; what is seen is wrong now and then. Staying at place 0 pays."""
    right = np.roll(np.eye(places), 1, axis=1)
    shown = (1.0 - wrong) * np.eye(places) + wrong / places
    rewards = np.zeros((3, places))
    rewards[2] = np.where(np.arange(places) == 0, 1.0, -0.5)
    return uqf.TabularPOMDP(
        np.stack([right, right.T, np.eye(places)]),
        np.stack([shown] * 3),
        rewards,
        np.full(places, 1.0 / places),
        0.9,
        horizon=30,
    )


def test_a_sensor_that_errs_is_not_believed_at_once():
    world = noisy_ring()
    data = uqf.rollout(world, episodes=300, seed=0)
    noisy = uqf.ModelQ(0.9, model="noisy", settings=ModelSettings(models=2)).fit(data)
    assert noisy.diagnostics_["states"] == [8, 8], "one for every observation"
    for model in noisy.models_:
        np.testing.assert_allclose(np.diag(model.emissions), 0.7 + 0.3 / 8, atol=0.1)
    assert earned(world, noisy) > 1.2 * earned(world, uqf.TableQ(0.9).fit(data))


def cued(seed=0, episodes=400):
    """`reset` shows which of two actions pays; the episode ends at once."""
    rng = np.random.default_rng(seed)
    cue, actions = rng.integers(2, size=episodes), rng.integers(2, size=episodes)
    return uqf.Trajectories(
        actions,
        np.zeros(episodes, int),
        (actions == cue).astype(float),
        np.arange(episodes + 1),
        n_actions=2,
        n_observations=3,
        terminated=np.ones(episodes, bool),
        first_observations=cue,
    )


@pytest.mark.parametrize("planner", [None, "qmdp"])
def test_what_reset_shows_is_known_to_the_plan(planner):
    policy = uqf.ModelQ(0.9, planner=planner, settings=SMALL).fit(cued()).policy_
    for cue in range(2):
        values = policy.q_values(policy.initial_state(first=cue))
        assert values.argmax() == cue and values.max() > 0.8 and values.min() < 0.2


def test_a_cue_of_reset_is_remembered():
    world = t_maze()
    settings = ModelSettings(growth=Growth(states=16, first=16))
    learner = uqf.ModelQ(0.97, settings=settings).fit(uqf.rollout(world, episodes=1000, seed=0))
    assert uqf.estimate_return(world, learner.policy_, episodes=500, seed=1, discount=1.0).mean > 0.9


def test_where_one_observation_is_all_that_is_shown_the_plan_counts_steps():
    """Action 1, then action 0, pays 1; action 0 alone pays 0.1. Nothing shows which is due."""
    moves = np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])
    rewards = np.array([[0.1, 1.0], [0.0, 0.0]])
    world = uqf.TabularPOMDP(moves, np.ones((2, 2, 1)), rewards, np.array([1.0, 0.0]), 0.9, horizon=20)
    learner = uqf.ModelQ(0.9, settings=SMALL).fit(uqf.rollout(world, episodes=200, seed=0))
    assert earned(world, learner, 10) == pytest.approx(sum(0.9 ** (2 * n + 1) for n in range(10)))


@pytest.mark.parametrize("planner", [None, "qmdp"])
def test_an_action_that_was_never_tried_is_not_planned_with(planner):
    """Whatever is done in a bad state, it pays badly; nothing says that something else would pay the average."""
    rewards = np.array([[-1.0, 1.0], [-1.0, 1.0], [-10.0, -10.0]])
    world = uqf.TabularPOMDP(
        np.full((3, 2, 2), 0.5), np.stack([np.eye(2)] * 3), rewards, np.full(2, 0.5), 0.9, horizon=20
    )
    logger = uqf.TablePolicy(np.tile([0.5, 0.5, 0.0], (7, 1)), 2)
    learner = uqf.ModelQ(0.9, planner=planner, settings=QUICK).fit(
        uqf.rollout(world, logger, episodes=200, seed=0)
    )
    played = uqf.rollout(world, learner.policy_, episodes=50, seed=0)
    assert (played.actions < 2).all()


def test_an_observation_that_was_never_seen_changes_no_value_much(tiger):
    data = uqf.Trajectories(**tiger.__getstate__() | {"n_observations": 3})
    learner = uqf.ModelQ(0.95, settings=SMALL).fit(data)
    values = learner.decision_function([[], [(0, 2)], [(0, 2), (0, 0), (0, 2)], [(1, 2)]])
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values[1], values[0], rtol=0.5, atol=5.0)
    state = learner.policy_.initial_state(first=2)
    assert np.isfinite(learner.policy_.q_values(state)).all()


def parts_equal(one, other):
    mine, theirs = one.policy_.parts(), other.policy_.parts()
    return all(np.array_equal(part, theirs[name]) for name, part in mine.items())


@pytest.mark.parametrize("model", [None, "noisy"])
def test_same_bits_for_any_number_of_threads(model, tiger):
    one, two = (
        uqf.ModelQ(0.95, model=model, threads=threads, settings=QUICK).fit(tiger) for threads in (1, 2)
    )
    assert parts_equal(one, two)
    np.testing.assert_array_equal(one.earned_by(one.policy_), two.earned_by(two.policy_))
    assert one.diagnostics_ == two.diagnostics_


def test_a_log_that_is_long_is_learned_from_in_part(tiger):
    settings = ModelSettings(models=2, steps=2_000, played=50, growth=QUICK.growth)
    learner = uqf.ModelQ(0.95, settings=settings).fit(tiger)
    assert learner.diagnostics_["steps_for_models"] == 2_000
    assert parts_equal(learner, uqf.ModelQ(0.95, settings=settings).fit(tiger[:100]))


def test_models_are_worlds_to_play_in(fitted, tiger):
    for world in fitted.worlds_:
        assert world.horizon == 20
        played = uqf.rollout(world, episodes=500, seed=0)
        assert played.rewards.mean() == pytest.approx(tiger.rewards.mean(), rel=0.15)


def test_a_discount_of_one_is_planned_with_the_largest_that_has_a_plan(tiger):
    undiscounted, patient = (uqf.ModelQ(discount, settings=QUICK).fit(tiger) for discount in (1.0, 0.99))
    np.testing.assert_array_equal(undiscounted.models_[0].rewards, patient.models_[0].rewards)
    assert undiscounted.cross_play_[0, 1] != patient.cross_play_[0, 1], "returns are those of the task"


def test_what_was_learned_is_pickled_and_saved(fitted, tmp_path):
    copy = pickle.loads(pickle.dumps(fitted))
    assert parts_equal(copy, fitted)
    np.testing.assert_array_equal(copy.earned_by(copy.policy_), fitted.earned_by(fitted.policy_))
    fitted.save(tmp_path / "policy")
    np.testing.assert_array_equal(behaviour(uqf.load(tmp_path / "policy")), behaviour(fitted.policy_))
    told = uqf.inspect_policy(tmp_path / "policy").settings
    assert told["learner"] == "ModelQ" and told["settings"]["growth"]["states"] == 16
