"""Cloned hidden Markov models: training, likelihood, beliefs."""

import numpy as np
import pytest

import uqf
from uqf import _core
from uqf.learn.clones import with_all_episodes


def trained(data, **changes):
    settings = {"states": 12, "models": 2, "iterations": 25, "episodes": 10**6, "seed": 0}
    return _core.CloneModels.train(data, **(settings | changes))


@pytest.fixture(scope="module")
def models(ring_data):
    return trained(ring_data)


def test_models_are_distributions_over_clones(models, ring_data):
    assert len(models) == 2
    assert models.n_features == sum(len(models.model(i)["start"]) for i in range(2))
    for index in range(2):
        model = models.model(index)
        np.testing.assert_allclose(model["start"].sum(), 1.0, atol=1e-5)
        np.testing.assert_allclose(model["transitions"].sum(axis=2), 1.0, atol=1e-4)
        assert ((model["ends"] >= 0) & (model["ends"] <= 1 + 1e-5)).all()
        sizes = [high - low for low, high in model["ranges"]]
        assert all(size >= 1 for size in sizes) and sum(sizes) == len(model["start"])


def test_training_raises_the_likelihood_towards_the_truth(ring_data):
    """The true model's log-likelihood of observations, rewards and ends, by the exact filter."""
    few, many = (
        trained(ring_data, models=1, iterations=iterations).log_likelihoods[0] for iterations in (1, 60)
    )
    # The ring is deterministic: every step is certain, and the true log-likelihood is 0.
    assert few < many <= 1e-3
    assert many > -0.05


def test_beliefs_are_bayes_rule_on_the_models(models, ring_data):
    beliefs = models.beliefs_along(ring_data[:5])
    model, row = models.model(0), 0
    width = len(model["start"])
    for episode in ring_data[:5]:
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


def test_episodes_with_observations_never_seen_in_training_have_a_score():
    """The last observation has no clones at all: its block of transitions is empty and lies behind the matrix."""
    rng = np.random.default_rng(0)
    seen = [(rng.integers(0, 2, 20), rng.integers(0, 3, 20), np.zeros(20)) for _ in range(30)]
    unseen = [(actions, np.where(np.arange(20) == 5, 3, shown), rewards) for actions, shown, rewards in seen]
    train, test = (
        uqf.Trajectories.from_episodes(episodes, n_actions=2, n_observations=4) for episodes in (seen, unseen)
    )
    models = trained(train)
    assert np.isfinite(models.score(test)).all()
    assert max(models.score(test)) < min(models.score(train))


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


def test_the_score_of_the_training_episodes_is_their_likelihood(models, ring_data):
    np.testing.assert_allclose(models.score(ring_data), models.log_likelihoods, atol=1e-12)
    np.testing.assert_allclose(models.score(ring_data[::-1]), models.log_likelihoods, atol=1e-9)


def test_training_tells_its_progress_up_to_the_work_that_was_foretold(ring_data):
    told = []
    trained(ring_data, models=1, iterations=200, progress=told.append)
    work = _core.CloneModels.work(ring_data.n_steps, len(ring_data), models=1, iterations=200, episodes=10**6)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(work, rel=1e-3)


def test_models_of_unknown_tasks_are_refused(models, ring_data):
    with pytest.raises(ValueError, match="task = 1: trained on 1, counted from 0"):
        models.for_task(1)
    with pytest.raises(ValueError, match="tasks has 3 entries: there are 400 episodes"):
        trained(ring_data, tasks=np.zeros(3, np.uint32))
