"""Words and Hankel statistics: bases, merging, threads, shards."""

import pickle
from collections import Counter
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import uqf
from counting import counted, learned_state
from strategies import trajectories
from uqf import _core
from uqf.learn.spectral.basis import Basis, Target
from uqf.learn.spectral.sums import HankelSums

PROJECTIONS = [None, "gaussian", "rademacher", "sparse", "hashed"]


@given(trajectories(), st.sampled_from(["start", "anywhere"]), st.integers(0, 4), st.integers(1, 12))
def test_basis_is_the_most_frequent_words_and_closed(data, occurrences, length, limit):
    counts = Counter()
    for episode in data:
        symbols = tuple(episode.actions * data.n_observations + episode.observations)
        for begin in [0] if occurrences == "start" else range(len(symbols) + 1):
            for end in range(begin, min(begin + length, len(symbols)) + 1):
                counts[symbols[begin:end]] += 1
    words, found = _core.most_frequent(data, occurrences=occurrences, max_length=length)
    assert dict(zip(map(tuple, words), found, strict=True)) == counts
    chosen, frequencies = _core.most_frequent(data, occurrences=occurrences, max_length=length, limit=limit)
    assert [list(word) for word in chosen] == [list(word) for word in words[:limit]]
    assert frequencies == sorted(frequencies, reverse=True)
    assert all(word[:-1] in chosen for word in chosen if word)
    assert chosen[0] == []


def bits(sums):
    return sums.counts, sums.coverage, [array.tobytes() for array in sums.arrays.values()]


@pytest.mark.parametrize("projection", PROJECTIONS)
@settings(max_examples=max(10, settings().max_examples // 4))
@given(
    data=trajectories(max_episodes=12),
    by_symbol=st.booleans(),
    cuts=st.lists(st.integers(1, 11), max_size=3),
    occurrences=st.sampled_from(["start", "anywhere"]),
    target=st.sampled_from([Target("probability"), Target("return", 0.9), Target("reward")]),
)
def test_any_split_into_shards_gives_the_same_bits(projection, data, by_symbol, cuts, occurrences, target):
    basis = Basis(
        occurrences=occurrences, max_prefix=2, max_suffix=2, projection=projection, prefix_dim=9, suffix_dim=9
    )
    what = counted(data, basis, target)
    whole = HankelSums.of(data, what, by_symbol=by_symbol)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    shards = [
        HankelSums.of(data[first:last], what, by_symbol=by_symbol, threads=2)
        for first, last in pairwise(edges)
    ]
    shards = [pickle.loads(pickle.dumps(shard)) for shard in shards]
    forwards = reduce(HankelSums.plus, shards)
    backwards = reduce(lambda total, shard: shard.plus(total), reversed(shards))  # a + (b + c)
    assert bits(forwards) == bits(backwards) == bits(whole)


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_threads_agree_bit_for_bit(projection):
    data = uqf.rollout(uqf.make("spocman"), episodes=2500, horizon=12, seed=4)
    basis = Basis(
        projection=projection, prefix_dim=20, suffix_dim=20, n_prefixes=50, n_suffixes=50, max_prefix=2
    )
    one, two, three = (
        learned_state(data, basis, Target("return", 0.9), 5, threads=threads) for threads in (1, 2, 3)
    )
    for other in (two, three):
        assert one.alpha.tobytes() == other.alpha.tobytes()
        assert one.operators.tobytes() == other.operators.tobytes()
        assert one.omega.tobytes() == other.omega.tobytes()


@given(trajectories(max_episodes=10))
def test_a_day_can_be_forgotten(data):
    assume(len(data) > 1)
    what = counted(data, Basis(max_prefix=1, max_suffix=1), Target("return", 0.9))
    all_days, first, rest = (HankelSums.of(part, what) for part in (data, data[:1], data[1:]))
    whole = all_days.plus(first, -1.0)
    np.testing.assert_allclose(whole.average, rest.average, atol=1e-12)
    assert whole.counts == rest.counts
    with pytest.raises(ValueError, match="only"):
        rest.plus(all_days, -1.0)


def test_explicit_blocks_dense_and_sparse():
    data = uqf.Trajectories.from_episodes(
        [([0, 1], [0, 0], [1.0, 2.0]), ([0, 0], [0, 0], [3.0, 4.0])], n_actions=2, n_observations=1
    )
    words = [(), (0,), (1,)]
    dense = uqf.hankel(data, prefixes=words, suffixes=words)
    np.testing.assert_allclose(dense.block, [[0, 2, 0], [2, 2, 1], [0, 0, 0]])
    np.testing.assert_allclose(dense.symbol_blocks[1], [[0, 0, 0], [1, 0, 0], [0, 0, 0]])
    sparse = uqf.hankel(data, prefixes=words, suffixes=words, sparse=True)
    assert scipy.sparse.issparse(sparse.block)
    np.testing.assert_array_equal(sparse.block.toarray(), dense.block)
    anywhere = uqf.hankel(
        data, prefixes=words, suffixes=words, occurrences="anywhere", target="return", discount=0.5
    )
    # λλ: γG₁ + G₁ + G₂ of both episodes; G = (2, 2) and (5, 4).
    assert anywhere.block[0, 0] == pytest.approx((1 + 2 + 2 + 2.5 + 5 + 4) / 2)


def test_sums_over_other_words_are_not_added():
    data = uqf.rollout(uqf.make("tiger"), episodes=3)
    one, other = (
        HankelSums.of(data, counted(data, Basis(max_prefix=length, max_suffix=1), Target("reward")))
        for length in (1, 2)
    )
    with pytest.raises(ValueError, match="shape"):
        one.plus(other)
