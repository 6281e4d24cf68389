"""What is done when the sum over all futures diverges."""

import numpy as np
import pytest

import uqf
from uqf.learn.spectral.state import REMEDIES


@pytest.fixture(scope="module")
def diverging():
    """Few episodes and a high rank: the noise alone has a radius above one."""
    return uqf.rollout(uqf.make("tiger", horizon=6), episodes=30, seed=0)


def diverging_learner(remedy):
    return uqf.UQF(12, 0.95, occurrences="start", max_prefix=2, max_suffix=2, on_divergence=remedy)


def test_divergence_is_refused_with_the_radius(diverging):
    with pytest.raises(uqf.SpectralRadiusError) as refused:
        diverging_learner("refuse").fit(diverging)
    assert refused.value.radius >= 1.0
    assert f"{refused.value.radius:.6g}" in str(refused.value)


@pytest.mark.parametrize("remedy", [remedy for remedy in REMEDIES if remedy != "refuse"])
def test_every_remedy_of_divergence_gives_a_finite_policy_and_says_so(diverging, remedy):
    learner = diverging_learner(remedy).fit(diverging)
    reward, value = learner.wfa_, learner.value_wfa_
    assert np.isfinite(learner.decision_function([[], [(0, 0)], [(0, 0)] * 50])).all()
    assert "spectral radius" in learner.diagnostics_["notes"][0]
    radius = learner.diagnostics_["spectral_radius"]
    if remedy == "lower-rank":
        assert radius < 1.0 and reward.rank < 12
        np.testing.assert_array_equal(value.omega, reward.discounted(0.95).omega)
        return
    assert radius >= 1.0 and reward.rank == 12
    step = 0.95 * reward.operators.sum(axis=0)
    if remedy == "horizon":
        powers = [np.linalg.matrix_power(step, n) @ reward.omega for n in range(6)]
        np.testing.assert_allclose(value.omega, np.sum(powers, axis=0), rtol=1e-9)
    else:
        shrunk = np.eye(reward.rank) - step * 0.99 / radius
        np.testing.assert_allclose(shrunk @ value.omega, reward.omega, atol=1e-9 * np.abs(value.omega).max())
