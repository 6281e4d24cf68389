"""The front door: which learner is taken in worlds with known answers, what it says, and what it promises."""

import itertools

import numpy as np
import pytest

import uqf
from mazes import corridor, grid_4x3
from random_policies import behaviour
from uqf.learn.choose.candidates import FAVOURITE, RIVALS, Candidate, Settings
from uqf.learn.choose.comparison import Comparison, Result
from uqf.learn.choose.fit import best
from uqf.learn.improve.gain import Gain
from uqf.reading.progress import Reporter

NAMES = [FAVOURITE.name, *(one.name for one in RIVALS)]
KEYS = {"gain", "stderr", "difference", "evidence", "problem"}


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=400, seed=0)


@pytest.fixture(scope="module")
def learner(data):
    return uqf.fit(data, discount=0.9, seed=3)


def contents(data):
    """The episodes as a list of what can be compared, in a fixed order."""
    return sorted(
        (episode.history, episode.rewards.tolist(), episode.behavior_probs.tolist(), episode.terminated)
        for episode in data
    )


# The rule, on numbers.


def gains(*means, stderr=1.0, seed=0, episodes=400):
    """Gains by discount with these means and this standard error."""
    noise = np.random.default_rng(seed).normal(size=episodes)
    noise = (noise - noise.mean()) / noise.std(ddof=1) * stderr * np.sqrt(episodes)
    return tuple(Gain(mean + noise) for mean in means)


IMPROVES, PLANS, TABLE = (
    Candidate(name, lambda discount, seed: uqf.ContextQ(), plans=plans)
    for name, plans in (("improves", False), ("plans", True), ("table", True))
)


def taken(*results):
    result, place = best([Result(FAVOURITE, gains(9.0, 9.0)), *results], 2.0)
    return result.candidate.name, place


def test_the_favourite_stays_unless_a_gain_is_larger_by_two_standard_errors():
    shaken = gains(11.0, 9.0, seed=1)
    assert taken() == ("BeliefQ", 0)
    assert taken(Result(IMPROVES, shaken)) == ("BeliefQ", 0), "the difference has an error of about 1.4"
    assert taken(Result(IMPROVES, gains(13.0, 9.0, seed=1))) == ("improves", 0)
    assert taken(Result(IMPROVES, gains(9.1, 9.0))) == ("improves", 0), "the same more in every episode"
    assert taken(Result(IMPROVES, problem="refused")) == ("BeliefQ", 0)


def test_the_shorter_discount_decides_where_no_gain_is_seen():
    unseen = Result(FAVOURITE, gains(1.0, 1.0)), Result(IMPROVES, gains(1.0, 9.0, seed=1))
    assert best(unseen, 2.0) == (unseen[1], 1)
    seen = Result(FAVOURITE, gains(9.0, 1.0)), Result(IMPROVES, gains(9.0, 9.0, seed=1))
    assert best(seen, 2.0) == (seen[0], 0)


def test_a_plan_is_taken_if_it_earns_more_in_models_by_two_standard_errors():
    def plan(differences, candidate=PLANS):
        return Result(candidate, gains(0.0, 0.0, seed=1), Gain(np.array(differences)))

    assert taken(plan([1.0, 1.1, 0.9, 1.0])) == ("plans", 0)
    assert taken(plan([1.0, 1.0, 1.0, 1.0])) == ("plans", 0), "equal wins are certain"
    assert taken(plan([5.0, 0.1, 0.1, 0.1])) == ("BeliefQ", 0), "one model says all"
    assert taken(plan([1.0])) == ("BeliefQ", 0), "one model has no error"
    assert taken(plan([0.0, 0.0])) == ("BeliefQ", 0)
    assert taken(plan([1.0, 1.1]), plan([2.0, 2.1], TABLE)) == ("table", 0), "the larger mean"
    better = Result(IMPROVES, gains(19.0, 9.0, seed=1))
    assert taken(better, plan([1.0, 1.1])) == ("improves", 0), "models that miss something judge no plan"


def test_a_plan_that_cannot_be_played_is_compared_by_its_gain():
    assert taken(Result(PLANS, gains(13.0, 0.0, seed=1))) == ("plans", 0)
    assert taken(Result(PLANS, gains(9.0, 0.0, seed=1))) == ("BeliefQ", 0)


def test_a_refused_favourite_is_replaced_by_the_first_that_is_not_refused():
    rest = [Result(FAVOURITE, problem="why"), Result(IMPROVES, gains(1.0, 1.0))]
    assert best(rest, 2.0)[0] is rest[1]
    with pytest.raises(uqf.UQFError, match="every learner was refused; the first said: why"):
        best(rest[:1], 2.0)


# Worlds with known answers.


def earned(world, learner, **options):
    return uqf.estimate_return(world, learner.policy_, episodes=500, seed=1, **options).mean


def test_a_plan_is_taken_where_one_step_of_improvement_is_not_enough():
    world = grid_4x3()
    learner = uqf.fit(uqf.rollout(world, episodes=600, horizon=30, seed=0), discount=0.95)
    told = learner.diagnostics_["chosen"]
    assert type(learner) is uqf.ModelQ and told["learner"] == "ModelQ"
    assert told["why"].startswith("ModelQ plans ahead. In 8 models that were learned from other episodes")
    row = told["candidates"]["ModelQ"]
    assert row["difference"] > 0.0 and row["evidence"] > 2.0 and row["gain"] > 0.0
    assert "not known to be a state" in told["candidates"]["TableQ"]["problem"]


def test_where_the_last_observation_is_a_state_few_episodes_suffice_to_plan():
    world = corridor(0.0, states=8)
    learner = uqf.fit(uqf.rollout(world, episodes=150, seed=0), discount=0.9)
    assert learner.diagnostics_["markov_test"]["markov"]
    assert learner.diagnostics_["chosen"]["learner"] in ("TableQ", "ModelQ")


def test_models_of_few_episodes_judge_no_plan():
    """In the far grid world plans of 50 episodes that win in all models of 50 others are useless."""
    data = uqf.rollout(uqf.make("gridworld-far"), episodes=100, seed=0)
    told = uqf.fit(data).diagnostics_["chosen"]["candidates"]["ModelQ"]
    assert told["problem"] == "100 episodes: models of fewer than 200 are wrong in the same way"


def test_models_that_remember_no_more_than_the_last_observation_judge_no_plan():
    """In S-PocMan a plan wins in all models, by up to ten standard errors, and earns -90 where `BeliefQ` earns 0."""
    learner = uqf.fit(uqf.rollout(uqf.make("spocman"), episodes=300, seed=0), discount=0.95)
    told = learner.diagnostics_["chosen"]["candidates"]["ModelQ"]
    assert "states for an observation: fewer than 2 remember hardly more" in told["problem"]
    assert not isinstance(learner, uqf.ModelQ)


def steps_of(actions, observations, rewards, n_observations, **more):
    """Episodes as matrices, (episodes, steps)."""
    episodes, steps = actions.shape
    return uqf.Trajectories(
        actions.ravel(),
        observations.ravel().astype(int),
        rewards.ravel().astype(float),
        np.arange(episodes + 1) * steps,
        n_actions=int(actions.max()) + 1,
        n_observations=n_observations,
        **more,
    )


def test_what_was_shown_four_steps_ago_is_remembered_by_lags():
    rng = np.random.default_rng(0)
    seen, actions = rng.integers(3, size=(400, 16)), rng.integers(3, size=(400, 16))
    rewards = np.zeros((400, 16))
    rewards[:, 4:] = actions[:, 4:] == seen[:, :-4]
    told = uqf.fit(steps_of(actions, seen, rewards, 3)).diagnostics_["chosen"]
    assert told["learner"] == "LagQ" and "more than BeliefQ" in told["why"]
    assert "whose models must miss something" in told["candidates"]["ModelQ"]["problem"]


def test_a_bandit_is_played_by_what_the_next_reward_says():
    """Arms are other ones in every episode; later rewards are all noise to the choice of an arm."""
    arms, episodes, steps = 6, 400, 40
    rng = np.random.default_rng(0)
    actions = rng.integers(arms, size=(episodes, steps))
    won = rng.random((episodes, steps)) < np.take_along_axis(rng.random((episodes, arms)), actions, axis=1)
    learner = uqf.fit(steps_of(actions, won, won, 2), discount=0.99)
    stay, change = ((action, won) for action, won in ((2, 1), (2, 0)))
    again = learner.decision_function([[stay] * 3, [change] * 3])
    assert again[0].argmax() == 2 and again[1].argmax() != 2, learner.diagnostics_["chosen"]["why"]


# What it says and promises.


def test_every_candidate_is_listed_with_the_same_keys(learner):
    told = learner.diagnostics_["chosen"]
    assert list(told["candidates"]) == NAMES
    for name, row in told["candidates"].items():
        assert set(row) == KEYS, name
        assert (row["gain"] is None) == (row["problem"] is not None), name
    assert type(learner).__name__ == told["learner"] and learner.discount == 0.9
    assert told["candidates"]["BeliefQ"]["evidence"] == 0.0
    assert "standard error" in told["why"] or "no other learner is clearly better" in told["why"]


def test_equal_parts_judge_each_other_and_others_do_not(data):
    """Learners of a tenth of the episodes say little about learners of nine tenths."""

    def compared(*parts):
        comparison = Comparison(parts, 0.9, 0, Settings(), None, Reporter(None))
        return len(comparison.result(RIVALS[0]).gains[0].totals)

    assert compared(data[:200], data[200:]) == 400
    assert compared(data[:199], data[199:399]) == 399, "up to one episode"
    assert compared(data[:360], data[360:]) == 40
    tenth = uqf.fit(data[:200], discount=0.9, holdout=0.1, seconds=0)
    assert (len(tenth.trial_.taught), len(tenth.trial_.held_out)) == (180, 20)
    assert "on 20 held-out episodes" in tenth.diagnostics_["chosen"]["why"]


def test_two_episodes_suffice_and_one_of_them_says_nothing(data):
    learner = uqf.fit(data[:2], holdout=0.4, discount=0.9)
    assert learner.diagnostics_["chosen"]["learner"] == "BeliefQ"


def test_without_time_the_favourite_is_tried_and_taken(data):
    learner = uqf.fit(data, seconds=0.0)
    assert type(learner) is uqf.BeliefQ
    assert list(learner.diagnostics_["chosen"]["candidates"]) == ["BeliefQ"]


def test_nothing_is_trained_twice(data):
    events = []
    uqf.fit(data, discount=0.9, progress=lambda *event: events.append(event))
    stages = [stage for stage, _ in itertools.groupby(stage.partition(":")[0] for stage, _, _ in events)]
    assert len(stages) == len(set(stages)), "whoever was left is not taken up again"
    assert {"BeliefQ, trial", "BeliefQ, second trial", "ModelQ, play", "ModelQ, second play"} <= set(stages)
    assert not {"ModelQ, trial", "ModelQ, second trial"} & set(stages), "it plans in the models of BeliefQ"


def test_held_out_episodes_are_not_learned_from_before_the_end(data, learner):
    trial = learner.trial_
    assert len(trial.held_out) == 200
    assert sorted(contents(trial.taught) + contents(trial.held_out)) == contents(data)
    candidate = next(one for one in (FAVOURITE, *RIVALS) if one.name == learner.diagnostics_["chosen"]["learner"])
    alone = candidate.make(0.9, 3).fit(trial.taught).policy_
    np.testing.assert_array_equal(behaviour(trial.policy), behaviour(alone))
    again = candidate.make(0.9, 3).fit(data).policy_
    np.testing.assert_array_equal(behaviour(learner.policy_), behaviour(again))
    assert learner.diagnostics_["episodes"] == len(data)


def test_the_seed_fixes_everything(data, learner):
    again, other = (uqf.fit(data, discount=0.9, seed=seed) for seed in (3, 6))
    assert learner.trial_.held_out == again.trial_.held_out
    assert learner.diagnostics_["chosen"] == again.diagnostics_["chosen"]
    assert contents(learner.trial_.held_out) != contents(other.trial_.held_out)


@pytest.mark.parametrize("holdout", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(data, holdout):
    with pytest.raises(ValueError, match=f"holdout = {holdout}: give a share above 0 and below 1"):
        uqf.fit(data, holdout=holdout)


def test_too_few_episodes_are_refused(data):
    with pytest.raises(ValueError, match="1 episodes are too few: 1 would be held out to judge"):
        uqf.fit(data[:1])
    with pytest.raises(ValueError, match="3 episodes are too few: 3 would be held out"):
        uqf.fit(data[:3], holdout=0.9)


@pytest.mark.parametrize("discount", [-0.1, 1.1, float("nan")])
def test_a_discount_that_is_none_is_refused(data, discount):
    with pytest.raises(ValueError, match="discount = "):
        uqf.fit(data, discount=discount)


def test_other_data_are_refused():
    with pytest.raises(TypeError, match="data is a list"):
        uqf.fit([1, 2])


def test_what_was_chosen_can_be_saved_and_evaluated(learner, tmp_path):
    learner.save(tmp_path / "policy")
    np.testing.assert_array_equal(behaviour(uqf.load(tmp_path / "policy")), behaviour(learner.policy_))
    estimate = uqf.ope.evaluate(learner.trial_.policy, learner.trial_.held_out, discount=0.9)
    assert estimate.episodes == 200
