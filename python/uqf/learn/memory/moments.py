"""Where the training of cloned hidden Markov models begins: steps that look alike from both sides share a clone.

Every step is described by what came before it and by what came after it. Of these two descriptions the directions that
predict each other best are kept (canonical correlations); they are nearly linear in the hidden state. Clusters of them
within an observation are the first guess of its clones.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from uqf import _core
from uqf.episodes.sums import discounted_backward, discounted_forward, time_within
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.sample import Sample

#: Symbols that are told apart, the commonest; the rest count as one.
SYMBOLS = 16

#: Single steps that are looked at on either side, and decays of the traces that reach farther.
LAGS = 6
DECAYS = (0.5, 0.8, 0.95)

#: Time constants by which the past knows how long it is, and discounts of the rewards in the future.
CLOCKS = (5.0, 20.0, 50.0)
DISCOUNTS = (0.8, 0.95)
REWARD_WEIGHT = 3.0

#: Directions kept of either side, and penalty of the correlations.
RANK = 8
RIDGE = 1e-2

#: Rounds of clustering, and steps that it sees at most for one observation.
ROUNDS = 8
MAX_POINTS = 8_000

#: Steps on which the guess rests at most. One that rests on so many of one half serves for all episodes.
GUESS_STEPS = 20_000
MIN_GUESS = 10_000

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Start:
    """Where the training on a sample begins: its first steps, embedded by their past and future."""

    sample: Sample
    guess: Sample
    rows: Rows

    @classmethod
    def of(cls, sample: Sample, layout: _core.CloneLayout) -> Start:
        """With what the layout calls alike."""
        guess = sample.first(GUESS_STEPS)
        return cls(sample, guess, embedding(guess.data, layout))

    def models(self, layout: _core.CloneLayout, numbers: range, seed: int) -> _core.CloneModels:
        """New models, numbered for their random streams."""
        streams = [np.random.default_rng([seed, number]) for number in numbers]
        guess = self.guess
        labels = np.stack([guessed_clones(guess.data, layout, self.rows, rng) for rng in streams])
        return layout.started(guess.data, labels, first=numbers.start, seed=seed, tasks=guess.tasks)


def embedding(data: Trajectories, layout: _core.CloneLayout) -> Rows:
    """Every step by its past and its future, (n_steps, 2 · RANK)."""
    past, future = _views(data, layout)
    past -= past.mean(axis=0)
    future -= future.mean(axis=0)
    roots = []
    for side in (past, future):
        moment = (side.T @ side / len(side)).astype(np.float64) + RIDGE * np.eye(side.shape[1])
        roots.append(np.linalg.inv(np.linalg.cholesky(moment)))
    cross = roots[0] @ (past.T @ future / len(past)).astype(np.float64) @ roots[1].T
    left, correlations, right = np.linalg.svd(cross)
    kept = correlations[:RANK]
    maps = (roots[0].T @ left[:, :RANK] * kept, roots[1].T @ right[:RANK].T * kept)
    return np.concatenate([past @ maps[0].astype(np.float32), future @ maps[1].astype(np.float32)], axis=1)


def _views(data: Trajectories, layout: _core.CloneLayout) -> tuple[Rows, Rows]:
    """(past, future) of every step: symbols at single steps, traces of symbols, time; and rewards to come."""
    codes = layout.kinds[data.actions] * layout.n_states + layout.ranges[data.observations, 0]
    _, symbol, counts = np.unique(codes, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    width = min(SYMBOLS, len(counts))
    symbol = np.minimum(rank[symbol], width - 1)
    time = time_within(data)
    to_go = np.repeat(data.lengths, data.lengths) - 1 - time
    steps = np.arange(data.n_steps)
    followed = np.flatnonzero(to_go > 0)
    past = np.zeros((data.n_steps, width * (LAGS + len(DECAYS)) + len(CLOCKS)), np.float32)
    future = np.zeros((data.n_steps, width * (LAGS + len(DECAYS)) + len(DISCOUNTS)), np.float32)
    for lag in range(LAGS):
        reached = steps[time >= lag]
        past[reached, lag * width + symbol[reached - lag]] = 1.0
        reached = steps[to_go > lag]
        future[reached, lag * width + symbol[reached + lag + 1]] = 1.0
    shown = np.eye(width, dtype=np.float32)[symbol]
    for number, decay in enumerate(DECAYS):
        columns = slice((LAGS + number) * width, (LAGS + number + 1) * width)
        trace = shown.copy()
        discounted_forward(trace, data.offsets, decay)
        past[:, columns] = (1.0 - decay) * trace
        trace = shown.copy()
        discounted_backward(trace, data.offsets, decay)
        future[followed, columns] = (1.0 - decay) * trace[followed + 1]
    past[:, -len(CLOCKS) :] = np.exp(-time[:, np.newaxis] / np.array(CLOCKS))
    scaled = data.rewards / max(float(np.abs(data.rewards).max()), np.finfo(float).tiny)
    for number, discount in enumerate(DISCOUNTS):
        returns = scaled.copy()
        discounted_backward(returns, data.offsets, discount)
        future[followed, -1 - number] = REWARD_WEIGHT * returns[followed + 1]
    return past, future


def guessed_clones(
    data: Trajectories, layout: _core.CloneLayout, embedded: Rows, rng: np.random.Generator
) -> NDArray[np.uint32]:
    """A clone of what was seen for every step, (n_steps,), by clusters within each observation."""
    low, high = layout.ranges[data.observations].T
    labels: NDArray[np.uint32] = low.astype(np.uint32)
    for first in np.unique(low):
        steps = np.flatnonzero(low == first)
        clones = int(high[steps[0]] - first)
        if clones > 1 and len(steps) > clones:
            points = embedded[steps]
            sample = points[rng.permutation(len(steps))[:MAX_POINTS]]
            # Clusters that lose all their points stay where they are, which is as good a guess as any.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                centres, _ = kmeans2(sample, sample[:clones], iter=ROUNDS, minit="matrix", missing="warn")
            distances = (centres**2).sum(axis=1) - 2.0 * points @ centres.T
            labels[steps] += distances.argmin(axis=1).astype(np.uint32)
    return labels
