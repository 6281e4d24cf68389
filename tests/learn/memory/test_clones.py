"""Cloned hidden Markov models: how they are laid out, trained, scored and put together."""

import pickle
from functools import reduce

import numpy as np
import pytest

import uqf
from clone_models import started
from uqf import _core
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.models import with_all_episodes

SCHEDULE = {"explore": 10, "settle": 10, "first": 0, "seed": 0}


def trained(data, models=2, states=12, **changes):
    return started(data, states=states, models=models).trained(data, **(SCHEDULE | changes))


@pytest.fixture(scope="module")
def models(ring_data):
    return trained(ring_data)


def same(one, other):
    mine, theirs = one.filters(), other.filters()
    return all(np.array_equal(part, theirs[name]) for name, part in mine.items())


def test_models_are_distributions_over_clones(models, ring_data):
    assert len(models) == 2
    assert models.n_features == sum(len(models.model(i)["start"]) for i in range(2))
    for index in range(2):
        model = models.model(index)
        np.testing.assert_allclose(model["start"].sum(), 1.0, atol=1e-5)
        np.testing.assert_allclose(model["transitions"].sum(axis=2), 1.0, atol=1e-4)
        np.testing.assert_allclose(model["events"].sum(axis=1), 1.0, atol=1e-4)
        np.testing.assert_allclose(model["ends"], model["events"][:, 1::2].sum(axis=1), atol=1e-5)
        sizes = [high - low for low, high in model["ranges"]]
        assert all(size >= 1 for size in sizes) and sum(sizes) == len(model["start"])


def test_training_raises_the_likelihood_to_the_truth(ring_data):
    """The ring is deterministic: every step is certain, and the true log-likelihood is 0."""
    scores = [trained(ring_data, explore=steps, settle=steps).score(ring_data) for steps in (1, 40)]
    few, many = np.mean(scores, axis=1)
    assert few < many <= 1e-3
    assert many > -0.05


def test_small_models_are_polished():
    """Training comes as far on Tiger as hundreds of plain iterations, in 60 of which 40 are the polish."""
    better = []
    for seed in range(4):
        data = uqf.rollout(uqf.make("tiger"), episodes=300, seed=seed)
        begun = started(data, states=4, seed=seed)
        plain = reduce(lambda models, _: models.iterated(data), range(60), begun)
        better.append(begun.trained(data, **SCHEDULE).score(data)[0] - plain.score(data)[0])
    assert np.mean(better) > 2e-4


def test_beliefs_are_bayes_rule_on_the_models(models, ring_data):
    beliefs = BeliefMemory([models], 2).rows(ring_data[:5], 1)[:, 1:]
    model, row = models.model(0), 0
    width = len(model["start"])
    for episode in ring_data[:5]:
        belief = model["start"].astype(float)
        np.testing.assert_allclose(beliefs[row, :width], belief, atol=1e-5)
        for action, observation in episode.history:
            low, high = model["ranges"][observation]
            moved = (belief * (1 - model["ends"][action])) @ model["transitions"][action]
            shown = np.zeros(width)
            shown[low:high] = moved[low:high] if moved[low:high].sum() > 1e-12 else 1.0
            belief = shown / shown.sum()
            row += 1
            np.testing.assert_allclose(beliefs[row, :width], belief, atol=1e-4)
        row += 1


def test_episodes_with_observations_never_seen_in_training_have_a_score():
    rng = np.random.default_rng(0)
    seen = [(rng.integers(0, 2, 20), rng.integers(0, 3, 20), np.zeros(20)) for _ in range(30)]
    unseen = [(actions, np.where(np.arange(20) == 5, 3, shown), rewards) for actions, shown, rewards in seen]
    train, test = (
        uqf.Trajectories.from_episodes(episodes, n_actions=2, n_observations=4) for episodes in (seen, unseen)
    )
    models = trained(train)
    assert np.isfinite(models.score(test)).all()
    # Nothing is known of the observation, so it neither surprises nor tells anything.
    certain = uqf.Trajectories.from_episodes([([0], [3], [0.0])], n_actions=2, n_observations=4)
    np.testing.assert_allclose(models.score(certain), 0.0, atol=1e-5)


def test_held_out_likelihood_is_foretold_for_twice_the_episodes():
    """Of a multinomial with smoothed counts, for which all of it can be computed."""
    rng = np.random.default_rng(0)
    truth, parts = rng.dirichlet(np.ones(50)), np.array([500, 1500])
    foretold, trained_on_half, seen = [], [], []
    for _ in range(300):
        half, other = rng.multinomial(2000, truth), [rng.multinomial(size, truth) for size in parts]
        law, better = ((one + 0.5) / (one + 0.5).sum() for one in (half, half + sum(other)))
        judged = np.array([one @ np.log(law) for one in other])
        groups = with_all_episodes(half @ np.log(law) / 2000, judged, parts)
        assert groups.shape == (2,)
        foretold.append(groups.sum() / 2000)
        trained_on_half.append(truth @ np.log(law))
        seen.append(truth @ np.log(better))
    error = abs(np.mean(foretold) - np.mean(seen))
    assert error < 0.4 * abs(np.mean(trained_on_half) - np.mean(seen))


def test_a_score_is_the_mean_over_the_steps_in_any_order(models, ring_data):
    whole = np.array(models.score(ring_data))
    np.testing.assert_allclose(models.score(ring_data[::-1]), whole, atol=1e-6)
    parts = [ring_data[:100], ring_data[100:]]
    sums = sum(np.array(models.score(part)) * part.n_steps for part in parts)
    np.testing.assert_allclose(sums / ring_data.n_steps, whole, atol=1e-6)


@pytest.mark.parametrize("states", [12, 4], ids=["unpolished", "polished"])
def test_training_tells_its_progress_up_to_the_work_that_was_foretold(ring_data, states):
    told = []
    layout = _core.CloneLayout(ring_data, states=states)
    started(ring_data, layout=layout).trained(ring_data, **SCHEDULE, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(layout.work(layout.n_states, ring_data.n_steps, 10, 10), rel=0.01)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_model_is_the_same_alone_and_among_others(ring_data, models, threads):
    begun = started(ring_data, states=12, models=2)
    alone = [
        begun.cut(number, number + 1).trained(ring_data, **SCHEDULE | {"first": number, "threads": threads})
        for number in range(2)
    ]
    assert same(reduce(_core.CloneModels.plus, alone), models)


def test_a_number_decides_the_order_of_the_minibatches():
    """With more steps than a minibatch has, models of different numbers see them in different orders."""
    data = uqf.rollout(uqf.make("tiger"), episodes=2000, seed=0)
    one, again, other = (
        started(data, states=4).trained(data, **SCHEDULE | {"first": first}) for first in (0, 0, 1)
    )
    assert same(one, again) and not same(one, other)


def test_models_are_cut_joined_and_pickled(models, ring_data):
    joined = models.cut(0, 1).plus(models.cut(1, 2))
    assert same(joined, models)
    assert same(pickle.loads(pickle.dumps(models)), models)
    assert pickle.loads(pickle.dumps(models)).score(ring_data) == models.score(ring_data)


def rare_data():
    """Observations 0 and 1 and actions 0 and 1 are common; 2 to 4 come once or twice, and 5 never."""
    rng = np.random.default_rng(0)
    actions, observations = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    actions[[20, 60, 70, 100]] = 2, 3, 3, 4
    observations[[10, 30, 50, 110]] = 2, 3, 3, 4
    return uqf.Trajectories(
        actions, observations, rng.normal(size=200), np.arange(0, 201, 10), n_actions=6, n_observations=6
    )


def test_what_is_rare_shares_clones_and_transitions():
    layout = _core.CloneLayout(rare_data(), states=8)
    assert layout.shared == (3, 3)
    ranges, kinds = layout.ranges.tolist(), layout.kinds.tolist()
    assert ranges[2] == ranges[3] == ranges[4] == ranges[5]
    assert sorted([ranges[0], ranges[1], ranges[2]]) == [ranges[0], ranges[1], ranges[2]]
    assert ranges[0][1] == ranges[1][0] and ranges[1][1] == ranges[2][0]
    assert kinds == [0, 1, 2, 2, 2, 2]
    assert started(rare_data(), layout=layout).model(0)["transitions"].shape[0] == 3


def test_a_single_rare_one_has_clones_and_transitions_of_its_own():
    codes = np.arange(200) % 2
    codes[20] = 2
    data = uqf.Trajectories(codes, codes, np.zeros(200), [0, 200], n_actions=4, n_observations=4)
    layout = _core.CloneLayout(data, states=8)
    assert layout.shared == (0, 0)
    assert layout.ranges[:3].tolist() == [[0, 4], [4, 8], [8, 9]]
    # Of what never came nothing is known: it moves like the first action, and may come from any state.
    assert layout.kinds.tolist() == [0, 1, 2, 0]
    assert layout.ranges[3].tolist() == [0, 9]


def test_states_are_shared_out_by_frequency():
    actions = np.zeros(100, int)
    observations = np.repeat([0, 1, 2], [70, 20, 10])
    data = uqf.Trajectories(actions, observations, actions, [0, 100], n_actions=1, n_observations=3)
    layout = _core.CloneLayout(data, states=20)
    assert np.diff(layout.ranges, axis=1).ravel().tolist() == [14, 4, 2]
    assert _core.CloneLayout(data, states=1).n_states == 3


READINGS = {
    "trained": lambda models, data, **tasks: models.trained(data, **SCHEDULE, **tasks),
    "score": lambda models, data, **tasks: models.score(data, **tasks),
    "iterated": lambda models, data: models.iterated(data),
}


@pytest.mark.parametrize("name", READINGS)
def test_data_with_other_names_are_refused(models, ring_data, name):
    """More actions or observations than were laid out would be read beyond the end of tables."""
    for size in ("n_actions", "n_observations"):
        wider = uqf.Trajectories(**ring_data.__getstate__() | {size: 9})
        with pytest.raises(ValueError):
            READINGS[name](models, wider)
        with pytest.raises(ValueError):
            started(wider, layout=_core.CloneLayout(ring_data, states=4))


@pytest.mark.parametrize("name", ["trained", "score"])
def test_tasks_that_were_not_laid_out_are_refused(models, ring_data, name):
    tasks = np.arange(len(ring_data), dtype=np.uint32) // 399
    with pytest.raises(ValueError):
        READINGS[name](models, ring_data, tasks=tasks)


@pytest.mark.parametrize(
    "damage",
    [
        {"kinds": [9, 9]},
        {"ranges": [(0, 99)] * 3},
        {"ranges": [(3, 1)] * 3},
        {"classes": []},
        {"classes": [([], [])]},
        {"classes": [([1.0], [1.0, 2.0])]},
    ],
    ids=str,
)
def test_damaged_models_are_refused(models, damage):
    with pytest.raises(ValueError, match=r"models: |task = 0"):
        _core.CloneModels.from_state(models.__getstate__() | damage)


def test_a_task_with_fewer_rewards_than_another_has_means_of_its_own(ring_data):
    """The first task pays -1 to 1 in five classes, the second always 3."""
    rewards = np.where(
        np.arange(ring_data.n_steps) < ring_data.offsets[200], np.arange(ring_data.n_steps) % 5 / 2 - 1, 3
    )
    data = uqf.Trajectories(**ring_data.__getstate__() | {"rewards": rewards})
    tasks = np.arange(len(data), dtype=np.uint32) // 200
    layout = _core.CloneLayout(data, states=6, tasks=tasks)
    labels = layout.ranges[data.observations, :1].T.astype(np.uint32)
    both = layout.started(data, labels, first=0, seed=0, tasks=tasks)
    many, one = (both.for_task(task).model(0) for task in range(2))
    assert (len(many["edges"]), len(one["edges"])) == (5, 1)
    assert many["rewards"].min() > -1.0 and many["rewards"].max() < 1.0
    np.testing.assert_allclose(one["rewards"], 3.0, rtol=1e-4)
