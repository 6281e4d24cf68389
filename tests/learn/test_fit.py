"""The front door: the favourite unless another is clearly better, planned or not, refitted to all episodes."""

import numpy as np
import pytest
from sklearn.base import clone

import uqf
from random_policies import behaviour
from uqf.learn import fit as front_door
from uqf.learn.fit import Candidate
from uqf.learn.gain import Baseline, policy_gain
from uqf.learn.markov_test import Finding, MarkovTest
from uqf.learn.rehearsal import Rehearsal


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=120, seed=0)


@pytest.fixture
def small(monkeypatch):
    """The same learners, quicker."""
    candidates = [
        Candidate(lambda discount, seed: uqf.ContextQ(discount)),
        Candidate(lambda discount, seed: uqf.BeliefQ(discount, states=4, models=1, seed=seed)),
    ]
    monkeypatch.setattr(front_door, "CANDIDATES", candidates)
    return candidates


def contents(data):
    """The episodes as a list of what can be compared, in a fixed order."""
    return sorted(
        (episode.history, episode.rewards.tolist(), episode.behavior_probs.tolist(), episode.terminated)
        for episode in data
    )


def test_the_learners_of_the_package_are_tried_the_quickest_first(data):
    learner = uqf.fit(data, discount=0.95)
    chosen = learner.diagnostics_["chosen"]
    assert list(chosen["candidates"]) == ["ContextQ", "SpectralQ", "BeliefQ", "ModelQ"]
    assert type(learner).__name__ == chosen["learner"]
    assert learner.discount == 0.95


def test_gains_are_those_on_held_out_episodes_and_the_choice_says_why(data, small):
    learner = uqf.fit(data, discount=0.9, holdout=0.3, seed=3)
    chosen, trial = learner.diagnostics_["chosen"], learner.trial_
    assert (len(trial.taught), len(trial.held_out)) == (84, 36)
    baseline = Baseline.of(trial.taught, 0.9)
    assert list(chosen["candidates"]) == ["ContextQ", "BeliefQ", "ModelQ"]
    for candidate, (name, row) in zip(small, chosen["candidates"].items(), strict=False):
        fitted = candidate.make(0.9, 3).fit(trial.taught)
        gain = policy_gain(fitted.policy_, baseline, trial.held_out)
        assert (name, row) == (type(fitted).__name__, {"gain": gain.mean, "stderr": gain.stderr})
    best = chosen["learner"]
    assert type(learner).__name__ == best != "ModelQ"
    row = chosen["candidates"][best]
    assert chosen["why"].startswith(
        f"{best} gains {row['gain']:.4g} ± {row['stderr']:.2g} an episode on 36 held-out"
    )


@pytest.mark.parametrize("better", ["ContextQ", "BeliefQ"])
def test_either_learner_can_win(data, small, better, monkeypatch):
    gains = {"ContextQ": 1.0, "BeliefQ": 1.0} | {better: 2.0}

    def judged(policy, baseline, judges):
        name = "ContextQ" if isinstance(policy, uqf.ContextPolicy) else "BeliefQ"
        return front_door.Gain(gains[name] + np.random.default_rng(len(name)).normal(size=len(judges)))

    monkeypatch.setattr(front_door, "policy_gain", judged)
    monkeypatch.setattr(front_door, "rehearse", lambda *told: Rehearsal(np.zeros(0)))
    assert type(uqf.fit(data)).__name__ == better


def test_the_favourite_stays_unless_another_is_clearly_better(data, small, monkeypatch):
    def judged(policy, baseline, judges):
        ahead = isinstance(policy, uqf.ContextPolicy)
        return front_door.Gain(
            0.1 * ahead + np.random.default_rng(int(ahead)).permutation(np.arange(len(judges)))
        )

    monkeypatch.setattr(front_door, "policy_gain", judged)
    monkeypatch.setattr(front_door, "rehearse", lambda *told: Rehearsal(np.zeros(0)))
    told = uqf.fit(data).diagnostics_["chosen"]
    assert told["candidates"]["ContextQ"]["gain"] > told["candidates"]["BeliefQ"]["gain"]
    assert told["learner"] == "BeliefQ"


@pytest.mark.parametrize("won", [True, False])
def test_a_plan_is_taken_if_its_rehearsal_convinces(data, small, monkeypatch, won):
    differences = np.array([1.0, 1.1, 0.9, 1.0]) - 1.05 * (not won)
    monkeypatch.setattr(front_door, "rehearse", lambda *told: Rehearsal(differences))
    del small[0]
    learner = uqf.fit(data, discount=0.9)
    told = learner.diagnostics_["chosen"]
    assert told["learner"] == ("ModelQ" if won else "BeliefQ")
    assert type(learner) is (uqf.ModelQ if won else uqf.BeliefQ)
    assert told["candidates"]["ModelQ"]["won"] == (4 if won else 1)
    assert ("earns more in all 4 models of other episodes" in told["why"]) is won


def test_few_episodes_are_not_rehearsed(data, small):
    assert "ModelQ" not in uqf.fit(data[:30]).diagnostics_["chosen"]["candidates"]


def test_held_out_episodes_teach_the_trial_nothing(data, small):
    learner = uqf.fit(data, discount=0.9, seed=1)
    trial = learner.trial_
    assert len(trial.held_out) == 60
    assert sorted(contents(trial.taught) + contents(trial.held_out)) == contents(data)
    alone = clone(learner).fit(trial.taught).policy_
    np.testing.assert_array_equal(behaviour(trial.policy), behaviour(alone))


def test_the_policy_is_taught_by_all_episodes(data, small):
    learner = uqf.fit(data, discount=0.9)
    # What was chosen from few steps is chosen anew from all; from many steps on it is kept.
    np.testing.assert_array_equal(behaviour(learner.policy_), behaviour(clone(learner).fit(data).policy_))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(front_door, "MIN_KEPT", 0)
        kept, judged = uqf.fit(data, discount=0.9), clone(learner).fit(learner.trial_.taught)
        np.testing.assert_array_equal(behaviour(kept.policy_), behaviour(judged.refit(data).policy_))
    assert learner.diagnostics_["episodes"] == len(data)
    assert np.abs(behaviour(learner.policy_) - behaviour(learner.trial_.policy)).max() > 0.0


def test_the_seed_fixes_everything(data, small):
    one, again, other = (uqf.fit(data, seed=seed) for seed in (5, 5, 6))
    assert one.trial_.held_out == again.trial_.held_out
    assert one.diagnostics_["chosen"] == again.diagnostics_["chosen"]
    assert contents(one.trial_.held_out) != contents(other.trial_.held_out)


def test_without_time_only_the_first_learner_is_tried(data, small):
    learner = uqf.fit(data, seconds=0.0)
    assert type(learner) is uqf.ContextQ
    assert len(learner.diagnostics_["chosen"]["candidates"]) == 1
    assert len(uqf.fit(data, seconds=1e6).diagnostics_["chosen"]["candidates"]) == 3


def test_progress_names_the_learner_and_whether_it_is_a_trial(data, small):
    told = []
    del small[0]
    uqf.fit(data, progress=told.append)
    stages = list(dict.fromkeys(progress.stage for progress in told))
    learning = ["reading", "choosing", "training", "values", "advantages", "second sweep"]
    trial = ["BeliefQ, trial", *(f"BeliefQ, trial: {stage}" for stage in learning)]
    rehearsal = ["rehearsal", *(f"rehearsal: {stage}" for stage in learning)]
    final = ["BeliefQ", *(f"BeliefQ: {stage}" for stage in learning)]
    assert stages == ["reading", *trial, *rehearsal, *final]


def test_a_learner_that_the_data_refuse_is_told_and_not_taken(data, small):
    small.append(Candidate(lambda discount, seed: uqf.UQF(10_000, discount)))
    learner = uqf.fit(data)
    assert type(learner) is not uqf.UQF
    refused = learner.diagnostics_["chosen"]["candidates"]["UQF"]
    assert "rank 10000 exceeds" in refused["problem"]


def test_where_observations_are_states_a_planner_is_taken_unless_the_data_refuse_it(data, small, monkeypatch):
    doubt = Finding("the time", "rewards", gain=0.0, stderr=0.001)
    monkeypatch.setattr(front_door, "tested", lambda data, seed: MarkovTest(True, 1.0, (doubt,)))
    small.insert(0, Candidate(lambda discount, seed: uqf.TableQ(discount), plans_on_observations=True))
    learner = uqf.fit(data)
    assert type(learner) is uqf.TableQ
    assert list(learner.diagnostics_["chosen"]["candidates"]) == ["TableQ", "ContextQ"]
    assert learner.diagnostics_["chosen"]["why"].startswith("TableQ plans on observations")
    small[0] = Candidate(lambda discount, seed: uqf.UQF(10_000, discount), plans_on_observations=True)
    other = uqf.fit(data)
    assert type(other) is uqf.ContextQ
    assert other.diagnostics_["chosen"]["why"].startswith("ContextQ gains")


def test_every_learner_refused_is_an_error(data, small):
    small[:] = [Candidate(lambda discount, seed: uqf.UQF(10_000, discount))]
    with pytest.raises(uqf.UQFError, match="every learner was refused; the first said: rank 10000 exceeds"):
        uqf.fit(data)


def test_a_learner_that_registers_takes_part(data, small):
    small[:] = [Candidate(lambda discount, seed: uqf.UQF(3, discount))]
    assert type(uqf.fit(data)) is uqf.UQF


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


def test_what_was_chosen_can_be_saved_and_evaluated(data, small, tmp_path):
    learner = uqf.fit(data, discount=0.9)
    learner.save(tmp_path / "policy")
    np.testing.assert_array_equal(behaviour(uqf.load(tmp_path / "policy")), behaviour(learner.policy_))
    estimate = uqf.ope.evaluate(learner.trial_.policy, learner.trial_.held_out, discount=0.9)
    assert estimate.episodes == 60
