"""Value iteration on counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import uqf
from strategies import trajectories
from uqf.learn import table_q


def plain_values(data, discount):
    """The same without any cleverness: loops over steps, then sweeps over a dense table."""
    states = data.n_observations + 1
    tried = np.zeros((states, data.n_actions))
    paid, led = np.zeros_like(tried), np.zeros((*tried.shape, states))
    for episode in data:
        here = data.n_observations if episode.first_observation is None else episode.first_observation
        for step, (action, seen) in enumerate(episode.history):
            tried[here, action] += 1
            paid[here, action] += episode.rewards[step]
            led[here, action, seen] += not (episode.terminated and step == len(episode.actions) - 1)
            here = seen
    known = tried > 0
    rewards, going = paid / np.maximum(tried, 1), led / np.maximum(tried, 1)[:, :, np.newaxis]
    floor = min(0.0, rewards[known].min()) / (1.0 - discount)
    values = np.zeros(states)
    for _ in range(2000):
        pairs = np.where(known, rewards + discount * going @ values, -np.inf)
        values = np.where(known.any(axis=1), pairs.max(axis=1), floor)
    return pairs


@given(trajectories(), st.floats(0.0, 0.95))
def test_values_are_those_of_plain_loops(data, discount):
    learner = uqf.TableQ(discount).fit(data)
    assert np.isfinite(learner.values_).sum() == learner.diagnostics_["pairs_tried"]
    assert ((learner.stderr_ >= 0.0) & (np.isfinite(learner.stderr_) == np.isfinite(learner.values_))).all()
    model = table_q.Model.of(table_q.Counts.of(data), prior=0.0)
    values, _ = model.optimal_values(discount)
    np.testing.assert_allclose(
        model.table(values, -np.inf), plain_values(data, discount), rtol=1e-6, atol=1e-6
    )


@given(trajectories(), st.sampled_from(table_q.PRIOR_STEPS))
def test_a_prior_keeps_laws_that_add_up_and_means_between_those_of_the_observation(data, prior):
    counts = table_q.Counts.of(data)
    model = table_q.Model.of(counts, prior)
    totals = np.asarray(model.transitions.sum(axis=1)).ravel()
    assert (totals <= 1.0 + 1e-9).all()
    for state in np.unique(counts.states):
        same = counts.states == state
        own = counts.rewards[same] / counts.tried[same]
        assert (model.rewards[same] <= own.max() + 1e-9).all() and (
            model.rewards[same] >= own.min() - 1e-9
        ).all()


def chain(length=6):
    """Right leads to the end and pays there; left pays a little and goes back to the start."""
    right, left = np.eye(length, k=1), np.zeros((length, length))
    right[-1, -1], left[:, 0] = 1.0, 1.0
    rewards = np.zeros((2, length, length))
    rewards[0, -2, -1], rewards[1, :, 0] = 10.0, 0.1
    looks = np.stack([np.eye(length)] * 2)
    ends = np.arange(length) == length - 1
    return uqf.TabularPOMDP(
        np.stack([right, left]), looks, rewards, np.eye(length)[0], 0.95, terminal=ends, horizon=40
    )


def test_it_plans_past_a_log_that_hardly_ever_reaches_the_goal():
    world = chain()
    data = uqf.rollout(world, episodes=60, seed=0)
    learner = uqf.TableQ(0.95).fit(data)
    assert learner.predict(data[:1])[0] == 0
    assert (learner.values_.argmax(axis=1)[:4] == 0).all(), "right everywhere"
    assert uqf.estimate_return(world, learner.policy_, episodes=10, discount=1.0).mean == 10.0
    assert uqf.fit(data, discount=0.95).diagnostics_["chosen"]["learner"] == "TableQ"


def test_only_tried_actions_are_planned_with_and_nothing_known_is_feared():
    data = uqf.Trajectories(
        [0, 1, 0],
        [1, 2, 1],
        [0.0, -1.0, 0.0],
        [0, 2, 3],
        n_actions=3,
        n_observations=3,
        first_observations=[0, 0],
    )
    learner = uqf.TableQ(0.9).fit(data)
    assert np.isinf(learner.values_[0, 1:]).all() and np.isinf(learner.stderr_[0, 1:]).all()
    # After observation 2 nothing was ever tried: the worst reward for ever.
    assert learner.values_[1, 1] == pytest.approx(-1.0 - 0.9 * 10.0)
    policy = learner.policy_
    assert policy.action(policy.initial_state(first=0)) == 0
    assert (policy.action_probs(policy.initial_state(first=2)) == 1 / 3).all()


def test_standard_errors_cover_the_truth():
    """Over fresh logs, the true value lies within two standard errors nearly always, and not within a tenth of one."""
    rng = np.random.default_rng(1)
    transitions = rng.dirichlet(np.ones(4), size=(2, 4))
    world = uqf.TabularPOMDP(
        transitions, np.stack([np.eye(4)] * 2), rng.normal(size=(2, 4)), np.full(4, 0.25), 0.8, horizon=25
    )
    exact = uqf.TableQ(0.8).fit(uqf.rollout(world, episodes=40_000, seed=99)).values_[:4]
    off, bounds = [], []
    for seed in range(40):
        data = uqf.rollout(world, episodes=60, seed=seed)
        learner = uqf.TableQ(0.8).fit(data)
        off.append(np.abs(learner.values_[:4] - exact) / learner.stderr_[:4])
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(table_q, "MAX_EXACT", 0)
            bounds.append(clone(learner).fit(data).stderr_[:4] / learner.stderr_[:4])
    assert np.mean(np.array(off) < 2.0) > 0.9
    assert np.mean(off) > 0.4
    assert (np.array(bounds) >= 0.999).all(), "what is meant for many observations is never less"


def test_it_is_a_learner_like_all():
    data = uqf.rollout(chain(), episodes=20, seed=0)
    learner = clone(uqf.TableQ(0.9, temperature=0.5)).fit(data)
    assert learner.policy_.temperature == 0.5 and learner.n_features_in_ == 12
    with pytest.raises(ValueError, match="discount"):
        uqf.TableQ(1.5).fit(data)
