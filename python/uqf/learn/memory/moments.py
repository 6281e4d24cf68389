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

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Embedding:
    """Settings of the first guess.

    steps, min_steps : steps that it rests on at most; one that rests on `min_steps` of one half serves for all episodes
    symbols : symbols that are distinguished, the commonest; the rest count as one
    lags, decays : single steps on either side, and decays of the traces that reach farther
    clocks, discounts : time constants by which the past knows its length; discounts of the rewards in the future
    reward_weight : weight of these rewards beside the symbols
    rank, ridge : directions kept of either side, and penalty of the correlations
    rounds, max_points : rounds of clustering, and steps that it sees at most for one observation
    """

    steps: int = 20_000
    min_steps: int = 10_000
    symbols: int = 16
    lags: int = 6
    decays: tuple[float, ...] = (0.5, 0.8, 0.95)
    clocks: tuple[float, ...] = (5.0, 20.0, 50.0)
    discounts: tuple[float, ...] = (0.8, 0.95)
    reward_weight: float = 3.0
    rank: int = 8
    ridge: float = 1e-2
    rounds: int = 8
    max_points: int = 8_000


@dataclass(frozen=True)
class Start:
    """Where the training on a sample begins: its first steps, embedded by their past and future."""

    sample: Sample
    guess: Sample
    rows: Rows
    settings: Embedding

    @classmethod
    def of(cls, sample: Sample, layout: _core.CloneLayout, settings: Embedding | None = None) -> Start:
        """The start of models with the symbols that the layout distinguishes."""
        settings = settings or Embedding()
        guess = sample.first(settings.steps)
        return cls(sample, guess, embedding(guess.data, layout, settings), settings)

    @property
    def reusable(self) -> bool:
        """Whether the guess rests on enough steps to serve for a larger sample, too."""
        return self.guess.data.n_steps >= self.settings.min_steps

    def models(self, layout: _core.CloneLayout, numbers: range, seed: int) -> _core.CloneModels:
        """New models, numbered for their random streams."""
        streams = [np.random.default_rng([seed, number]) for number in numbers]
        guess = self.guess
        labels = np.stack(
            [guessed_clones(guess.data, layout, self.rows, rng, self.settings) for rng in streams]
        )
        return layout.started(guess.data, labels, first=numbers.start, seed=seed, tasks=guess.tasks)


def embedding(data: Trajectories, layout: _core.CloneLayout, settings: Embedding) -> Rows:
    """Every step by its past and its future, (n_steps, 2 · rank)."""
    rank, (past, future) = settings.rank, _views(data, layout, settings)
    past -= past.mean(axis=0)
    future -= future.mean(axis=0)
    roots = []
    for side in (past, future):
        moment = (side.T @ side / len(side)).astype(np.float64) + settings.ridge * np.eye(side.shape[1])
        roots.append(np.linalg.inv(np.linalg.cholesky(moment)))
    cross = roots[0] @ (past.T @ future / len(past)).astype(np.float64) @ roots[1].T
    left, correlations, right = np.linalg.svd(cross)
    kept = correlations[:rank]
    maps = (roots[0].T @ left[:, :rank] * kept, roots[1].T @ right[:rank].T * kept)
    return np.concatenate([past @ maps[0].astype(np.float32), future @ maps[1].astype(np.float32)], axis=1)


def _views(data: Trajectories, layout: _core.CloneLayout, settings: Embedding) -> tuple[Rows, Rows]:
    """(past, future) of every step: symbols at single steps, traces of symbols, time; and rewards to come."""
    lags, decays = settings.lags, settings.decays
    codes = layout.kinds[data.actions] * layout.n_states + layout.ranges[data.observations, 0]
    _, symbol, counts = np.unique(codes, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    width = min(settings.symbols, len(counts))
    symbol = np.minimum(rank[symbol], width - 1)
    time = time_within(data)
    to_go = np.repeat(data.lengths, data.lengths) - 1 - time
    steps = np.arange(data.n_steps)
    followed = np.flatnonzero(to_go > 0)
    columns = width * (lags + len(decays))
    past = np.zeros((data.n_steps, columns + len(settings.clocks)), np.float32)
    future = np.zeros((data.n_steps, columns + len(settings.discounts)), np.float32)
    for lag in range(lags):
        reached = steps[time >= lag]
        past[reached, lag * width + symbol[reached - lag]] = 1.0
        reached = steps[to_go > lag]
        future[reached, lag * width + symbol[reached + lag + 1]] = 1.0
    shown = np.eye(width, dtype=np.float32)[symbol]
    for number, decay in enumerate(decays):
        own = slice((lags + number) * width, (lags + number + 1) * width)
        trace = shown.copy()
        discounted_forward(trace, data.offsets, decay)
        past[:, own] = (1.0 - decay) * trace
        trace = shown.copy()
        discounted_backward(trace, data.offsets, decay)
        future[followed, own] = (1.0 - decay) * trace[followed + 1]
    past[:, -len(settings.clocks) :] = np.exp(-time[:, np.newaxis] / np.array(settings.clocks))
    scaled = data.rewards / max(float(np.abs(data.rewards).max()), np.finfo(float).tiny)
    for number, discount in enumerate(settings.discounts):
        returns = scaled.copy()
        discounted_backward(returns, data.offsets, discount)
        future[followed, -1 - number] = settings.reward_weight * returns[followed + 1]
    return past, future


def guessed_clones(
    data: Trajectories,
    layout: _core.CloneLayout,
    embedded: Rows,
    rng: np.random.Generator,
    settings: Embedding,
) -> NDArray[np.uint32]:
    """A clone of what was seen for every step, (n_steps,), by clusters within each observation."""
    low, high = layout.ranges[data.observations].T
    labels: NDArray[np.uint32] = low.astype(np.uint32)
    for first in np.unique(low):
        steps = np.flatnonzero(low == first)
        clones = int(high[steps[0]] - first)
        if clones > 1 and len(steps) > clones:
            points = embedded[steps]
            sample = points[rng.permutation(len(steps))[: settings.max_points]]
            # Clusters that lose all their points stay where they are, which is as good a guess as any.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                centres, _ = kmeans2(
                    sample, sample[:clones], iter=settings.rounds, minit="matrix", missing="warn"
                )
            distances = (centres**2).sum(axis=1) - 2.0 * points @ centres.T
            labels[steps] += distances.argmin(axis=1).astype(np.uint32)
    return labels
