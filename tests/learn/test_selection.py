"""Choosing from data alone, and the estimator's contract."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from uqf.learn.along import propensities

import uqf
from uqf.learn.gain import Baseline, gain, policy_gain


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("gridworld-near"), episodes=150, seed=3)


def test_the_gain_of_the_behaviour_itself_is_zero(data):
    own = gain(propensities(data), np.ones(data.n_steps), data)
    assert (own.mean, own.stderr, own.evidence) == (0.0, 0.0, 0.0)
    assert policy_gain(None, Baseline.of(data, 0.99), data).mean == pytest.approx(0.0, abs=1e-12)


def test_the_gain_ranks_a_good_policy_above_a_bad_one(data):
    env = uqf.make("gridworld-near")
    good = uqf.WFA.from_pomdp(env.tabular()).discounted(0.99).policy(4, 5)
    baseline = Baseline.of(data, 0.99)
    held_out = uqf.rollout(env, episodes=400, seed=9)
    always_up = uqf.TablePolicy(np.tile([1.0, 0, 0, 0], (21, 1)), 5)
    better, worse = (policy_gain(policy, baseline, held_out) for policy in (good, always_up))
    assert better.mean - worse.mean > 4 * np.hypot(better.stderr, worse.stderr)
    assert better.evidence > 2


def test_select_shares_passes_between_ranks_and_finds_the_same_policies(data):
    learner = uqf.UQF(discount=0.95, max_prefix=2, max_suffix=2)
    search = uqf.select(learner, data, {"rank": [2, 5, 10_000], "occurrences": ["anywhere"]}, folds=2, seed=1)
    assert [row["rank"] for row in search.table][-1] == 10_000
    assert "exceeds" in search.table[-1]["problem"]
    alone = uqf.select(learner, data, {"rank": [5], "occurrences": ["anywhere"]}, folds=2, seed=1)
    (shared,) = [row for row in search.table if row["rank"] == 5]
    assert shared["gain"] == pytest.approx(alone.table[0]["gain"], rel=1e-6)
    assert search.best_learner.rank == search.table[0]["rank"]
    assert hasattr(search.best_learner, "policy_")


def test_select_tries_memories(data):
    search = uqf.select(
        uqf.UQF(discount=0.95, depth=2), data, {"memory": ["contexts"], "depth": [1, 2]}, folds=2
    )
    assert {row["depth"] for row in search.table} == {1, 2}


@pytest.mark.parametrize(
    ("grid", "folds", "message"), [({}, 2, "grid"), ({"rank": []}, 2, "grid"), ({"rank": [2]}, 1, "folds")]
)
def test_select_refuses(data, grid, folds, message):
    with pytest.raises(ValueError, match=message):
        uqf.select(uqf.UQF(), data, grid, folds=folds)


def test_every_setting_refused_is_an_error(data):
    with pytest.raises(uqf.UQFError, match="every setting"):
        uqf.select(uqf.UQF.paper(max_prefix=1, max_suffix=1), data, {"rank": [10_000]}, folds=2)


def test_grid_search_and_clone(data):
    search = GridSearchCV(uqf.UQF(memory="contexts", discount=0.95), {"depth": [1, 2]}, cv=2).fit(data)
    assert search.best_params_["depth"] in (1, 2)
    learner = uqf.UQF(memory="contexts", depth=2)
    assert clone(learner).get_params() == learner.get_params()


def test_default_memory_follows_the_parameters():
    assert uqf.UQF()._memory() == "beliefs"
    for parameters in ({"rank": 3}, {"projection": "hashed"}, {"target": "reward"}, {"occurrences": "start"}):
        assert uqf.UQF(**parameters)._memory() == "spectral"


@pytest.mark.parametrize("memory", ["beliefs", "contexts", "spectral"])
def test_every_memory_predicts_saves_and_tells(memory, data, tmp_path):
    learner = uqf.UQF(
        discount=0.95, memory=memory, states=10, models=1, iterations=5, max_prefix=1, max_suffix=1
    )
    learner.fit(data)
    assert learner.diagnostics_["memory"] == memory
    assert learner.decision_function([[], [(0, 2), (1, 1)]]).shape == (2, 4)
    assert set(learner.predict([[], [(3, 2)]])) <= set(range(4))
    assert len(learner.singular_values_) > 0
    learner.save(tmp_path / "policy.safetensors")
    env, loaded = uqf.make("gridworld-near"), uqf.load(tmp_path / "policy.safetensors")
    scores = [uqf.estimate_return(env, policy, episodes=50).returns for policy in (learner.policy_, loaded)]
    np.testing.assert_array_equal(*scores)
    assert uqf.inspect_model(tmp_path / "policy.safetensors").settings["memory"] == memory


def test_belief_automata_are_probabilities_and_values(data):
    learner = uqf.UQF(discount=0.95, states=10, models=1, iterations=10).fit(data)
    assert learner.wfa_(()) == pytest.approx(1.0, abs=1e-5)
    one_step = learner.wfa_.values([(symbol,) for symbol in range(20)]).sum()
    assert 0.9 < one_step <= 1.0 + 1e-5
    assert learner.value_wfa_(()) == pytest.approx(data.returns(0.95).mean(), abs=0.15)


def test_unfitted_and_foreign_input():
    with pytest.raises(ValueError, match="not fitted"):
        uqf.UQF().predict([[]])
    with pytest.raises(TypeError, match="Trajectories"):
        uqf.UQF().fit([[1, 2]])
