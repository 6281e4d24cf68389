"""Choosing parameters from data alone."""

import numpy as np
import pytest

import uqf
from uqf.baselines import MemorylessQ
from uqf.learn.choose.selection import by_playing


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("gridworld-near"), episodes=60, seed=3)


def test_a_setting_is_judged_alike_alone_and_among_others(data):
    learner = uqf.UQF(discount=0.95, target="return", max_prefix=2, max_suffix=2)
    search = uqf.select(learner, data, {"rank": [2, 5, 10_000], "occurrences": ["anywhere"]}, folds=2, seed=1)
    assert [row["rank"] for row in search.table][-1] == 10_000
    assert "exceeds" in search.table[-1]["problem"]
    alone = uqf.select(learner, data, {"rank": [5], "occurrences": ["anywhere"]}, folds=2, seed=1)
    (shared,) = [row for row in search.table if row["rank"] == 5]
    assert shared["gain"] == pytest.approx(alone.table[0]["gain"], rel=1e-6)
    assert search.best_learner.rank == search.table[0]["rank"]


def test_the_spectral_learner_is_returned_with_the_chosen_rank(data):
    search = uqf.select(uqf.UQF(), data, {"rank": [3, 5]}, folds=2, judge="gain")
    best = search.best_learner
    assert type(best) is uqf.UQF
    assert best.rank == search.table[0]["rank"]
    assert best.policy_.rank == best.rank
    assert best.diagnostics_["episodes"] == len(data)


def test_the_belief_learner_is_returned_with_the_chosen_states(data):
    learner = uqf.BeliefQ(0.95, models=1, learning_discount=0.85)
    best = uqf.select(learner, data, {"states": [5, 10]}, folds=2).best_learner
    assert type(best) is uqf.BeliefQ
    assert best.states in (5, 10)
    assert (best.models, best.learning_discount) == (1, 0.85)


def test_other_learners_can_be_searched_as_well(data):
    for learner, grid in ((uqf.ContextQ(0.95), {"depth": [1, 2]}), (MemorylessQ(), {"k": [1, 2]})):
        search = uqf.select(learner, data, grid, folds=2, judge="gain")
        (name,) = grid
        assert {row[name] for row in search.table} == {1, 2}
        assert type(search.best_learner) is type(learner)


def test_the_table_is_in_the_order_of_the_gain_with_a_standard_error_taken_off(data):
    table = uqf.select(uqf.ContextQ(0.95), data, {"depth": [1, 2, 3]}, folds=3, judge="gain").table
    scores = [row["score"] for row in table]
    assert scores == sorted(scores, reverse=True)
    np.testing.assert_allclose(scores, [row["gain"] - row["stderr"] for row in table])
    assert all(row["problem"] is None for row in table)


def test_the_number_of_threads_does_not_matter(data):
    one, two = (
        uqf.select(uqf.ContextQ(0.95), data, {"depth": [1, 2, 3]}, folds=2, threads=threads).table
        for threads in (1, 2)
    )
    assert one == two


def test_the_learner_that_was_given_stays_unfitted(data):
    learner = uqf.ContextQ()
    uqf.select(learner, data, {"depth": [1]}, folds=2, judge="gain")
    assert not hasattr(learner, "policy_")


def test_all_episodes_judge_the_policies_of_all_episodes_and_grids_may_be_several(data):
    grids = [{"depth": [1]}, {"depth": [2, 3], "learning_discount": [0.8]}]
    search = uqf.select(uqf.ContextQ(0.95), data, grids)
    assert search.chosen.items() <= search.table[0].items()
    assert len(search.table) == 3
    # The models that judge are those of all episodes, played with the same random numbers.
    judge = by_playing(data, data, 0.95, 0)
    assert search.table[0]["gain"] == judge(search.best_learner.policy_).mean
