"""SummaryQ: memory that is long but simple, and numbers as they are."""

import numpy as np
import pytest

import uqf
from mazes import t_maze
from uqf.learn import summary_q


def walk(episodes, seed):
    """A number that steps left or right, rewarded near 0; every code is the same, so only columns say where it is."""
    rng = np.random.default_rng(seed)
    actions = rng.integers(2, size=(episodes, 12))
    first = rng.uniform(-1.0, 1.0, size=episodes)
    places = first[:, None] + np.cumsum(np.where(actions == 1, 0.2, -0.2), axis=1)
    return uqf.Trajectories(
        actions.ravel(),
        np.zeros(actions.size, int),
        -np.abs(places).ravel(),
        np.arange(episodes + 1) * 12,
        n_actions=2,
        n_observations=1,
        first_observations=np.zeros(episodes, int),
        columns=places.reshape(-1, 1),
        first_columns=first[:, None],
        column_sizes=[0],
    )


@pytest.fixture(scope="module")
def walked():
    return walk(300, 0)


@pytest.mark.parametrize("corridor", [1, 5])
def test_a_cue_is_remembered_along_a_corridor(corridor):
    maze = t_maze(corridor)
    data = uqf.rollout(maze, episodes=1000, seed=0)
    learner = uqf.SummaryQ(0.97).fit(data)
    best = 1.0 - 0.02 * corridor
    assert learner.view_ == "history"
    assert uqf.estimate_return(maze, learner.policy_, episodes=500, seed=1, discount=1.0).mean > best - 0.03


def test_numbers_decide_where_codes_say_nothing(walked):
    learner = uqf.SummaryQ(0.9).fit(walked)
    policy = learner.policy_
    for place, action in ((-0.7, 1), (-0.3, 1), (0.3, 0), (0.7, 0)):
        state = policy.initial_state(np.array([place], np.float32))
        assert policy.q_values(state).argmax() == action, place
    assert learner.view_ == "recent", "the place is a state"
    assert learner.score(walk(100, 1)) > uqf.ContextQ(0.9).fit(walked).score(walk(100, 1))


@pytest.mark.parametrize("steps", [2, 6])
def test_the_view_is_the_history_where_two_observations_do_not_predict(steps):
    """With enough episodes: from fewer, forests learn sooner with the summaries of the history."""
    rng = np.random.default_rng(0)
    seen = rng.integers(3, size=(1000, 10))
    actions = rng.integers(3, size=(1000, 10))
    # A step is rewarded for repeating the observation so many steps before it.
    rewards = np.zeros((1000, 10))
    rewards[:, steps:] = actions[:, steps:] == seen[:, :-steps]
    data = uqf.Trajectories(
        actions.ravel(), seen.ravel(), rewards.ravel(), np.arange(1001) * 10, n_actions=3, n_observations=3
    )
    learner = uqf.SummaryQ(0.5).fit(data)
    assert learner.view_ == ("recent" if steps == 2 else "history")
    assert learner.diagnostics_["view_evidence"]["history"]["over"] == "recent"


def boxes(episodes, seed):
    """Eight boxes in pairs: both of a pair pay once, or none of them. An episode opens six of them, at random."""
    rng = np.random.default_rng(seed)
    full = np.repeat(rng.integers(2, size=(episodes, 4)), 2, axis=1)
    actions, paid = rng.integers(8, size=(episodes, 6)), np.zeros((episodes, 6), int)
    for step in range(6):
        box = actions[:, step, None]
        paid[:, step] = np.take_along_axis(full, box, axis=1)[:, 0]
        np.put_along_axis(full, box, 0, axis=1)
    return uqf.Trajectories(
        actions.ravel(),
        paid.ravel(),
        paid.ravel().astype(float),
        np.arange(episodes + 1) * 6,
        n_actions=8,
        n_observations=2,
    )


def test_one_forest_for_all_actions_knows_what_was_tried_and_what_others_brought():
    learner = uqf.SummaryQ(0.9).fit(boxes(300, 0))
    policy = learner.policy_
    assert learner.view_ == "history" and learner.pooled_
    after = [[policy.update(policy.initial_state(), box, paid) for box in range(8)] for paid in (0, 1)]
    empty, paid = ([policy.q_values(state).argmax() for state in states] for states in after)
    pair = [box ^ 1 for box in range(8)]
    assert sum(np.equal(paid, pair)) >= 7, "a box pays if its neighbour did"
    assert sum(np.equal(empty, pair)) + sum(np.equal(empty, range(8))) <= 1, "an empty box says the same"


def test_what_was_seen_is_said_backwards():
    rng = np.random.default_rng(0)
    episodes, cards = 400, 5
    seen, actions = rng.integers(3, size=(episodes, cards)), rng.integers(3, size=(episodes, 2 * cards - 1))
    # The first column says whether cards are shown; what was shown last must be said first.
    columns = np.zeros((episodes, 2 * cards, 2), int)
    columns[:, :cards, 1] = seen
    columns[:, : cards - 1, 0] = 1
    rewards = np.zeros(actions.shape)
    rewards[:, cards - 1 :] = actions[:, cards - 1 :] == seen[:, ::-1]
    data = uqf.Trajectories(
        actions.ravel(),
        columns[:, 1:].reshape(-1, 2) @ [3, 1],
        rewards.ravel(),
        np.arange(episodes + 1) * (2 * cards - 1),
        n_actions=3,
        n_observations=6,
        first_observations=columns[:, 0] @ [3, 1],
        columns=columns[:, 1:].reshape(-1, 2),
        first_columns=columns[:, 0],
        column_sizes=[2, 3],
    )
    learner = uqf.SummaryQ(0.5).fit(data)
    best = learner.decision_function(data).argmax(axis=1).reshape(actions.shape)[:, cards - 1 :]
    assert not learner.pooled_ and (best == seen[:, ::-1]).mean() > 0.98


def same(one, other):
    mine, theirs = one.policy_.parts(), other.policy_.parts()
    return all(np.array_equal(mine[name], theirs[name]) for name in mine)


def test_the_bits_are_the_same_for_any_threads_and_any_order(walked):
    learner = uqf.SummaryQ(0.9, threads=1).fit(walked)
    assert same(learner, uqf.SummaryQ(0.9, threads=3).fit(walked))
    order = np.random.default_rng(0).permutation(len(walked))
    assert same(learner, uqf.SummaryQ(0.9).fit(walked[order]))
    assert not same(learner, uqf.SummaryQ(0.9, seed=1).fit(walked))


def test_shards_give_the_same_policy(walked, tmp_path):
    walked[:150].to_parquet(tmp_path / "a.parquet")
    walked[150:].to_parquet(tmp_path / "b.parquet")
    assert same(uqf.SummaryQ(0.9).fit(walked), uqf.SummaryQ(0.9).fit(uqf.Shards(tmp_path)))


def test_more_than_fits_is_sampled_and_said(walked, monkeypatch):
    monkeypatch.setattr(summary_q, "MAX_BYTES", 100_000)
    learner = uqf.SummaryQ(0.9, view="now").fit(walked)
    assert any("of 300 episodes" in note for note in learner.diagnostics_["notes"])
    assert learner.policy_.n_actions == 2


def test_a_file_keeps_the_columns_that_codes_stand_for(walked, tmp_path):
    learner = uqf.SummaryQ(0.9).fit(walked)
    learner.save(tmp_path / "policy.safetensors")
    policy = uqf.load(tmp_path / "policy.safetensors")
    assert policy.column_sizes.tolist() == [0]
    np.testing.assert_array_equal(policy.q_values_along(walked), learner.decision_function(walked))
