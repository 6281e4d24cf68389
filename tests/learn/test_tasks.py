"""Several tasks of one world, learned together."""

import numpy as np
import pytest

import uqf
from uqf.episodes.fingerprint import fingerprint


def _room(goals, size=5):
    """One room of size × size cells in which only adjacent walls are seen; a task pays in one cell each."""
    steps = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    cells = size * size
    transitions, shown = np.zeros((4, cells, cells)), np.zeros((4, cells, 16))
    for cell in range(cells):
        around = [
            (row, column) if 0 <= row < size and 0 <= column < size else None
            for row, column in ((cell // size + down, cell % size + right) for down, right in steps)
        ]
        shown[:, cell, sum(1 << side for side, place in enumerate(around) if place is None)] = 1.0
        targets = [cell if place is None else place[0] * size + place[1] for place in around]
        for action in range(4):
            for turn, probability in ((0, 0.8), (1, 0.1), (-1, 0.1)):
                transitions[action, cell, targets[(action + turn) % 4]] += probability
    start = np.eye(cells)[cells // 2]
    rewards = [np.tile(np.eye(cells)[goal], (4, 1)) for goal in goals]
    return [uqf.TabularPOMDP(transitions, shown, reward, start, 0.95, horizon=40) for reward in rewards]


@pytest.mark.slow
def test_tasks_learn_more_together_than_alone():
    """Twelve tasks, three draws of the goals: 60 episodes each show together how large the room is, and alone do not.

    With 20 each nothing shows it, and nothing is lost by learning together.
    """
    earned = {(count, how): [] for count in (20, 60) for how in ("alone", "together")}
    for seed in range(3):
        worlds = _room(np.random.default_rng(seed).permutation(24)[:12] + 1)
        data = [uqf.rollout(world, episodes=60, seed=100 * seed + i) for i, world in enumerate(worlds)]
        learner = uqf.BeliefQ(0.95, states=40, models=2, seed=seed)
        for count in (20, 60):
            episodes = [one[:count] for one in data]
            fitted = {
                "alone": [learner.fit(one) for one in episodes],
                "together": learner.fit_tasks(episodes),
            }
            for how, learners in fitted.items():
                earned[count, how] += [
                    uqf.estimate_return(world, one.policy_, episodes=500, seed=7).mean
                    for world, one in zip(worlds, learners, strict=True)
                ]
    mean = {case: np.mean(returns) for case, returns in earned.items()}
    assert mean[60, "together"] > 1.1 * mean[60, "alone"]
    assert mean[20, "together"] > 0.97 * mean[20, "alone"]


def test_tasks_keep_their_own_rewards():
    """Two tasks in one room that pay at opposite corners: each policy must earn more in its own."""
    worlds = _room([0, 24])
    learner = uqf.BeliefQ(0.95, states=25, models=2, learning_discount=0.85)
    data = [uqf.rollout(world, episodes=60, seed=i) for i, world in enumerate(worlds)]
    first, second = learner.fit_tasks(data)
    for own, other, world in ((first, second, worlds[0]), (second, first, worlds[1])):
        mine, theirs = (uqf.estimate_return(world, task.policy_, episodes=300).mean for task in (own, other))
        assert mine > 2 * theirs + 1


def test_each_task_gets_a_learner_with_its_own_data_and_the_teacher_stays_unfitted(ring_data):
    learner = uqf.BeliefQ(0.9, states=4, models=1)
    halves = [ring_data[:200], ring_data[200:]]
    first, second = learner.fit_tasks(halves)
    assert not hasattr(learner, "policy_")
    assert first.get_params() == second.get_params() == learner.get_params()
    for task, data in ((first, halves[0]), (second, halves[1])):
        assert task.diagnostics_["episodes"] == len(data)
        assert task.origin_.fingerprint == fingerprint(data)
        assert np.isfinite(task.score(data))
