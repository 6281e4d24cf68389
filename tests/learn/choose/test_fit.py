"""The front door: the favourite unless another is clearly better, planned or not, refitted to all episodes."""

import numpy as np
import pytest
from sklearn.base import clone

import uqf
from random_policies import behaviour
from uqf.learn.choose import choice, judge, plans
from uqf.learn.choose import fit as front_door
from uqf.learn.choose.belief_halves import BeliefHalves
from uqf.learn.choose.choice import HORIZONS, Candidate, Tried, best, undecided
from uqf.learn.choose.markov_test import Finding, MarkovTest
from uqf.learn.choose.rehearsal import Rehearsal
from uqf.learn.improve.gain import Baseline, Gain, policy_gain

#: What is tried and rehearsed beside the learners that `small` names.
SHORT = "ContextQ, the next reward only"
PLANS = ["ModelQ", "MemorylessQ, one symbol", "MemorylessQ, two symbols"]


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=400, seed=0)


@pytest.fixture
def small(monkeypatch):
    """The same learners, quicker."""
    candidates = [
        Candidate(lambda discount, seed: uqf.ContextQ(discount)),
        Candidate(lambda discount, seed: uqf.BeliefQ(discount, states=4, models=1, seed=seed)),
    ]
    monkeypatch.setattr(front_door, "CANDIDATES", candidates)
    monkeypatch.setattr(plans, "MIN_STATES", 0.0)
    return candidates


def rehearsing(monkeypatch, found):
    """Plans are what they are; this is said of them."""

    def rehearse(beliefs, taken, halves, test, seed):
        return plans.plans_in(beliefs, halves, test)[0], found

    monkeypatch.setattr(front_door, "rehearse", rehearse)


def contents(data):
    """The episodes as a list of what can be compared, in a fixed order."""
    return sorted(
        (episode.history, episode.rewards.tolist(), episode.behavior_probs.tolist(), episode.terminated)
        for episode in data
    )


def test_the_learners_of_the_package_are_tried_the_quickest_first(data):
    learner = uqf.fit(data, discount=0.95)
    chosen = learner.diagnostics_["chosen"]
    assert list(chosen["candidates"]) == ["ContextQ", SHORT, "LagQ", "SpectralQ", "BeliefQ", *PLANS]
    assert type(learner).__name__ == chosen["learner"]
    assert learner.discount == 0.95


def test_gains_are_those_on_held_out_episodes_and_the_choice_says_why(data, small):
    learner = uqf.fit(data, discount=0.9, holdout=0.3, seed=3)
    chosen, trial = learner.diagnostics_["chosen"], learner.trial_
    assert (len(trial.taught), len(trial.held_out)) == (280, 120)
    assert list(chosen["candidates"]) == ["ContextQ", "BeliefQ", *PLANS]
    halves = (trial.taught, trial.held_out)
    taught = {
        "ContextQ": lambda half: small[0].make(0.9, 3).fit(halves[half]),
        "BeliefQ": BeliefHalves(small[1].make(0.9, 3), halves).taught,
    }
    for name, learners in taught.items():
        totals = [
            policy_gain(learners(half).policy_, Baseline.of(halves[half], 0.9), halves[1 - half]).totals
            for half in (0, 1)
        ]
        # One half is enough where it decides.
        found = [Gain(totals[0]), Gain(np.concatenate(totals))]
        told = [{"gain": gain.mean, "stderr": gain.stderr} for gain in found]
        assert chosen["candidates"][name] in told
    taken = chosen["learner"]
    assert type(learner).__name__ == taken != "ModelQ"
    row = chosen["candidates"][taken]
    assert chosen["why"].startswith(f"{taken} gains {row['gain']:.4g} ± {row['stderr']:.2g} an episode on ")


def test_the_other_half_judges_those_that_are_ahead_of_the_favourite():
    def tried(*means):
        return [Tried(str(number), None, gains(mean)) for number, mean in enumerate(means)]

    def twice(*means):
        return [int(one.name) for one in undecided(tried(*means))]

    assert twice(1.0, 5.0, 9.0) == [], (
        "the favourite gains more than each of them, and clearly more than nothing"
    )
    assert twice(1.0, 10.0, 9.0) == [1, 2]
    assert twice(0.0, 1.0, 1.5) == [0, 1, 2], "it is not clear that anything is gained"
    assert undecided([Tried("refused", None, [], "why")]) == []


@pytest.mark.parametrize("few", [True, False])
def test_models_of_few_steps_are_trained_for_longer_before_another_learner_is_preferred(
    data, small, monkeypatch, few
):
    """They earn less than those of the final learner, in which both halves go on."""
    monkeypatch.setattr(judge, "FEW_STEPS", 10**6 if few else 0)
    monkeypatch.setattr(judge, "undecided", list)
    rehearsing(monkeypatch, {})
    monkeypatch.setattr(choice, "MIN_EVIDENCE", 10**6)
    learner = uqf.fit(data, discount=0.9, seed=3)
    halves = BeliefHalves(small[1].make(0.9, 3), (learner.trial_.taught, learner.trial_.held_out))
    expected = (halves.longer() if few else halves).taught(0).policy_
    np.testing.assert_array_equal(behaviour(learner.trial_.policy), behaviour(expected))


def test_a_learner_that_one_half_judged_is_compared_on_that_half():
    ahead, favourite = gains(9.0, episodes=100)[0], gains(9.0, 9.0)[0]
    behind = Gain(favourite.totals[:100] - 0.5)
    assert (
        best([Tried("behind", None, [behind]), Tried("favourite", None, [favourite])])[0].name == "favourite"
    )
    better = Gain(favourite.totals[:100] + 0.5 + 0.01 * ahead.totals)
    assert best([Tried("better", None, [better]), Tried("favourite", None, [favourite])])[0].name == "better"


@pytest.mark.parametrize("better", ["ContextQ", "BeliefQ"])
def test_either_learner_can_win(data, small, better, monkeypatch):
    gains = {"ContextQ": 1.0, "BeliefQ": 1.0} | {better: 2.0}

    def judged(own, taught, half):
        learner = taught(half)
        noise = np.random.default_rng(isinstance(learner, uqf.ContextQ)).normal(
            size=len(own.halves[1 - half])
        )
        return [Gain(gains[type(learner).__name__] + noise)] * 2

    monkeypatch.setattr(judge.Judge, "_gains", judged)
    rehearsing(monkeypatch, {})
    assert type(uqf.fit(data)).__name__ == better


def test_the_favourite_stays_unless_another_is_clearly_better(data, small, monkeypatch):
    def judged(own, taught, half):
        ahead = isinstance(taught(half), uqf.ContextQ)
        episodes = len(own.halves[1 - half])
        return [Gain(0.1 * ahead + np.random.default_rng(int(ahead)).permutation(np.arange(episodes)))] * 2

    monkeypatch.setattr(judge.Judge, "_gains", judged)
    rehearsing(monkeypatch, {})
    told = uqf.fit(data).diagnostics_["chosen"]
    assert told["candidates"]["ContextQ"]["gain"] > told["candidates"]["BeliefQ"]["gain"]
    assert told["learner"] == "BeliefQ"


@pytest.mark.parametrize("won", [True, False])
def test_a_plan_is_taken_if_its_rehearsal_convinces(data, small, monkeypatch, won):
    differences = np.array([1.0, 1.1, 0.9, 1.0]) - 1.05 * (not won)
    rehearsing(monkeypatch, {"ModelQ": Rehearsal(differences)})
    del small[0]
    learner = uqf.fit(data, discount=0.9)
    told = learner.diagnostics_["chosen"]
    assert told["learner"] == ("ModelQ" if won else "BeliefQ")
    assert type(learner) is (uqf.ModelQ if won else uqf.BeliefQ)
    assert told["candidates"]["ModelQ"]["won"] == (4 if won else 1)
    assert ("earns more in all 4 models of other episodes" in told["why"]) is won


def test_nothing_is_rehearsed_in_models_of_few_episodes(data, small):
    few, enough = (uqf.fit(data[:count], discount=0.9) for count in (198, 200))
    assert not set(PLANS) & set(few.diagnostics_["chosen"]["candidates"])
    assert set(PLANS) <= set(enough.diagnostics_["chosen"]["candidates"])


@pytest.mark.parametrize("plan", PLANS)
def test_of_plans_that_convince_the_one_that_earns_most_is_taken(data, small, monkeypatch, plan):
    won = {name: Rehearsal(np.array([1.0, 1.1, 0.9, 1.0]) + (name == plan)) for name in PLANS}
    rehearsing(monkeypatch, won)
    learner = uqf.fit(data, discount=0.9)
    told = learner.diagnostics_["chosen"]
    assert told["learner"] == type(learner).__name__ == plan.partition(",")[0]
    assert told["why"].startswith(f"{plan} plans, and earns more in all 4 models of other episodes: 2 ")
    assert getattr(learner, "k", None) == {PLANS[1]: 1, PLANS[2]: 2}.get(plan)


def gains(*means, episodes=400):
    """By horizon: gains with these means, in standard errors."""
    noise = np.random.default_rng(0).normal(size=episodes)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    return [Gain(noise / np.sqrt(episodes) * np.sqrt(episodes) + mean / np.sqrt(episodes)) for mean in means]


def test_the_longest_horizon_at_which_something_is_gained_decides():
    assert len(HORIZONS) == 2

    def taken(other, favourite):
        noise = np.random.default_rng(1).normal(size=400)
        shaken = [Gain(one.totals + noise) for one in gains(*other)]
        found, horizon = best([Tried("other", [], shaken), Tried("favourite", [], gains(*favourite))])
        return found.name, horizon

    assert taken((0.0, 0.0), (9.0, 0.0)) == ("favourite", 0)
    assert taken((9.0, 0.0), (0.0, 9.0)) == ("other", 0)
    assert taken((0.0, 9.0), (9.0, 0.0)) == ("favourite", 0), "what is far ahead counts where it is seen"
    assert taken((0.0, 9.0), (0.0, 0.0)) == ("other", 1)
    assert taken((0.0, 9.0), (0.0, 9.0)) == ("favourite", 1)
    assert taken((0.0, 0.0), (0.0, 0.0)) == ("favourite", 0), "nothing is seen"


def test_a_bandit_is_played_by_what_the_next_reward_says():
    """Arms are other ones in every episode; later rewards are all noise to the choice of an arm."""
    arms, episodes, steps = 6, 400, 40
    rng = np.random.default_rng(0)
    actions = rng.integers(arms, size=(episodes, steps))
    won = rng.random((episodes, steps)) < np.take_along_axis(rng.random((episodes, arms)), actions, axis=1)
    pulled = uqf.Trajectories(
        actions.ravel(),
        won.ravel().astype(int),
        won.ravel().astype(float),
        np.arange(episodes + 1) * steps,
        n_actions=arms,
        n_observations=2,
    )
    told = uqf.fit(pulled, discount=0.99).diagnostics_["chosen"]
    assert told["why"].startswith(SHORT)


def test_few_episodes_are_not_rehearsed(data, small):
    assert "ModelQ" not in uqf.fit(data[:30]).diagnostics_["chosen"]["candidates"]


def test_held_out_episodes_teach_the_trial_nothing(data, small):
    learner = uqf.fit(data, discount=0.9, seed=1)
    trial = learner.trial_
    assert len(trial.held_out) == 200
    assert sorted(contents(trial.taught) + contents(trial.held_out)) == contents(data)
    alone = BeliefHalves(small[1].make(0.9, 1), (trial.taught, trial.held_out)).taught(0).policy_
    np.testing.assert_array_equal(behaviour(trial.policy), behaviour(alone))


def test_the_policy_is_taught_by_all_episodes(data, small):
    learner = uqf.fit(data, discount=0.9)
    assert learner.diagnostics_["episodes"] == len(data)
    assert np.abs(behaviour(learner.policy_) - behaviour(learner.trial_.policy)).max() > 0.0
    halves = BeliefHalves(clone(learner), (learner.trial_.taught, learner.trial_.held_out))
    halves.models(1)
    again = halves.joined(halves.taught(0)).refit(data)
    np.testing.assert_array_equal(behaviour(learner.policy_), behaviour(again.policy_))


@pytest.mark.parametrize("keeps", [True, False])
def test_what_was_chosen_from_few_steps_is_chosen_anew(data, monkeypatch, keeps):
    monkeypatch.setattr(front_door, "CANDIDATES", [Candidate(lambda discount, seed: uqf.SpectralQ(discount))])
    monkeypatch.setattr(front_door, "MIN_KEPT", 0 if keeps else 10**9)
    learner = uqf.fit(data, discount=0.9)
    trial = clone(learner).fit(learner.trial_.taught)
    expected = trial.refit(data) if keeps else clone(learner).fit(data)
    np.testing.assert_array_equal(behaviour(learner.policy_), behaviour(expected.policy_))


def test_the_seed_fixes_everything(data, small):
    one, again, other = (uqf.fit(data, seed=seed) for seed in (5, 5, 6))
    assert one.trial_.held_out == again.trial_.held_out
    assert one.diagnostics_["chosen"] == again.diagnostics_["chosen"]
    assert contents(one.trial_.held_out) != contents(other.trial_.held_out)


def test_without_time_only_the_first_learner_is_tried(data, small):
    learner = uqf.fit(data, seconds=0.0)
    assert type(learner) is uqf.ContextQ
    assert len(learner.diagnostics_["chosen"]["candidates"]) == 1
    assert len(uqf.fit(data, seconds=1e6).diagnostics_["chosen"]["candidates"]) == 5


def test_progress_names_the_learner_and_whether_it_is_a_trial(data, small, monkeypatch):
    told = []
    monkeypatch.setattr(judge, "undecided", list)
    monkeypatch.setattr(judge, "FEW_STEPS", 0)
    del small[0]
    uqf.fit(data, progress=lambda stage, *_: told.append(stage.partition(":")[0]))
    assert list(dict.fromkeys(told)) == ["reading", "BeliefQ, trial", "BeliefQ, second trial", "BeliefQ"]


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


@pytest.mark.parametrize("half", [0, 1])
def test_models_that_fail_are_told_and_not_rehearsed_in(data, small, monkeypatch, half):
    def models(self, asked):
        if asked == half:
            raise uqf.NumericalError("the models of this half cannot be trained")
        return found(self, asked)

    found = judge.BeliefHalves._begun
    monkeypatch.setattr(judge.BeliefHalves, "_begun", models)
    monkeypatch.setattr(judge, "FEW_STEPS", 0)
    monkeypatch.setattr(judge, "undecided", lambda tried: [one for one in tried if one.gains])
    told = uqf.fit(data, discount=0.9).diagnostics_["chosen"]
    assert told["learner"] == "ContextQ"
    assert told["candidates"]["BeliefQ"] == {"problem": "the models of this half cannot be trained"}
    assert not set(PLANS) & set(told["candidates"])


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
    assert estimate.episodes == 200
