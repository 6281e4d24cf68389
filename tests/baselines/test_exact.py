"""Exact value iteration against enumeration of all plans, and on the Tiger."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from mazes import random_world
from uqf.baselines import BeliefModel, ExactValueIteration
from uqf.baselines.alpha_vectors import useful


def search_tree(model, belief, horizon):
    """Optimal value by trying every action and every observation; `belief` need not be normalised."""
    if horizon == 0 or belief.sum() == 0.0:
        return 0.0
    successors = np.einsum("s,aost->aot", belief, model.joint_operators())
    return max(
        model.rewards[action] @ belief
        + model.discount * sum(search_tree(model, after, horizon - 1) for after in successors[action])
        for action in range(model.n_actions)
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([0.7, 1.0]))
def test_equals_the_search_tree_from_any_belief(seed, horizon, discount):
    pomdp = random_world(seed, spread=0.5, discount=discount, terminal=[False, False, seed % 2 == 0])
    solved = ExactValueIteration(horizon=horizon).solve(pomdp)
    model = BeliefModel(pomdp)
    assert solved.lower_bound_ == solved.upper_bound_ == solved.plans_.values(pomdp.start)
    for belief in (pomdp.start, *np.random.default_rng(seed).dirichlet(np.ones(3), size=5)):
        assert solved.plans_.values(belief) == pytest.approx(search_tree(model, belief, horizon), abs=1e-5)


def test_tiger_endless(tiger):
    solved = ExactValueIteration(tolerance=0.02).solve(tiger)
    assert 19.37 - 0.02 < solved.lower_bound_ <= solved.upper_bound_ < 19.37 + 0.02
    assert solved.policy_.action(tiger.start) == 0


def test_tiger_with_few_steps(tiger):
    # One step: listening is best. Two: listening twice, as after one hearing a door earns 8.5 − 15.
    assert ExactValueIteration(horizon=1).solve(tiger).lower_bound_ == pytest.approx(-1.0)
    assert ExactValueIteration(horizon=2).solve(tiger).lower_bound_ == pytest.approx(-1.95)


def test_the_staged_policy_earns_its_value(tiger):
    solved = ExactValueIteration(horizon=8).solve(tiger)
    score = uqf.estimate_return(tiger, solved.policy_, episodes=3000, horizon=8, seed=6)
    assert score.mean == pytest.approx(solved.lower_bound_, abs=4 * score.stderr)
    state = solved.policy_.initial_state()
    for _ in range(9):
        state = solved.policy_.update(state, 0, 0)
    np.testing.assert_allclose(solved.policy_.action_probs(state), 1 / 3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 120))
def test_pruning_keeps_the_upper_surface_and_nothing_more(seed, states, count):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, states))
    vectors = np.concatenate([vectors, 0.5 * vectors + 0.5 * vectors[::-1], vectors[:3]])
    kept = useful(vectors)
    beliefs = rng.dirichlet(np.full(states, 0.5), size=500)
    values = beliefs @ vectors.T
    np.testing.assert_allclose((beliefs @ vectors[kept].T).max(axis=1), values.max(axis=1), atol=1e-5)
    assert len(np.unique(vectors[kept], axis=0)) == len(kept)
    assert np.all(kept < count)  # mixtures and copies are never needed
