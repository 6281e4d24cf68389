"""Compressed learning: equal to exact learning when wide enough, better with width, right about α."""

import numpy as np
import pytest

import uqf
from counting import learned_state
from uqf import _core, _reference
from uqf.learn.spectral.basis import Basis, Target
from uqf.learn.spectral.hankel import exact_hankel
from words import words_up_to


def compress(blocks, kind, dim, seed):
    left = _core.project_words(blocks.prefixes, kind, dim, 2 * seed)
    right = _core.project_words(blocks.suffixes, kind, dim, 2 * seed + 1)
    return left, right


def recover(blocks, left, right, rank, start):
    """Algorithm 2 on exact blocks; `start` is "direct" or "paper"."""
    u, d, vt = np.linalg.svd(left.T @ blocks.block @ right, full_matrices=False)
    u, d, v = u[:, :rank], d[:rank], vt[:rank].T
    to_state = (u / d).T @ left.T
    operators = [to_state @ blocks.symbol_blocks[s] @ right @ v for s in sorted(blocks.symbol_blocks)]
    alpha = blocks.start @ right @ v if start == "direct" else _reference.paper_start(u, d, left)
    return uqf.WFA(alpha, operators, to_state @ blocks.column)


@pytest.fixture(scope="module")
def tiger():
    wfa = uqf.WFA.from_pomdp(uqf.make("tiger").tabular())
    words = words_up_to(6, 2)
    return wfa, exact_hankel(wfa, prefixes=words, suffixes=words), words_up_to(6, 4)


@pytest.mark.parametrize("kind", ["gaussian", "rademacher", "sparse", "hashed"])
def test_direct_start_is_exact_and_the_papers_is_not(tiger, kind):
    wfa, blocks, words = tiger
    exact = wfa.values(words)
    left, right = compress(blocks, kind, 12, seed=3)
    direct = recover(blocks, left, right, 3, "direct")
    np.testing.assert_allclose(direct.values(words), exact, atol=1e-12 * np.abs(exact).max())
    paper = recover(blocks, left, right, 3, "paper")
    assert np.linalg.norm(paper.values(words) - exact) > 0.1 * np.linalg.norm(exact)


def test_the_papers_start_is_right_when_nothing_is_compressed(tiger):
    wfa, blocks, words = tiger
    wide = 3 * len(blocks.prefixes)
    left, right = compress(blocks, "gaussian", wide, seed=1)
    paper = recover(blocks, left, right, 3, "paper")
    np.testing.assert_allclose(paper.values(words), wfa.values(words), atol=1e-9)


@pytest.mark.parametrize("kind", ["gaussian", "rademacher", "sparse", "hashed"])
def test_error_falls_with_width(kind):
    """Noise gives the block full rank, so compression costs something, and less with more dimensions."""
    data = uqf.rollout(uqf.make("tiger", horizon=4), episodes=60, seed=0)
    target = Target("return", 0.9)
    words = words_up_to(6, 2)
    exact = learned_state(data, Basis(max_prefix=1, max_suffix=1), target, 2).wfa().values(words)

    def error(dim):
        squares = []
        for seed in range(16):
            basis = Basis(
                max_prefix=1, max_suffix=1, projection=kind, prefix_dim=dim, suffix_dim=dim, seed=seed
            )
            values = learned_state(data, basis, target, 2).wfa().values(words)
            squares.append(((values - exact) ** 2).sum())
        return np.sqrt(np.median(squares))

    assert error(256) < 0.5 * error(8)


def test_wide_injective_hashing_equals_the_uncompressed_learner():
    """With a bucket for every word the projection is a signed permutation, and nothing is lost."""
    data = uqf.rollout(uqf.make("tiger", horizon=4), episodes=300, seed=5)
    target = Target("return", 0.9)
    words = words_up_to(6, 1)
    for seed in range(100):
        projected = [_core.project_words(words, "hashed", 5000, 2 * seed + side) for side in (0, 1)]
        if all((np.abs(p).sum(axis=0) <= 1).all() for p in projected):
            break
    basis = Basis(
        max_prefix=1, max_suffix=1, projection="hashed", prefix_dim=5000, suffix_dim=5000, seed=seed
    )
    compressed = learned_state(data, basis, target, 4).wfa()
    exact = learned_state(data, Basis(max_prefix=1, max_suffix=1), target, 4).wfa()
    test_words = words_up_to(6, 3)
    np.testing.assert_allclose(compressed.values(test_words), exact.values(test_words), atol=1e-8)
