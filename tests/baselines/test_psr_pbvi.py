"""Planning on a predictive state: exact on an exact model, better than chance on a learned one."""

import numpy as np
import pytest
from sklearn.base import clone

import uqf
from uqf.baselines import EM, PBVI, PSR, PSRPBVI, TPSR, BeliefModel
from uqf.baselines.alpha_vectors import AlphaVectors
from uqf.baselines.psr_pbvi import Backups


def test_backups_on_the_exact_model_are_those_of_beliefs(cheese_maze):
    model = BeliefModel(cheese_maze)
    psr = PSR(uqf.WFA.from_pomdp(cheese_maze, target="probability"), 4, 7)
    points = np.random.default_rng(0).dirichlet(np.ones(11), size=20)
    vectors = np.random.default_rng(1).normal(size=(6, 11))
    every = uqf.Trajectories(
        np.arange(4), np.zeros(4, int), np.zeros(4), [0, 4], n_actions=4, n_observations=7
    )
    mine, actions = Backups.of(psr, model.rewards, every, model.discount)(points, vectors)
    exact = AlphaVectors(vectors, np.zeros(6, int)).backup(model, points)
    np.testing.assert_allclose((mine * points).sum(axis=1), exact.values(points), atol=1e-12)
    assert set(actions) == set(exact.actions)


def test_an_exact_model_of_tiger_is_planned_well(tiger):
    data = uqf.rollout(tiger, episodes=2000, horizon=20, seed=0)
    psr = PSR(uqf.WFA.from_pomdp(tiger, target="probability"), 3, 2)
    learner = PSRPBVI(psr, discount=0.95, points=400, iterations=300).fit(data)
    policy = learner.policy_
    score = uqf.estimate_return(tiger, policy, episodes=400, horizon=120, discount=0.95, seed=1)
    best = PBVI(tolerance=0.05).solve(tiger).lower_bound_
    # The shares of the actions are counted, so the operators are off by a per cent or so.
    assert score.mean > best - 4 * score.stderr - 1.0
    np.testing.assert_allclose(policy.q_values(policy.initial_state()).max(), best, atol=2.0)


def test_a_learned_model_beats_chance():
    env = uqf.make("gridworld-near")
    # A short horizon: errors of the learned operators grow with every step planned ahead.
    learner, returns = PSRPBVI(TPSR(5), discount=0.9, points=200, iterations=60), []
    for seed in range(5):
        data = uqf.rollout(env, episodes=2000, seed=seed)
        learner.fit(data)
        lowest, highest = data.rewards.min() / 0.1, data.rewards.max() / 0.1
        assert (learner.values_ >= lowest - 1e-6).all() and (learner.values_ <= highest + 1e-6).all()
        returns.append(uqf.estimate_return(env, learner.policy_, episodes=200, seed=1).mean)
    assert np.mean(returns) > uqf.estimate_return(env, None, episodes=1000, seed=1).mean + 0.1


def test_conventions_and_misuse(tiger):
    learner = PSRPBVI(TPSR(2), points=7)
    assert clone(learner).get_params()["model__rank"] == 2
    data = uqf.rollout(tiger, episodes=5, seed=0)
    for bad, kind, message in [
        (PSRPBVI(discount=1.0), ValueError, "discount = 1"),
        (PSRPBVI(points=0), ValueError, "points = 0"),
        (PSRPBVI("tpsr"), TypeError, "model is a str"),
        (PSRPBVI(uqf.UQF(1)), TypeError, "model is a UQF"),
    ]:
        with pytest.raises(kind, match=message):
            bad.fit(data)
    assert isinstance(PSRPBVI(EM(2, iterations=2), iterations=2).fit(data).psr_, PSR)
