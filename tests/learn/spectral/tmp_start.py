import numpy as np
import pytest
from uqf.learn.state import Basis, Target, learn_state

import uqf
from uqf import _core, _reference
from words import words_up_to


@pytest.mark.parametrize("kind", ["gaussian", "rademacher", "sparse", "hashed"])
def test_the_start_is_estimated_directly(kind):
    """Rewards 2⁻ᵗ make a Hankel block of exactly rank 2; three dimensions then hold all of its 5 × 5."""
    data = uqf.Trajectories.from_episodes(
        [([0] * 12, [0] * 12, 0.5 ** np.arange(1, 13))], n_actions=1, n_observations=1
    )
    words = words_up_to(1, 4)
    exact = np.array([0.0, *0.5 ** np.arange(1.0, 5.0)])
    for seed in range(20):
        projections = [_core.project_words(words, kind, 3, 2 * seed + side) for side in (0, 1)]
        basis = Basis("start", 4, 4, projection=kind, prefix_dim=3, suffix_dim=3, seed=seed)
        if min(np.linalg.matrix_rank(projection) for projection in projections) < 3:
            continue  # hashed words may share too few buckets
        if kind == "hashed" and np.abs(projections[0][1:] @ projections[0][0]).max() == 0:
            continue  # λ has a bucket of its own: the one case where the paper's e exists
        state = learn_state(data, basis, [Target("reward")], 2)
        if state.decomposition.singular_values[-1] < 1e-3:
            continue
        np.testing.assert_allclose(state.wfa().values(words), exact, atol=1e-12)
        parts = state.decomposition
        paper = _reference.paper_start(parts.left, parts.singular_values, projections[0])
        assert np.linalg.norm(paper - state.alpha) > 0.05 * np.linalg.norm(state.alpha)
        return
    pytest.fail("no seed gave a usable projection")
