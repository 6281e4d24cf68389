"""What the experiments score."""

import numpy as np
import pytest

import uqf
from uqf.paper import Store, gridworld, spocman
from uqf.paper.spocman_report import summary


def test_every_method_of_both_experiments_is_scored(finished):
    folder, output = finished
    grid = Store(folder, "gridworld").finished(gridworld.GridWorld("smallest").cells())
    assert {(row.cell.method, row.cell.setting["world"]) for row in grid} == {
        (method, f"gridworld-{start}") for method in gridworld.LABELS for start in gridworld.STARTS
    }
    assert all(0.0 <= row.result["return"] <= 1.0 for row in grid)
    lines = summary(Store(folder, "spocman").rows())
    assert len(lines) == len(spocman.LABELS) + 1  # fitted-Q has a line for each of two numbers of rounds
    # A label may take more than one line of a table.
    labels = [*gridworld.LABELS.values(), *(line["label"] for line in lines)]
    assert {word for label in labels for word in label.split()} <= set(output.split())


def test_references_are_the_known_values(finished):
    rows = Store(finished[0], "gridworld").rows()
    optimum = {
        row.cell.setting["world"]: row.result["return"] for row in rows if row.cell.method == "optimum"
    }
    known = {"gridworld-near": 0.9368, "gridworld-mid": 0.9233, "gridworld-far": 0.8702}
    assert optimum == pytest.approx(known, abs=5e-5)


def test_a_shorter_fitted_q_is_the_beginning_of_a_longer_one():
    """What lets one fit serve all rows of the table."""
    env = uqf.make("spocman")
    data = uqf.rollout(env, episodes=20, seed=1)
    kept = []
    learner = uqf.baselines.FittedQ(uqf.baselines.CPSR(3), iterations=3, trees=2)
    learner.fit(data, progress=lambda stage, done, _: kept.append(learner.policy_) if done else None)
    short = uqf.baselines.FittedQ(uqf.baselines.CPSR(3), iterations=2, trees=2).fit(data).policy_
    states = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    np.testing.assert_array_equal(kept[1].values(states), short.values(states))


def test_wall_avoiding_never_meets_a_wall():
    env = uqf.make("spocman")
    data = uqf.rollout(env, spocman.wall_avoiding(env), episodes=200, seed=0)
    assert not np.isin(data.rewards, [-11.0, -61.0]).any()
    score = uqf.estimate_return(env, spocman.wall_avoiding(env), episodes=20_000, seed=1)
    assert abs(score.mean + 66.5) < 4 * score.stderr + 0.1
