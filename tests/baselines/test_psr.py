"""Predictive state representations against exact probabilities."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

import uqf
from strategies import pomdps
from uqf.baselines import CPSR, PSR, TPSR, BeliefModel
from uqf.learn.spectral.hankel import exact_hankel, spectral_wfa
from words import some_words


def exact_psr(pomdp, policy=None):
    wfa = uqf.WFA.from_pomdp(pomdp, policy, target="probability")
    return PSR(wfa, pomdp.n_actions, pomdp.n_observations)


def pairs(word, n_observations):
    return [divmod(int(symbol), n_observations) for symbol in word]


@given(pomdps(max_states=6), st.integers(0, 2**32 - 1))
def test_from_the_exact_hankel_it_predicts_exactly(pomdp, seed):
    rng = np.random.default_rng(seed)
    policy = rng.dirichlet(np.ones(pomdp.n_actions), size=pomdp.n_states)
    wfa = uqf.WFA.from_pomdp(pomdp, policy, target="probability")
    rank = wfa.minimise().rank
    basis = some_words(pomdp.n_symbols, 2, rng, 60)
    blocks = exact_hankel(wfa, prefixes=basis, suffixes=basis)
    spectrum = np.linalg.svd(blocks.block, compute_uv=False)
    assume(len(spectrum) >= rank and spectrum[rank - 1] >= 1e-4 * spectrum[0])
    learned = PSR(spectral_wfa(blocks, rank), pomdp.n_actions, pomdp.n_observations)
    exact = PSR(wfa, pomdp.n_actions, pomdp.n_observations)
    for word in some_words(pomdp.n_symbols, 4, rng, 30):
        if any(wfa(word[: end + 1]) < 1e-6 for end in range(len(word))):
            continue
        history = pairs(word, pomdp.n_observations)
        mine, truth = (psr.joint_probs(psr.state(history), raw=True) for psr in (learned, exact))
        np.testing.assert_allclose(mine, truth, atol=1e-8)


@given(pomdps(terminal=False), st.integers(0, 10_000))
def test_states_and_predictions_are_those_of_the_belief_filter(pomdp, seed):
    psr, model = exact_psr(pomdp), BeliefModel(pomdp)
    data = uqf.rollout(pomdp, episodes=3, seed=seed)
    states = psr.states(data)
    for index, episode in enumerate(data):
        belief = model.start
        for t, (action, observation) in enumerate(episode.history):
            state = states[data.offsets[index] + t]
            np.testing.assert_allclose(state, belief, atol=1e-9)
            exact = np.stack([model.likelihood(belief, a) for a in range(pomdp.n_actions)])
            np.testing.assert_allclose(psr.observation_probs(state), exact, atol=1e-9)
            np.testing.assert_allclose(psr.joint_probs(state), exact / pomdp.n_actions, atol=1e-9)
            belief = model.update(belief, action, observation)


def test_the_likelihood_is_the_models_own(tiger):
    psr, model = exact_psr(tiger), BeliefModel(tiger)
    data = uqf.rollout(tiger, episodes=50, seed=0)
    total = 0.0
    for episode in data:
        belief = model.start
        for action, observation in episode.history:
            total += np.log(model.likelihood(belief, action)[observation])
            belief = model.update(belief, action, observation)
    assert psr.log_likelihood(data) == pytest.approx(total / data.n_steps, abs=1e-5)


def test_likelihood_approaches_the_true_models(noisy):
    held_out = uqf.rollout(noisy, episodes=2000, seed=99)
    truth = exact_psr(noisy).log_likelihood(held_out)
    gaps = []
    for episodes in (200, 20_000):
        learner = TPSR(3, max_prefix=2, max_suffix=2).fit(uqf.rollout(noisy, episodes=episodes, seed=1))
        gaps.append(truth - learner.score(held_out))
    unconditional = np.bincount(held_out.observations) / held_out.n_steps
    blind = unconditional @ np.log(unconditional)
    assert gaps[1] < 0.3 * gaps[0]
    assert gaps[1] < 0.02 * (truth - blind)


def test_predictions_from_little_data_are_still_distributions():
    env = uqf.make("gridworld-near")
    learner = TPSR(10).fit(uqf.rollout(env, episodes=30, seed=0))
    states = learner.psr_.states(uqf.rollout(env, episodes=30, seed=1))
    psr = learner.psr_
    for table, axes in ((psr.observation_probs(states), -1), (psr.joint_probs(states), (-2, -1))):
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=axes), 1.0)
    raw = psr.joint_probs(states, raw=True)
    assert (raw < 0).any()
    assert np.isfinite(learner.score(uqf.rollout(env, episodes=30, seed=2)))


def test_unseen_symbols_keep_the_state_and_dead_ones_restart():
    operators = np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.5]]])
    wfa = uqf.WFA([1.0, 0.0], operators, [1.0, 1.0], symbols=[0, 1], n_symbols=3)
    psr = PSR(wfa, 1, 3, anchor=[0.5, 0.5])
    np.testing.assert_allclose(psr.state([(0, 0)]), [1.0, 0.0])
    np.testing.assert_allclose(psr.state([(0, 2)]), [1.0, 0.0])
    # From [1, 0] symbol 1 is impossible: the average state takes it in instead.
    np.testing.assert_allclose(psr.state([(0, 1)]), [0.0, 1.0])
    np.testing.assert_allclose(psr.observation_probs([0.0, 0.0]), [[1 / 3, 1 / 3, 1 / 3]])
    dead = PSR(uqf.WFA([1.0, 0.0], np.zeros((1, 2, 2)), [1.0, 1.0]), 1, 1, anchor=[0.25, 0.25])
    np.testing.assert_allclose(dead.state([(0, 0)]), [0.5, 0.5])


@pytest.mark.slow
@pytest.mark.parametrize("learner", [TPSR(6), CPSR(6, projection="hashed", prefix_dim=400, suffix_dim=400)])
def test_the_linear_policy_beats_chance(learner):
    env = uqf.make("gridworld-near")
    returns = []
    for seed in range(12):
        policy = learner.fit(uqf.rollout(env, episodes=2000, seed=seed)).policy_
        returns.append(uqf.estimate_return(env, policy, episodes=1000, seed=1).mean)
    assert np.mean(returns) > uqf.estimate_return(env, None, episodes=1000, seed=1).mean + 0.1


def test_the_rank_can_be_searched_for(noisy):
    data = uqf.rollout(noisy, episodes=1500, seed=5)
    search = GridSearchCV(TPSR(max_prefix=1, max_suffix=1), {"rank": [1, 3]}, cv=3).fit(data)
    assert search.best_params_ == {"rank": 3}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
