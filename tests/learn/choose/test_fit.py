"""The front door: which learner is taken in worlds with known answers, what it says, and what it promises."""

import itertools

import numpy as np
import pytest

import uqf
from mazes import corridor, grid_4x3
from random_policies import behaviour
from uqf.learn.choose import fit as front_door
from uqf.learn.choose.candidates import FAVOURITE, PLANNER, RIVALS, Candidate, Settings
from uqf.learn.choose.comparison import Comparison, Result
from uqf.learn.choose.fit import challenged
from uqf.learn.improve.gain import Gain
from uqf.reading.progress import Reporter

NAMES = [FAVOURITE.name, *(one.name for one in RIVALS), PLANNER.name]
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


OTHER, TABLE = (next(one for one in RIVALS if one.on_observations == kind) for kind in (False, True))
PLAN = PLANNER


def taken(*results):
    """The name of who holds the place after all of these, the favourite first."""
    holder = None
    for result in results:
        holder, _ = challenged(holder, result, Settings())
    return holder.candidate.name if holder is not None else None


def test_the_favourite_stays_unless_a_gain_is_larger_by_two_standard_errors():
    favourite = Result(FAVOURITE, gains(9.0, 9.0))
    assert taken(favourite) == "BeliefQ"
    close, clear = (Result(OTHER, gains(mean, 9.0, seed=1)) for mean in (11.0, 13.0))
    assert taken(favourite, close) == "BeliefQ", "the difference has an error of about 1.4"
    assert taken(favourite, clear) == OTHER.name
    assert taken(favourite, Result(OTHER, gains(9.3, 9.0))) == OTHER.name, "more by as much in every episode"
    assert taken(favourite, Result(OTHER, gains(9.1, 9.0))) == "BeliefQ", (
        "certain, but a hundredth of the gain"
    )
    assert taken(favourite, Result(OTHER, problem="refused")) == "BeliefQ"


def test_a_gain_on_one_episode_says_nothing():
    one, other = ((Gain(np.array([mean])),) * 2 for mean in (9.0, 90.0))
    assert taken(Result(FAVOURITE, one), Result(OTHER, other)) == "BeliefQ"


def test_the_shorter_discount_decides_where_no_gain_is_seen():
    assert taken(Result(FAVOURITE, gains(1.0, 1.0)), Result(OTHER, gains(1.0, 9.0, seed=1))) == OTHER.name
    assert taken(Result(FAVOURITE, gains(9.0, 1.0)), Result(OTHER, gains(9.0, 9.0, seed=1))) == "BeliefQ"


@pytest.mark.parametrize(
    ("more", "wins"),
    [
        ([1.0, 1.1, 0.9, 1.0], True),
        ([1.0, 1.0, 1.0, 1.0], True),  # certain
        ([5.0, 0.1, 0.1, 0.1], False),  # one model says all
        ([1.0], False),  # one model has no error
        ([0.0, 0.0], False),
        ([-1.0, -1.0], False),
    ],
)
def test_a_plan_takes_the_place_if_it_earns_more_in_models_by_two_standard_errors(more, wins):
    favourite = Result(FAVOURITE, gains(9.0, 9.0), np.zeros(len(more)))
    plan = Result(PLAN, gains(0.0, 0.0, seed=1), np.array(more))
    assert taken(favourite, plan) == (PLAN.name if wins else "BeliefQ")
    _, told = challenged(favourite, plan, Settings())
    assert told.as_dict()["difference"] == pytest.approx(np.mean(more))


@pytest.mark.parametrize(("more", "wins"), [([0.0, 0.0], True), ([-1.0, 0.5], True), ([-1.0, -1.1], False)])
def test_where_observations_are_states_a_plan_on_them_must_only_not_be_clearly_worse(more, wins):
    favourite = Result(FAVOURITE, gains(9.0, 9.0), np.zeros(2))
    assert taken(favourite, Result(TABLE, gains(0.0, 0.0), np.array(more))) == (
        TABLE.name if wins else "BeliefQ"
    )


def test_a_plan_that_cannot_be_played_is_compared_by_its_gain():
    favourite = Result(FAVOURITE, gains(9.0, 9.0))
    assert taken(favourite, Result(PLAN, gains(13.0, 0.0, seed=1))) == PLAN.name
    assert taken(favourite, Result(PLAN, gains(9.0, 0.0, seed=1))) == "BeliefQ"


def test_the_place_of_a_refused_favourite_goes_to_the_first_that_is_not_refused():
    refused = Result(FAVOURITE, problem="why")
    assert taken(refused, Result(OTHER, gains(-1.0, -1.0)), Result(PLAN, gains(-1.0, -1.0))) == OTHER.name
    assert taken(refused) is None


# Worlds with known answers.


def earned(world, learner, **options):
    return uqf.estimate_return(world, learner.policy_, episodes=500, seed=1, **options).mean


def test_a_plan_is_taken_where_one_step_of_improvement_is_not_enough():
    world = grid_4x3()
    learner = uqf.fit(uqf.rollout(world, episodes=600, horizon=30, seed=1), discount=0.95, seed=1)
    told = learner.diagnostics_["chosen"]
    assert type(learner) is uqf.ModelQ and told["learner"] == "ModelQ", told["why"]
    assert told["why"].startswith(
        "ModelQ plans ahead: in 5 learned models that did not make the plan it earned"
    )
    row = told["candidates"]["ModelQ"]
    assert row["difference"] > 0.0 and row["evidence"] > Settings().evidence
    assert row["gain"] is None, "it is not judged by changing one action at a time"
    assert "not known to be a state" in told["candidates"]["TableQ"]["problem"]


def test_where_the_last_observation_is_a_state_memories_are_not_compared_and_few_episodes_suffice_to_plan():
    learner = uqf.fit(uqf.rollout(corridor(0.0), episodes=150, seed=0), discount=0.9)
    told = learner.diagnostics_["chosen"]["candidates"]
    assert learner.diagnostics_["markov_test"]["markov"]
    assert "nothing else need be remembered" in told["ContextQ"]["problem"]
    assert told["TableQ"]["problem"] is None and told["TableQ"]["difference"] is not None


def test_models_of_few_episodes_judge_no_plan():
    """In the far grid world plans of 50 episodes that win in all models of 50 others are useless."""
    data = uqf.rollout(uqf.make("gridworld-far"), episodes=100, seed=0)
    told = uqf.fit(data).diagnostics_["chosen"]["candidates"]["ModelQ"]
    assert told["problem"] == "100 episodes: models of fewer than 200 are wrong in the same way"


def test_models_that_remember_no_more_than_the_last_observation_judge_no_plan():
    """In S-PocMan a plan wins in all models, by up to ten standard errors, and earns -90 where `BeliefQ` earns 0."""
    learner = uqf.fit(uqf.rollout(uqf.make("spocman"), episodes=300, seed=0), discount=0.95)
    told = learner.diagnostics_["chosen"]["candidates"]["ModelQ"]
    assert "observations: models of 96 states, fewer than 2 for each, remember hardly more" in told["problem"]
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


def test_what_was_shown_four_steps_ago_is_remembered():
    rng = np.random.default_rng(0)
    seen, actions = rng.integers(3, size=(400, 16)), rng.integers(3, size=(400, 16))
    rewards = np.zeros((400, 16))
    rewards[:, 4:] = actions[:, 4:] == seen[:, :-4]
    told = uqf.fit(steps_of(actions, seen, rewards, 3)).diagnostics_["chosen"]
    assert (
        told["learner"] == "SummaryQ" and "more than BeliefQ in each of 400 held-out episodes" in told["why"]
    )
    assert "whose models must miss something" in told["candidates"]["TableQ"]["problem"]
    missed = told["candidates"]["ModelQ"]["problem"]
    assert missed.startswith(
        "its model misses what SummaryQ remembers: improving the log on its beliefs gains"
    )


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
        judged = row["evidence" if name == "ModelQ" else "gain"] is not None
        assert judged == (row["problem"] is None), name
    assert type(learner).__name__ == told["learner"] and learner.discount == 0.9
    assert told["candidates"]["BeliefQ"]["evidence"] is None, "it challenges nobody"


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
    assert "in each of 20 held-out episodes" in tenth.diagnostics_["chosen"]["why"]


def test_two_episodes_suffice_and_one_of_them_says_nothing(data):
    learner = uqf.fit(data[:2], holdout=0.4, discount=0.9)
    assert learner.diagnostics_["chosen"]["learner"] == "BeliefQ"


def test_without_time_the_favourite_is_tried_and_taken(data):
    learner = uqf.fit(data, seconds=0.0)
    assert type(learner) is uqf.BeliefQ
    told = learner.diagnostics_["chosen"]["candidates"]
    assert list(told) == ["BeliefQ", "ModelQ"]
    assert told["ModelQ"]["problem"] == "no time is left of 0 seconds"


def test_the_data_may_refuse_the_favourite_and_everybody(data, monkeypatch):
    """Whoever is left is taken; nobody is judged in models that there are not."""

    def impossible(discount, seed):
        return uqf.UQF(10_000, discount)

    favourite = Candidate("BeliefQ", impossible)
    monkeypatch.setattr(front_door, "FAVOURITE", favourite)
    learner = uqf.fit(data, discount=0.9, seconds=0.0)
    told = learner.diagnostics_["chosen"]["candidates"]
    assert type(learner) is uqf.ContextQ and list(told) == [*NAMES[:2], "ModelQ"]
    assert "rank 10000 exceeds" in told["BeliefQ"]["problem"] and set(told["BeliefQ"]) == KEYS
    monkeypatch.setattr(front_door, "RIVALS", ())
    with pytest.raises(uqf.UQFError, match="every learner was refused; the first said: rank 10000 exceeds"):
        uqf.fit(data)


def test_a_candidate_that_is_added_takes_part(data, monkeypatch):
    monkeypatch.setattr(
        front_door, "RIVALS", (Candidate("mine", lambda discount, seed: uqf.UQF(3, discount)),)
    )
    told = uqf.fit(data, discount=0.9).diagnostics_["chosen"]["candidates"]
    assert list(told) == ["BeliefQ", "mine", "ModelQ"] and told["mine"]["gain"] is not None


def test_nothing_is_trained_twice(data):
    events = []
    uqf.fit(data, discount=0.9, progress=lambda *event: events.append(event))
    stages = [stage for stage, _ in itertools.groupby(stage for stage, _, _ in events)]
    within = [stage for stage in stages if not stage.endswith("learning")]
    assert len(within) == len(set(within)), "whatever was left is not taken up again"
    trained = [stage for stage in within if stage.startswith("ModelQ") and stage.endswith("training")]
    assert len(trained) == 1, (
        "models to plan in learn from half of the episodes only if the trial is looked at"
    )


def test_held_out_episodes_are_not_learned_from_before_the_end(data, learner):
    trial = learner.trial_
    assert len(trial.held_out) == 200
    assert sorted(contents(trial.taught) + contents(trial.held_out)) == contents(data)
    final, judged = (policy.q_values(policy.initial_state()) for policy in (learner.policy_, trial.policy))
    assert (final != judged).any() and trial.policy is trial.policy
    changed = uqf.fit(uqf.concatenate([trial.taught, trial.held_out]), discount=0.9, seed=3)
    np.testing.assert_array_equal(behaviour(changed.policy_), behaviour(learner.policy_))
    assert learner.diagnostics_["episodes"] == len(data)


def test_the_seed_fixes_everything(data, learner):
    again, other = (uqf.fit(data, discount=0.9, seed=seed) for seed in (3, 6))
    assert learner.trial_.held_out == again.trial_.held_out
    assert learner.diagnostics_["chosen"] == again.diagnostics_["chosen"]
    assert contents(learner.trial_.held_out) != contents(other.trial_.held_out)


def test_what_was_chosen_can_be_saved_and_evaluated(learner, tmp_path):
    learner.save(tmp_path / "policy")
    np.testing.assert_array_equal(behaviour(uqf.load(tmp_path / "policy")), behaviour(learner.policy_))
    estimate = uqf.ope.evaluate(learner.trial_.policy, learner.trial_.held_out, discount=0.9)
    assert estimate.episodes == 200
