"""What all learners share: scikit-learn's conventions, parameters that count, errors before fitting."""

import inspect
import pickle
from dataclasses import replace

import joblib
import numpy as np
import pytest
import sklearn.exceptions
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import uqf
from random_policies import random_automaton
from uqf.baselines import TPSR, FittedQ, MemorylessQ
from uqf.learn.memory.hidden import Growth
from uqf.learn.model_q import ModelSettings

QUICK = ModelSettings(models=2, played=50, growth=Growth(states=8, first=4, explore=5, settle=5))
#: Plans, even where one action for ever earns as much: it has no planner and no temperature.
PLANS = {"settings": replace(QUICK, constant=False)}

OURS = {
    "UQF": lambda: uqf.UQF(3, 0.9, max_prefix=2, max_suffix=2),
    "BeliefQ": lambda: uqf.BeliefQ(0.9, states=4, models=1),
    "ContextQ": lambda: uqf.ContextQ(0.9),
    "SpectralQ": lambda: uqf.SpectralQ(0.9, rank=7, rounds=1),
    "SummaryQ": lambda: uqf.SummaryQ(0.9, view="recent"),
    "TableQ": lambda: uqf.TableQ(0.9),
    "ModelQ": lambda: uqf.ModelQ(0.9, settings=QUICK),
}
ALL = OURS | {
    "MemorylessQ": MemorylessQ,
    "FittedQ": lambda: FittedQ(iterations=2, trees=2),
    "TPSR": lambda: TPSR(2),
}
WITH_VALUES = [name for name in ALL if name != "TPSR"]

our_learners = pytest.mark.parametrize("name", OURS)
every_learner = pytest.mark.parametrize("name", ALL)


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=120, seed=0)


def same_policy(one, other):
    """Whether two policies are made of the same parts."""
    mine, theirs = one.parts(), other.parts()
    return mine.keys() == theirs.keys() and all(
        np.array_equal(part, theirs[name])
        if not isinstance(part, tuple)
        else isinstance(theirs[name], tuple) and part[1] == theirs[name][1]
        for name, part in mine.items()
    )


@every_learner
@pytest.mark.parametrize("method", ["predict", "decision_function", "score", "save"])
def test_a_learner_that_is_asked_too_early_says_so(name, method, data, tmp_path):
    arguments = {"score": data, "save": tmp_path / "policy"}
    for kind in (uqf.NotFittedError, sklearn.exceptions.NotFittedError, uqf.UQFError):
        with pytest.raises(kind):
            getattr(ALL[name](), method)(arguments.get(method, [[]]))
    assert not (tmp_path / "policy").exists()


@every_learner
def test_scikit_learn_sees_whether_a_learner_is_fitted(name, data):
    learner = ALL[name]()
    with pytest.raises(sklearn.exceptions.NotFittedError):
        check_is_fitted(learner)
    check_is_fitted(learner.fit(data))
    assert learner.n_features_in_ == data.n_symbols


@every_learner
def test_other_data_than_episodes_are_refused(name):
    with pytest.raises(TypeError):
        ALL[name]().fit(3)


@pytest.mark.parametrize("name", WITH_VALUES)
@pytest.mark.parametrize("discount", [-0.1, 1.5, float("nan")])
def test_a_discount_outside_the_unit_interval_is_refused_by_name(name, discount, data):
    with pytest.raises(ValueError):
        ALL[name]().set_params(discount=discount).fit(data)


@pytest.mark.parametrize("name", WITH_VALUES)
def test_predictions_before_every_step_are_those_after_every_history(name, data):
    learner = ALL[name]().fit(data)
    few = data[:10]
    histories = [episode.history[:step] for episode in few for step in range(len(episode.history))]
    values = learner.decision_function(few)
    assert values.shape == (few.n_steps, data.n_actions)
    np.testing.assert_allclose(values, learner.decision_function(histories), rtol=1e-9, atol=1e-12)
    actions = learner.predict(few)
    assert actions.shape == (few.n_steps,)
    np.testing.assert_array_equal(actions, learner.predict(histories))
    np.testing.assert_array_equal(actions, values.argmax(axis=1))


@pytest.mark.parametrize("name", WITH_VALUES)
def test_a_learner_saves_its_policy_and_its_settings(name, data, tmp_path):
    learner = ALL[name]().fit(data)
    learner.save(tmp_path / "policy")
    assert same_policy(uqf.load(tmp_path / "policy"), learner.policy_)
    settings = uqf.inspect_policy(tmp_path / "policy").settings
    assert settings["learner"] == name
    assert settings["discount"] == learner.discount


@pytest.mark.parametrize("name", WITH_VALUES)
def test_diagnostics_name_the_learner_and_hold_notes(name, data):
    told = ALL[name]().fit(data).diagnostics_
    assert told["learner"] == name
    assert isinstance(told["notes"], list)


@our_learners
def test_automata_and_singular_values_belong_to_the_spectral_method_alone(name, data):
    learner = OURS[name]().fit(data)
    spectral = ["wfa_", "value_wfa_", "singular_values_"]
    assert [one for one in spectral if hasattr(learner, one)] == (spectral if name == "UQF" else [])


@every_learner
def test_a_clone_is_unfitted_and_has_the_same_parameters(name, data):
    learner = ALL[name]().fit(data)
    copy = clone(learner)
    assert not hasattr(copy, "policy_")
    assert str(copy.get_params()) == str(learner.get_params())
    assert same_policy(copy.fit(data).policy_, learner.policy_)


@every_learner
def test_fitting_again_gives_the_same_policy(name, data):
    learner = ALL[name]()
    first = learner.fit(data).policy_
    learner.fit(data[:60])
    assert same_policy(learner.fit(data).policy_, first)


@our_learners
def test_pickle_and_joblib_keep_what_was_learned(name, data, tmp_path):
    learner = OURS[name]().fit(data)
    joblib.dump(learner, tmp_path / "learner")
    for copy in (pickle.loads(pickle.dumps(learner)), joblib.load(tmp_path / "learner")):
        assert same_policy(copy.policy_, learner.policy_)
        assert copy.score(data) == learner.score(data)
        assert copy.get_params() == learner.get_params()


@pytest.mark.parametrize(
    ("name", "grid"),
    [("UQF", {"rank": [2, 3]}), ("BeliefQ", {"states": [2, 4]}), ("ContextQ", {"depth": [1, 2]})],
)
def test_scikit_learn_searches_and_validates(name, grid, data):
    search = GridSearchCV(OURS[name](), grid, cv=2).fit(data)
    (parameter,) = grid
    assert search.best_params_[parameter] in grid[parameter]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(data[:3]).shape == (data[:3].n_steps,)
    assert np.isfinite(cross_val_score(OURS[name](), data, cv=2)).all()


@our_learners
def test_a_pipeline_fits_predicts_and_scores(name, data):
    alone = OURS[name]().fit(data)
    pipeline = Pipeline([("nothing", "passthrough"), ("learner", OURS[name]())]).fit(data)
    np.testing.assert_array_equal(pipeline.predict(data), alone.predict(data))
    assert pipeline.score(data) == alone.score(data)
    pipeline.set_params(learner__discount=0.5).fit(data)
    assert not same_policy(pipeline["learner"].policy_, alone.policy_)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (uqf.ContextQ, {"rank": 3}),
        (uqf.ContextQ, {"seed": 0}),
        (uqf.BeliefQ, {"iterations": 3}),
        (uqf.BeliefQ, {"window": 3}),
        (uqf.UQF, {"states": 3}),
        (uqf.UQF, {"memory": "beliefs"}),
        (uqf.UQF, {"learning_discount": 0.9}),
    ],
)
def test_a_parameter_of_another_learner_is_refused(kind, parameters):
    with pytest.raises(TypeError):
        kind(**parameters)
    with pytest.raises(ValueError):
        kind().set_params(**parameters)


HASHED = {"projection": "hashed"}
#: For every parameter: what else is set, and two values that must make a difference.
CHANGES = {
    uqf.UQF: {
        "rank": ({}, 2, 3),
        "discount": ({}, 0.9, 0.3),
        "target": ({}, "reward", "return"),
        "occurrences": ({}, "anywhere", "start"),
        "max_prefix": ({}, 1, 2),
        "max_suffix": ({}, 1, 2),
        "n_prefixes": ({}, 5, None),
        "n_suffixes": ({}, 5, None),
        "projection": ({}, "hashed", "gaussian"),
        "prefix_dim": (HASHED, 20, 30),
        "suffix_dim": (HASHED, 20, 30),
        "seed": (HASHED, 0, 1),
        "offset": ({"target": "return"}, 0.0, 5.0),
        "window": ({}, None, 3),
        "temperature": ({}, 0.0, 0.5),
        "on_divergence": ({"rank": 25, "occurrences": "start"}, "horizon", "shrink"),
        "behavior": ({}, None, (random_automaton(3, 2), 0.5)),
    },
    uqf.BeliefQ: {
        "discount": ({}, 0.9, 0.3),
        "states": ({}, 2, 3),
        "models": ({}, 1, 2),
        "learning_discount": ({}, 0.3, 0.9),
        "temperature": ({}, None, 0.5),
        "seed": ({}, 0, 1),
    },
    uqf.ContextQ: {
        "discount": ({}, 0.9, 0.3),
        "depth": ({}, 1, 3),
        "learning_discount": ({}, 0.3, 0.9),
        "temperature": ({}, None, 0.5),
    },
    uqf.SpectralQ: {
        "discount": ({}, 0.9, 0.3),
        "rank": ({}, 3, 7),
        "rounds": ({}, 1, 2),
        "learning_discount": ({}, 0.3, 0.9),
        "temperature": ({}, None, 0.5),
    },
    uqf.SummaryQ: {
        "discount": ({}, 0.9, 0.3),
        "view": ({}, "now", "recent"),
        "seed": ({}, 0, 1),
    },
    uqf.TableQ: {"discount": ({}, 0.9, 0.3), "temperature": ({}, 0.0, 0.5)},
    uqf.ModelQ: {
        "discount": ({}, 0.9, 0.3),
        "model": ({}, None, "noisy"),
        "planner": (PLANS, None, "qmdp"),
        "temperature": (PLANS, 0.0, 0.5),
        "seed": ({}, 0, 1),
        "settings": ({}, QUICK, replace(QUICK, steps=300)),
    },
}
USUAL = {
    uqf.UQF: {"rank": 3, "max_prefix": 2, "max_suffix": 2},
    uqf.BeliefQ: {"states": 4, "models": 1},
    uqf.ContextQ: {},
    uqf.SpectralQ: {"rank": 7, "rounds": 1},
    uqf.SummaryQ: {"view": "recent"},
    uqf.TableQ: {},
    uqf.ModelQ: {"settings": QUICK},
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in CHANGES for name in CHANGES[kind]])
def test_every_parameter_makes_a_difference(kind, name, data):
    others, first, second = CHANGES[kind][name]
    one, two = (kind(**(USUAL[kind] | others | {name: value})).fit(data).policy_ for value in (first, second))
    assert not same_policy(one, two)


@pytest.mark.parametrize("kind", CHANGES)
def test_no_parameter_was_left_out_above(kind):
    """`threads` must make no difference, and `forgetting` makes one only where days are added."""
    parameters = set(inspect.signature(kind).parameters) - {"threads", "forgetting"}
    assert parameters == CHANGES[kind].keys()


def test_a_window_makes_a_policy_that_looks_no_further_back(data):
    policy = uqf.UQF(3, window=3).fit(data).policy_
    assert isinstance(policy, uqf.AutomatonPolicy)
    assert policy.parts()["window"] == 3
    assert "window 3" in repr(policy)


def test_fitted_q_takes_the_spectral_state(data):
    learner = FittedQ(uqf.UQF(4), iterations=3, trees=3).fit(data)
    assert isinstance(learner.policy_.parts()["automaton"], uqf.AutomatonPolicy)
    assert "over 4 features" in repr(learner.policy_)
    played = uqf.rollout(uqf.make("tiger"), learner.policy_, episodes=5)
    assert (played.behavior_probs > 0).all()
