"""Expectation–maximisation: rounds of our two Baum–Welch trainers beside hmmlearn's, on the same sequences."""

import numpy as np
import pytest
from experience import random_clones, spocman
from race import Reference, race

import uqf
from uqf.baselines import EM

ROUNDS = 3


def without_actions(data):
    """The observations alone, renumbered: a plain hidden Markov model, which is what hmmlearn learns."""
    seen, codes = np.unique(data.observations, return_inverse=True)
    return uqf.Trajectories(
        np.zeros_like(data.actions), codes.astype(np.int32), data.rewards, data.offsets,
        n_actions=1, n_observations=len(seen), terminated=data.terminated,
    )  # fmt: skip


def hmmlearn_rounds(data, states):
    hmm = pytest.importorskip("hmmlearn.hmm")
    sequences, lengths = data.observations.reshape(-1, 1), np.diff(data.offsets)

    def train():
        # A tolerance below zero: all rounds are made, as ours are.
        model = hmm.CategoricalHMM(
            states, n_iter=ROUNDS, tol=-np.inf, random_state=0, implementation="scaling", n_features=data.n_observations
        )  # fmt: skip
        model.fit(sequences, lengths)

    return train


@pytest.mark.parametrize("states", [10, 60])
def test_baum_welch(benchmark, states):
    data = without_actions(spocman(20_000))
    # One round less: ours evaluates the last model as well.
    mine = EM(states, iterations=ROUNDS - 1, tolerance=0.0, pseudo_count=0.0)
    race(
        benchmark,
        lambda: mine.fit(data),
        [Reference("hmmlearn", hmmlearn_rounds(data, states))],
        stage="EM", case=f"{states} states", amount=ROUNDS * data.n_steps, unit="steps", rounds=3,
    )  # fmt: skip


def test_cloned_model(benchmark):
    """Every state belongs to one observation, which makes a round a great deal cheaper."""
    data, states = without_actions(spocman(20_000)), 60
    models = random_clones(data, states)

    def train():
        found = models
        for _ in range(ROUNDS):
            found = found.iterated(data)

    race(
        benchmark,
        train,
        [Reference("hmmlearn", hmmlearn_rounds(data, states))],
        stage="EM", case=f"cloned, {states} states", amount=ROUNDS * data.n_steps, unit="steps", rounds=3,
    )  # fmt: skip
