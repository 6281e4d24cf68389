"""The stages of a spectral fit, each on a ladder of sizes: words, accumulation, decomposition, second pass."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse.linalg
from experience import DIM, LONGEST, accumulated, basis, decomposed, settings, spocman
from race import Reference, race
from sklearn.utils.extmath import randomized_svd
from yardstick import CountPairs

from uqf import _core
from uqf.learn.spectral.decomposition import decompose
from uqf.learn.spectral.passes import block_matrix
from uqf.learn.spectral.sums import HankelSums


def copying(array):
    copied = np.empty_like(array)
    return lambda: np.copyto(copied, array)


@pytest.mark.parametrize("steps", [10_000, 100_000, 1_000_000])
def test_enumeration(benchmark, steps):
    """Counting all words of up to three symbols; the rival does so in a plain Python loop."""
    data, sample = spocman(steps), spocman(10_000)

    def count_in_python():
        counts = Counter()
        for first, last in pairwise(sample.offsets.tolist()):
            symbols = sample.symbols[first:last].tolist()
            for length in range(1, LONGEST + 1):
                counts.update(zip(*(symbols[shift:] for shift in range(length)), strict=False))
        return counts.most_common(DIM)

    references = [
        Reference("Python's Counter", count_in_python, scale=data.n_steps / sample.n_steps),
        Reference("copying the symbols", copying(data.symbols), "limit"),
    ]
    race(
        benchmark,
        lambda: _core.most_frequent(data, occurrences="anywhere", max_length=LONGEST, limit=DIM),
        references,
        stage="enumeration", case=f"{steps:,} steps", amount=data.n_steps, unit="steps", rounds=3,
    )  # fmt: skip


def sparse_rows(data, side):
    """φ summed over the words at every cut, as a scipy matrix (cuts, DIM): what the two passes multiply."""
    starts, ends = data.offsets[:-1], data.offsets[1:]
    keys, rows, places, values = {}, [], [], []
    cut = 0
    for first, last in zip(starts.tolist(), ends.tolist(), strict=True):
        symbols = data.symbols[first:last].tolist()
        for at in range(last - first + 1):
            for length in range(LONGEST + 1):
                word = tuple(symbols[at - length : at] if side == 0 else symbols[at : at + length])
                if len(word) == length and (at >= length or side == 1):
                    if word not in keys:
                        vector = _core.project_words([list(word)], "hashed", DIM, side)[0]
                        place = int(np.flatnonzero(vector)[0])
                        keys[word] = (place, float(vector[place]))
                    place, value = keys[word]
                    rows.append(cut)
                    places.append(place)
                    values.append(value)
            cut += 1
    return scipy.sparse.csr_array((values, (rows, places)), shape=(cut, DIM))


@pytest.mark.parametrize("steps", [10_000, 100_000, 1_000_000])
def test_hashed_accumulation(benchmark, steps, tmp_path):
    data, sample = spocman(steps), spocman(10_000)
    left, right = sparse_rows(sample, 0), sparse_rows(sample, 1)
    counted = settings(data, basis())
    counters = CountPairs(data, tmp_path, max_prefix=LONGEST, max_suffix=LONGEST, dim=DIM)
    references = [
        Reference("one counter a pair", lambda: counters.count()[0], "limit", target=0.25, clocked=True),
        Reference("scipy's sparse product", lambda: left.T @ right, scale=data.n_steps / sample.n_steps),
    ]
    race(
        benchmark,
        lambda: HankelSums.of(data, counted, threads=1),
        references,
        stage="accumulation", case=f"hashed, {steps:,} steps", amount=data.n_steps, unit="steps",
    )  # fmt: skip
    counters.close()


@pytest.mark.parametrize("projection", [None, "gaussian", "rademacher", "sparse"])
def test_accumulation(benchmark, projection):
    """The other kinds beside the hashed one. Exact statistics count the words first."""
    data = spocman(20_000)
    hashed = Reference("hashed", lambda: accumulated(data), "self")
    race(
        benchmark,
        lambda: accumulated(data, projection),
        [hashed],
        stage="accumulation", case=projection or f"exact, {DIM} words", amount=data.n_steps, unit="steps", rounds=3,
    )  # fmt: skip


@pytest.mark.parametrize("rank", [16, 40, 64, 128])
def test_second_pass(benchmark, rank):
    """All of the pass, hashing included, beside its matrix products alone: 2 rank² operations a step."""
    data = spocman(200_000)
    counted, parts = settings(data, basis()), decomposed(data, rank)
    rows = 8192
    left, right = np.random.default_rng(0).standard_normal((2, rows, rank))
    target = 0.4 if rank >= 64 else None
    references = [
        Reference("BLAS, products only", lambda: left.T @ right, "limit", data.n_steps / rows, target)
    ]
    race(
        benchmark,
        lambda: _core.sum_operators(data, counted, parts.prefix_map, parts.suffix_map, threads=1),
        references,
        stage="second pass", case=f"rank {rank}", amount=data.n_steps, unit="steps",
    )  # fmt: skip


@pytest.mark.parametrize("projection", [None, "gaussian", "rademacher", "sparse"])
def test_second_pass_of_other_kinds(benchmark, projection):
    data, rank = spocman(20_000), 40
    hashed, hashed_parts = settings(data, basis()), decomposed(data, rank)
    counted, parts = settings(data, basis(projection)), decomposed(data, rank, projection)
    reference = Reference(
        "hashed",
        lambda: _core.sum_operators(
            data, hashed, hashed_parts.prefix_map, hashed_parts.suffix_map, threads=1
        ),
        "self",
    )
    race(
        benchmark,
        lambda: _core.sum_operators(data, counted, parts.prefix_map, parts.suffix_map, threads=1),
        [reference],
        stage="second pass", case=projection or f"exact, {DIM} words", amount=data.n_steps, unit="steps", rounds=3,
    )  # fmt: skip


@pytest.mark.parametrize("size", [200, 800, 2000])
def test_decomposition(benchmark, size):
    """In full for small blocks, leading vectors only for large ones; the rivals compute as many."""
    data, rank = spocman(100_000), 40
    wide = replace(basis(), prefix_dim=size, suffix_dim=size)
    sums = HankelSums.of(data, settings(data, wide), threads=1)
    block = block_matrix(sums) / len(data)
    references = [
        Reference("scipy's svds", lambda: scipy.sparse.linalg.svds(block, k=rank)),
        Reference("scikit-learn's randomized_svd", lambda: randomized_svd(block, rank, random_state=0)),
    ]
    race(
        benchmark,
        lambda: decompose(block, rank),
        references,
        stage="SVD", case=f"{size} × {size}, rank {rank}", amount=1, unit="blocks", rounds=3,
    )  # fmt: skip
