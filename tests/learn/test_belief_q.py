"""Cloned hidden Markov models and what is learned on their beliefs."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import uqf
from uqf import _core
from uqf.learn.clones import CloneLearner, with_all_episodes

SMALL = {"states": 12, "models": 2, "iterations": 25, "learning_discounts": (0.9,)}


@pytest.fixture(scope="module")
def ring():
    """Four rooms in a ring; two look alike. Going right from the last room pays and ends the episode."""
    right, left = np.roll(np.eye(5), 1, axis=1), np.roll(np.eye(5), -1, axis=1)
    right[3], left[0] = np.eye(5)[4], np.eye(5)[0]
    sights = np.eye(3)[[0, 1, 1, 2, 2]]
    rewards = np.zeros((2, 5, 5))
    rewards[0, 3, 4] = 1.0
    terminal = np.arange(5) == 4
    return uqf.TabularPOMDP(
        np.stack([right, left]),
        np.stack([sights] * 2),
        rewards,
        np.eye(5)[0],
        0.9,
        terminal=terminal,
        horizon=30,
    )


@pytest.fixture(scope="module")
def data(ring):
    return uqf.rollout(ring, episodes=400, seed=1)


@pytest.fixture(scope="module")
def models(data):
    return CloneLearner(**SMALL).train([data], 12, 2)


def test_models_are_distributions_over_clones(models, data):
    assert len(models) == 2
    assert models.n_features == sum(len(models.model(i)["start"]) for i in range(2))
    for index in range(2):
        model = models.model(index)
        np.testing.assert_allclose(model["start"].sum(), 1.0, atol=1e-5)
        np.testing.assert_allclose(model["transitions"].sum(axis=2), 1.0, atol=1e-4)
        assert ((model["ends"] >= 0) & (model["ends"] <= 1 + 1e-5)).all()
        sizes = [high - low for low, high in model["ranges"]]
        assert all(size >= 1 for size in sizes) and sum(sizes) == len(model["start"])


def test_training_raises_the_likelihood_towards_the_truth(ring, data):
    """The true model's log-likelihood of observations, rewards and ends, by the exact filter."""
    few, many = (
        _core.CloneModels.train(
            data, data.terminated, states=12, models=1, iterations=n, episodes=10**6, seed=0
        ).log_likelihoods[0]
        for n in (1, 60)
    )
    # The ring is deterministic: every step is certain, and the true log-likelihood is 0.
    assert few < many <= 1e-3
    assert many > -0.05


def test_beliefs_are_bayes_rule_on_the_models(models, data):
    beliefs = models.beliefs_along(data[:5])
    model, row = models.model(0), 0
    width = len(model["start"])
    for episode in data[:5]:
        belief = model["start"].astype(float)
        np.testing.assert_allclose(beliefs[row, :width], belief, atol=1e-5)
        for action, observation in episode.history:
            low, high = model["ranges"][observation]
            moved = (belief * (1 - model["ends"][action])) @ model["transitions"][action]
            shown = np.zeros(width)
            shown[low:high] = moved[low:high]
            belief = shown / shown.sum() if shown.sum() > 1e-12 else _even(width, low, high)
            row += 1
            np.testing.assert_allclose(beliefs[row, :width], belief, atol=1e-4)
        row += 1


def _even(width, low, high):
    belief = np.zeros(width)
    belief[low:high] = 1.0 / (high - low)
    return belief


def test_memory_pays_where_places_look_alike(ring, data):
    """Always right is optimal; a table over the last symbol is unsure in the look-alike rooms' favour at best."""
    fitted = CloneLearner(**SMALL).fit(data, 0.9)
    score = uqf.estimate_return(ring, fitted.policy.greedy(), episodes=200)
    assert score.mean == pytest.approx(0.9**3, abs=1e-6)


def test_same_seed_same_bits_for_any_number_of_threads(data):
    one, two = (CloneLearner(**SMALL, threads=n).fit(data, 0.9).policy.parts() for n in (1, 2))
    for (models_a, weights_a, bias_a), (models_b, weights_b, bias_b) in zip(
        one["beliefs"], two["beliefs"], strict=True
    ):
        assert weights_a.tobytes() == weights_b.tobytes() and bias_a.tobytes() == bias_b.tobytes()
        for (start_a, moves_a, _), (start_b, moves_b, _) in zip(models_a, models_b, strict=True):
            assert start_a.tobytes() == start_b.tobytes() and moves_a.tobytes() == moves_b.tobytes()


def test_policies_pickle_and_refuse_foreign_memories(data):
    policy = CloneLearner(**SMALL).fit(data, 0.9).policy
    copy = pickle.loads(pickle.dumps(policy))
    state, other = policy.update(policy.initial_state(), 0, 1), copy.update(copy.initial_state(), 0, 1)
    np.testing.assert_array_equal(policy.q_values(state), copy.q_values(other))
    bigger = CloneLearner(**(SMALL | {"states": 20})).fit(data, 0.9).policy
    with pytest.raises(ValueError, match="another policy"):
        bigger.q_values(state)
    with pytest.raises(ValueError, match="action = 7"):
        policy.update(state, 7, 0)


def test_observations_never_seen_in_training_are_passed_over():
    data = uqf.Trajectories.from_episodes(
        [([0, 1, 0], [0, 1, 0], [0.0, 1.0, 0.0])] * 30, n_actions=2, n_observations=3
    )
    policy = CloneLearner(**SMALL).fit(data, 0.9).policy
    state = policy.update(policy.initial_state(), 0, 2)
    assert np.isfinite(policy.q_values(state)).all()


def test_episodes_with_observations_never_seen_in_training_have_a_score():
    """The last observation has no clones at all: its block of transitions is empty and lies behind the matrix."""
    rng = np.random.default_rng(0)
    seen = [(rng.integers(0, 2, 20), rng.integers(0, 3, 20), np.zeros(20)) for _ in range(30)]
    unseen = [
        (actions, np.where(np.arange(20) == 5, 3, sights), rewards) for actions, sights, rewards in seen
    ]
    train, test = (
        uqf.Trajectories.from_episodes(episodes, n_actions=2, n_observations=4) for episodes in (seen, unseen)
    )
    models = CloneLearner(**SMALL).train([train], 12, 2)
    assert np.isfinite(models.score(test, test.terminated)).all()
    assert max(models.score(test, test.terminated)) < min(models.score(train, train.terminated))


def test_a_fit_tells_how_far_it_is(data):
    told = []
    learner = uqf.UQF(discount=0.9, iterations=10, models=1).fit(data, progress=told.append)
    assert [a.stage for a, b in pairwise(told) if a.stage != b.stage] == ["choosing", "training"]
    assert told[-1].stage == "values" and told[-1].done == told[-1].total > 0
    assert all(before.done <= after.done for before, after in pairwise(told))
    again = uqf.UQF(discount=0.9, iterations=10, models=1).fit(data)
    np.testing.assert_array_equal(
        learner.policy_.q_values(learner.policy_.initial_state()),
        again.policy_.q_values(again.policy_.initial_state()),
    )


def test_held_out_likelihood_is_foretold_for_twice_the_episodes():
    """Of a multinomial with smoothed counts, for which all of it can be computed."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(50))
    foretold, trained_on_half, seen = [], [], []
    for _ in range(300):
        half, other = rng.multinomial(2000, truth, size=2)
        law, better = (half + 0.5) / (half + 0.5).sum(), (half + other + 0.5) / (half + other + 0.5).sum()
        foretold.append(with_all_episodes(half @ np.log(law) / 2000, other @ np.log(law) / 2000))
        trained_on_half.append(truth @ np.log(law))
        seen.append(truth @ np.log(better))
    error = abs(np.mean(foretold) - np.mean(seen))
    assert error < 0.4 * abs(np.mean(trained_on_half) - np.mean(seen))


def test_wrong_sizes_and_mixed_tasks_are_named(data):
    for name in ("states", "models", "iterations"):
        with pytest.raises(ValueError, match=f"{name} = 0: give at least 1"):
            uqf.UQF(**{name: 0}).fit(data)
    tiger = uqf.rollout(uqf.make("tiger"), episodes=5)
    with pytest.raises(ValueError, match=r"tasks of \[\(2, 3\), \(3, 2\)\] actions and observations"):
        uqf.UQF().fit_tasks([data, tiger])
    with pytest.raises(ValueError, match=r"3 entries \(str\)"):
        uqf.UQF().fit_tasks("abc")


def test_what_is_chosen_has_the_best_evidence(data):
    learner = CloneLearner(states=12, models=1, iterations=10, learning_discounts=(0.5, 0.9, 0.99))
    (choice,) = learner.choose([data], 0.9)
    assert set(choice.gains) == {0.5, 0.9} and set(choice.likelihoods) == {3, 12}
    assert choice.gains[choice.learning_discount] == max(choice.gains.values())
    assert choice.likelihoods[choice.states] == max(choice.likelihoods.values())
    (unjudged,) = learner.choose([data[:5]], 0.9)
    assert (unjudged.states, unjudged.learning_discount, unjudged.gains) == (12, 0.9, {})


def test_a_simple_world_gets_a_small_model_and_a_winding_one_a_large_one():
    """Tiger has two hidden states; a grid world has many places that look alike."""
    tiger = uqf.rollout(uqf.make("tiger"), episodes=1000, seed=3)
    learner = CloneLearner(models=2, iterations=30)
    assert learner.choose([tiger], 0.95)[0].states == 4
    assert learner.choose([uqf.rollout(uqf.make("gridworld-near"), episodes=100, seed=2)], 0.99)[0].states > 4


def test_the_score_of_the_training_episodes_is_their_likelihood(models, data):
    np.testing.assert_allclose(models.score(data, data.terminated), models.log_likelihoods, atol=1e-12)
    backwards = data[::-1]
    np.testing.assert_allclose(
        models.score(backwards, backwards.terminated), models.log_likelihoods, atol=1e-9
    )


def _room(goals, size=5):
    """One room of size × size cells in which only adjacent walls are seen; a task pays in one cell each."""
    steps = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    cells = size * size
    transitions, sights = np.zeros((4, cells, cells)), np.zeros((4, cells, 16))
    for cell in range(cells):
        around = [
            (row, column) if 0 <= row < size and 0 <= column < size else None
            for row, column in ((cell // size + down, cell % size + right) for down, right in steps)
        ]
        sights[:, cell, sum(1 << side for side, place in enumerate(around) if place is None)] = 1.0
        targets = [cell if place is None else place[0] * size + place[1] for place in around]
        for action in range(4):
            for turn, probability in ((0, 0.8), (1, 0.1), (-1, 0.1)):
                transitions[action, cell, targets[(action + turn) % 4]] += probability
    start = np.eye(cells)[cells // 2]
    rewards = [np.tile(np.eye(cells)[goal], (4, 1)) for goal in goals]
    return [uqf.TabularPOMDP(transitions, sights, reward, start, 0.95, horizon=40) for reward in rewards]


@pytest.mark.slow
def test_tasks_with_few_episodes_learn_together_what_one_needs_three_times_as_many_for():
    """Twelve tasks with 20 episodes each against one task with 20 and with 60, three draws of the goals."""
    everywhere, few, many, together = [], [], [], []
    for seed in range(3):
        worlds = _room(np.random.default_rng(seed).permutation(24)[:12] + 1)
        data = [uqf.rollout(world, episodes=60, seed=100 * seed + i) for i, world in enumerate(worlds)]
        learner = uqf.UQF(discount=0.95, states=40, models=2, iterations=100, seed=seed)
        everywhere += worlds
        few += [learner.fit(episodes[:20]).policy_ for episodes in data]
        many += [learner.fit(episodes).policy_ for episodes in data]
        together += [task.policy_ for task in learner.fit_tasks([episodes[:20] for episodes in data])]

    def score(policies):
        pairs = zip(everywhere, policies, strict=True)
        return np.mean([uqf.estimate_return(w, p, episodes=500, seed=7).mean for w, p in pairs])

    assert score(together) > 1.1 * score(few)
    assert score(together) > 0.97 * score(many)


def test_tasks_keep_their_own_rewards():
    """Two tasks in one room that pay at opposite corners: each policy must earn more in its own."""
    worlds = _room([0, 24])
    learner = uqf.UQF(discount=0.95, states=25, models=2, iterations=25, learning_discount=0.85)
    data = [uqf.rollout(world, episodes=60, seed=i) for i, world in enumerate(worlds)]
    first, second = learner.fit_tasks(data)
    for own, other, world in ((first, second, worlds[0]), (second, first, worlds[1])):
        mine, theirs = (uqf.estimate_return(world, task.policy_, episodes=300).mean for task in (own, other))
        assert mine > 2 * theirs + 1
    with pytest.raises(ValueError, match="one for every task"):
        learner.fit_tasks([])
    with pytest.raises(ValueError, match="beliefs"):
        uqf.UQF(rank=3).fit_tasks(data)
