"""Hidden models against the forward recursion in NumPy."""

from dataclasses import replace

import numpy as np
import pytest

import uqf
from uqf.learn.memory.hidden import Growth, hidden_models

QUICK = Growth(states=6, first=3, explore=4, settle=4, batch=200, held_out=0.05)


def log(seed=0, episodes=40, opens=False, ends=0.5, observations=(0, 1, 2), actions=(0, 1)):
    """Random episodes of one to six steps, of 3 actions and 4 observations; some end."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, size=episodes)
    steps = int(lengths.sum())
    return uqf.Trajectories(
        rng.choice(actions, size=steps),
        rng.choice(observations, size=steps),
        np.zeros(steps),
        np.append(0, np.cumsum(lengths)),
        n_actions=3,
        n_observations=4,
        terminated=rng.random(episodes) < ends,
        first_observations=rng.choice(observations, size=episodes) if opens else None,
    )


def forward(model, data):
    """The log-probability of what every episode shows and of its end: the sum over all paths, step by step.

    Rewards say nothing where all are alike. The last observation of an episode that ended is not looked at.
    """
    logs = []
    for index, episode in enumerate(data):
        joint = model.start.astype(float)
        if data.first_observations is not None:
            joint = joint * model.emissions[data.first_observations[index]]
        for step, (action, observation) in enumerate(episode.history, 1):
            going = joint @ model.transitions[action].astype(float)
            if episode.terminated and step == len(episode.history):
                joint = np.array([joint.sum() - going.sum()])
            else:
                joint = going * model.emissions[observation]
        logs.append(np.log(joint.sum()))
    return np.array(logs)


@pytest.mark.parametrize("noisy", [False, True])
def test_likelihoods_are_those_of_the_forward_recursion(noisy):
    data, judges = log(), log(seed=1)
    for model in hidden_models(data, judges, range(2), growth=QUICK, noisy=noisy):
        np.testing.assert_allclose(model.likelihoods, forward(model, judges), rtol=1e-4)


def test_what_reset_shows_is_part_of_the_likelihood():
    """Without ends: what a state shows is given if the episode goes on, and before the first action it always does."""
    data, judges = log(opens=True, ends=0.0), log(seed=1, opens=True, ends=0.0)
    (model,) = hidden_models(data, judges, range(1), growth=replace(QUICK, emissions=1e-6))
    np.testing.assert_allclose(model.likelihoods, forward(model, judges), rtol=1e-3)


def test_rewards_count_where_they_are_not_all_alike():
    """Rewards that are drawn apart from all else cost their entropy."""
    data = log(episodes=600)
    coins = np.random.default_rng(5).integers(2, size=data.n_steps)
    paid = uqf.Trajectories(**data.__getstate__() | {"rewards": coins.astype(float)})
    (plain,), (model,) = (hidden_models(one, one, range(1), growth=QUICK) for one in (data, paid))
    cost = (plain.likelihoods.sum() - model.likelihoods.sum()) / data.n_steps
    assert cost == pytest.approx(np.log(2.0), abs=0.05)


@pytest.mark.parametrize("opens", [False, True])
def test_a_model_is_made_of_probabilities(opens):
    data = log(opens=opens)
    (model,) = hidden_models(data, data, range(1), growth=QUICK)
    states = model.n_states
    assert 3 <= states <= 6
    assert (model.transitions.shape, model.emissions.shape) == ((3, states, states), (4, states))
    assert model.start.sum() == pytest.approx(1.0, abs=1e-5)
    going = model.transitions.sum(axis=2)
    assert (going > 0.0).all() and (going < 1.0).all()
    np.testing.assert_allclose(model.shown.sum(axis=0), 1.0, atol=1e-5)
    assert (model.emissions[3] == 1.0).all() and (model.shown[3] == 0.0).all(), "it never occurred"
    assert (model.seen.tolist(), model.tried.tolist()) == ([True] * 3 + [False], [True] * 2 + [False])
    assert model.openings(opens).shape == (3 if opens else 1, states)
    assert model.openings(opens).sum() == pytest.approx(1.0, abs=0.2 if opens else 1e-5)


def test_one_observation_is_shown_and_not_unknown():
    data = log(observations=[2], opens=True)
    (model,) = hidden_models(data, data, range(1), growth=QUICK)
    np.testing.assert_allclose(model.shown[2], 1.0)
    assert model.openings(True).shape == (1, model.n_states)


@pytest.mark.parametrize("opens", [False, True])
def test_episodes_that_show_and_do_what_never_occurred_have_a_likelihood(opens):
    judges = log(seed=1, opens=opens, observations=(0, 3), actions=(0, 2))
    paid = uqf.Trajectories(**judges.__getstate__() | {"rewards": np.full(judges.n_steps, 7.0)})
    for other in (judges, paid):
        (model,) = hidden_models(log(opens=opens), other, range(1), growth=QUICK)
        assert model.likelihoods.shape == (40,)
        assert np.isfinite(model.likelihoods).all() and (model.likelihoods < 0.0).all()


def test_growth_ends_where_episodes_become_no_likelier():
    """Coins need no memory; to repeat what was shown two steps ago needs four states at least."""
    coins = np.random.default_rng(0).integers(2, size=(200, 12))
    again = np.tile(coins[:, :2], 6)
    models = []
    for shown in (coins, again):
        data = uqf.Trajectories(
            np.zeros(shown.size, int),
            shown.ravel(),
            np.zeros(shown.size),
            np.arange(0, shown.size + 1, 12),
            n_actions=1,
            n_observations=2,
        )
        growth = Growth(states=32, first=2, explore=20, settle=10)
        models.append(hidden_models(data, data, range(4), growth=growth))
    assert [model.n_states for model in models[0]] == [2] * 4
    best = max(models[1], key=lambda model: model.likelihoods.mean())
    assert best.n_states >= 4
    assert best.likelihoods.mean() == pytest.approx(-2 * np.log(2.0), abs=0.2), "two coins an episode"


def test_models_have_the_same_bits_for_any_number_of_threads_and_any_share_of_the_numbers():
    data = log(episodes=200)
    both = hidden_models(data, data, range(2), growth=QUICK, threads=2)
    for number, model in enumerate(both):
        (alone,) = hidden_models(data, data, range(number, number + 1), growth=QUICK, threads=1)
        for name in ("start", "transitions", "emissions", "rewards", "likelihoods"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(model, name), err_msg=name)
    assert not np.array_equal(both[0].transitions, both[1].transitions)
