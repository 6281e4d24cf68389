"""Value iteration on counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from logged import changed
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
    plan = model.optimal(discount)
    assert plan.error <= 1e-6 * np.abs(plan.pairs).max()
    np.testing.assert_allclose(
        model.table(plan.pairs, -np.inf), plain_values(data, discount), rtol=1e-6, atol=1e-6
    )


@given(trajectories(), st.sampled_from([0.0, 0.5, 16.0]))
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
    np.testing.assert_array_equal(policy.action_probs(policy.initial_state(first=2)), [0.5, 0.5, 0.0])


@pytest.mark.parametrize("reward", [1.0, -1e-3])
def test_a_continuing_log_is_worth_its_reward_for_ever(reward):
    """Discounts near 1 need more sweeps than anybody makes: at 0.9999, 20,000 of them reach 86 % of the value."""
    steps = 400
    data = uqf.Trajectories(
        np.arange(steps) % 2,
        np.arange(1, steps + 1) % 5,
        np.full(steps, reward),
        [0, steps],
        n_actions=2,
        n_observations=5,
        terminated=[False],
        first_observations=[0],
    )
    for discount, worth in ((0.99, 100.0), (0.9999, 1e4), (1.0, 1e4)):
        learner = uqf.TableQ(discount).fit(data)
        known = np.isfinite(learner.values_)
        np.testing.assert_allclose(learner.values_[known], reward * worth, rtol=1e-9)
        assert learner.diagnostics_["planning_error"] <= 1e-6 * abs(reward) * worth
        assert not any("planning" in note for note in learner.diagnostics_["notes"])


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_what_was_never_tried_is_worse_than_the_worst_in_any_unit(scale):
    data = uqf.rollout(chain(), episodes=60, seed=0)
    tried = changed(data, rewards=scale * data.rewards, n_actions=3)
    learner = uqf.TableQ(0.9).fit(tried)
    values = np.stack(
        [learner.policy_.q_values(learner.policy_.initial_state(first=code)) for code in range(5)]
    )
    known = learner.values_[:5, :2]
    assert np.isfinite(known).all() and np.isinf(learner.values_[:, 2]).all()
    assert (values[:, 2] <= known.min(axis=1) - 0.99 * np.ptp(known)).all()
    same = uqf.TableQ(0.9).fit(changed(data, n_actions=3))
    expected = np.stack([same.policy_.q_values(same.policy_.initial_state(first=code)) for code in range(5)])
    np.testing.assert_allclose(values, scale * expected, rtol=1e-6)


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
        model = table_q.Model.of(table_q.Counts.of(data), learner.diagnostics_["prior_steps"])
        bound = model.standard_errors(model.optimal(0.8).pairs, 0.8, max_exact=0)
        bounds.append(model.table(bound, np.inf)[:4] / learner.stderr_[:4])
    assert np.mean(np.array(off) < 2.0) > 0.9
    assert np.mean(off) > 0.4
    assert (np.array(bounds) >= 0.999).all(), "what is meant for many observations is never less"
