"""Whole fits: beside the NumPy twin, beside other learners on the same episodes, and growth with the data."""

from itertools import pairwise

import pytest
from experience import DIM, LONGEST, RANK, learner, spocman
from race import Reference, race

import uqf
from uqf import _core, _reference
from uqf.baselines import CPSR, TPSR, FittedQ, MemorylessQ


def twin(data):
    """The same fit in readable NumPy. It adds an outer product for every pair of words: most of the ratio is the
    algorithm (each side is summed first), not the language.
    """
    known = [{}, {}]

    def feature(side):
        def phi(word):
            if word not in known[side]:
                known[side][word] = _core.project_words([word], "hashed", DIM, side)[0]
            return known[side][word]

        return phi

    spans = pairwise(data.offsets)
    episodes = [(data.symbols[first:last], data.rewards[first:last]) for first, last in spans]
    return _reference.learn_automaton(
        episodes, data.n_symbols, RANK, feature(0), feature(1),
        target="return", where="anywhere", discount=0.95, max_prefix=LONGEST, max_suffix=LONGEST,
    )  # fmt: skip


@pytest.mark.parametrize("steps", [10_000, 100_000, 1_000_000])
def test_fit(benchmark, steps):
    data, sample = spocman(steps), spocman(500)
    references = [
        Reference("NumPy twin", lambda: twin(sample), scale=data.n_steps / sample.n_steps, target=50.0)
    ]
    race(
        benchmark,
        lambda: learner().fit(data),
        references,
        stage="whole fit", case=f"hashed, {steps:,} steps", amount=data.n_steps, unit="steps", rounds=3,
    )  # fmt: skip


#: Steps in the smallest and in the largest of the fits that growth is measured on.
SMALL, LARGE = 100_000, 10_000_000


@pytest.mark.parametrize("times", [10, LARGE // SMALL])
def test_growth(benchmark, times):
    """Time beside `times` small fits of as many steps together: 1 is linear. The exponent of time against steps is
    1 − log(ratio) / log(times); between 0.95 and 1.05 the ratio of 100 times lies between 0.79 and 1.26.
    """
    small, large = spocman(SMALL), spocman(SMALL * times)
    scale = large.n_steps / small.n_steps

    reference = Reference("small fits together", lambda: learner().fit(small), "self", scale, 0.8)
    race(
        benchmark,
        lambda: learner().fit(large),
        [reference],
        stage="whole fit", case=f"growth, {times} × {SMALL:,} steps", amount=large.n_steps, unit="steps",
        rounds=3 if times > 10 else 5,
    )  # fmt: skip


RIVALS = {
    "MemorylessQ": MemorylessQ(discount=0.95),
    "TPSR": TPSR(10, n_prefixes=DIM, n_suffixes=DIM),
    "CPSR": CPSR(10, projection="hashed", prefix_dim=DIM, suffix_dim=DIM),
    "fitted Q, scikit-learn's extra trees": FittedQ(
        CPSR(10, projection="hashed", prefix_dim=DIM, suffix_dim=DIM), iterations=2
    ),
}


@pytest.mark.parametrize("name", ["UQF", "ContextQ"])
def test_fit_beside_other_learners(benchmark, name):
    """About ten thousand steps. Fitted Q has only two of its rounds."""
    data = spocman(10_000)
    mine = learner() if name == "UQF" else uqf.ContextQ(learning_discount=0.85)
    references = [Reference(other, lambda rival=rival: rival.fit(data)) for other, rival in RIVALS.items()]
    race(
        benchmark,
        lambda: mine.fit(data),
        references,
        stage="whole fit", case=f"{name}, 10,000 steps", amount=data.n_steps, unit="steps", rounds=3,
    )  # fmt: skip
