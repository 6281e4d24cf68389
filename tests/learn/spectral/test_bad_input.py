"""Bad input: a clear error or a documented behaviour, and never NaN in a policy."""

from functools import partial

import numpy as np
import pytest

import uqf
from uqf.policies.policy import remembered

LEARNERS = pytest.mark.parametrize(
    "learner",
    [partial(uqf.UQF, occurrences="start"), uqf.UQF, partial(uqf.UQF, target="return")],
    ids=["start", "anywhere", "return"],
)


def episodes(*given, n_actions=3, n_observations=2):
    return uqf.Trajectories.from_episodes(list(given), n_actions=n_actions, n_observations=n_observations)


@pytest.fixture(scope="module")
def data():
    return uqf.rollout(uqf.make("tiger", horizon=5), episodes=100, seed=0)


def assert_sane(learner):
    """Values are finite and probabilities are probabilities, after short, long and unseen histories."""
    policy = learner.policy_
    for history in ([], [(0, 0)], [(policy.n_actions - 1, policy.n_observations - 1)] * 3, [(0, 0)] * 300):
        assert np.isfinite(learner.decision_function([history])).all()
        probs = policy.action_probs(remembered(policy, history))
        assert (probs >= 0).all() and probs.sum() == pytest.approx(1.0)
    assert not any(np.isnan(value) for value in learner.diagnostics_.values() if isinstance(value, float))


@LEARNERS
@pytest.mark.parametrize("projection", [None, "gaussian", "hashed"])
def test_rewards_that_are_all_zero_are_refused(learner, projection):
    with pytest.raises(uqf.NumericalError):
        learner(1, projection=projection).fit(episodes(*[([0, 1], [0, 1], [0.0, 0.0])] * 3))


@LEARNERS
def test_zero_discount_and_no_discount_are_allowed(data, learner):
    for discount in (0.0, 1.0):
        assert_sane(learner(2, discount).fit(data))


@LEARNERS
def test_a_single_episode_and_a_single_step_are_enough(learner):
    assert_sane(learner().fit(episodes(([0, 1], [0, 1], [1.0, 2.0]))))
    assert_sane(learner().fit(episodes(([0], [0], [1.0]))))


@LEARNERS
def test_one_symbol_only(learner):
    fitted = learner().fit(episodes(*[([0] * 4, [0] * 4, [1.0] * 4)] * 3, n_actions=1, n_observations=1))
    assert_sane(fitted)
    assert list(fitted.predict([[], [(0, 0)]])) == [0, 0]


@LEARNERS
def test_unseen_symbols_keep_the_last_state(learner):
    fitted = learner(2).fit(episodes(([0, 1, 0], [0, 0, 0], [1.0, 2.0, 1.0]), ([1, 0], [0, 0], [1.0, 3.0])))
    policy, parts = fitted.policy_, fitted.policy_.parts()
    before, after = (remembered(policy, history) for history in ([(0, 0)], [(0, 0), (2, 1), (0, 1)]))
    np.testing.assert_array_equal(policy.vector(after), policy.vector(before))
    seen, unseen = parts["propensities"][parts["symbols"].tolist().index(0)], parts["propensities"][-2]
    np.testing.assert_allclose(policy.q_values(after) * unseen, policy.q_values(before) * seen)
    assert fitted.diagnostics_["unseen_symbols"] == 4


@LEARNERS
@pytest.mark.parametrize("projection", [None, "gaussian", "hashed"])
@pytest.mark.parametrize("size", [1e300, 1e-200])
def test_huge_and_tiny_rewards(learner, projection, size):
    """The policy is that of the same rewards in other units."""
    plain = np.array([[1.0, -1.0, 1.0], [1.0, 0.5, 2.0]])
    fitted = []
    for rewards in (plain, size * plain):
        data = episodes(([0, 1, 2], [0, 1, 0], rewards[0]), ([0, 1, 1], [1, 1, 0], rewards[1]))
        fitted.append(learner(2, 0.5, projection=projection, prefix_dim=30, suffix_dim=30).fit(data))
        assert_sane(fitted[-1])
    one, other = (each.decision_function([[], [(0, 0)], [(0, 1)]]) for each in fitted)
    np.testing.assert_allclose(other / np.abs(other).max(), one / np.abs(one).max(), atol=1e-9)


@LEARNERS
@pytest.mark.parametrize("projection", [None, "rademacher", "sparse"])
def test_words_longer_than_every_episode_change_nothing(data, learner, projection):
    fits = learner(
        3, 0.9, projection=projection, max_prefix=5, max_suffix=5, prefix_dim=40, suffix_dim=40
    ).fit(data)
    longer = learner(3, 0.9, projection=projection, prefix_dim=40, suffix_dim=40)
    longer.set_params(max_prefix=10**9, max_suffix=10**9).fit(data)
    np.testing.assert_array_equal(longer.wfa_.operators, fits.wfa_.operators)
