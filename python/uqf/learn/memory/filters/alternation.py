"""Alternating spectral filters: a state of the past and a state of the future, each regressed on the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.filters.canonical import Canonical, standard
from uqf.learn.memory.filters.steps import IntArray, Rows, Steps, sum_of_products, sums_of_products
from uqf.learn.memory.filters.words import Words, first_states


@dataclass(frozen=True)
class Filters:
    """Settings of the alternation.

    rank : numbers of a state at most; rounds : how often the past is regressed on the future and the future on the past
    ridge, constant_ridge : penalties of the slopes and of the constant in the matrix of a symbol, in steps
    canonical_ridge : penalty of canonical coordinates, in cuts
    opening_episodes : pseudo-count of the mean start of all episodes, for the start after an observation
    reach : states are shortened to so many times their usual root mean square
    early_steps, late_rounds : steps that the first rounds are learned from, and rounds at the end that see all
    """

    rank: int = 31
    rounds: int = 4
    ridge: float = 100.0
    constant_ridge: float = 1e-3
    canonical_ridge: float = 30.0
    opening_episodes: float = 10.0
    reach: float = 1.5
    early_steps: int = 40_000
    late_rounds: int = 3
    words: Words = field(default_factory=Words)


@dataclass(frozen=True)
class Filter:
    """x_t = [1, x_{t−1}] · operators[symbol], from `start`, shortened to `reach`.

    operators : (symbols, 1 + rank, rank); start : (rank,)
    openings : (observations, rank), where episodes start that show one of these before the first action
    values : (rank,), how much every coordinate of the state and of the future have in common
    """

    operators: Rows
    start: Rows
    reach: float
    values: FloatArray
    openings: Rows | None = None

    def run(self, places: NDArray[np.int32], data: Trajectories, threads: int | None) -> Rows:
        """[1, state] at every cut; `places` are the symbols of the steps."""
        if self.openings is None or data.first_observations is None:
            starts = np.tile(self.start, (len(data), 1))
        else:
            starts = self.openings[data.first_observations]
        return _core.filter_states(self.operators, self.reach, places, data.offsets, starts, threads=threads)


def learned_filter(steps: Steps, settings: Filters, threads: int | None) -> Filter:
    """The filter of the past after all rounds.

    Every function of the future, averaged over what may follow a history, is linear in the belief after it. So is the
    state of the future z, which may itself be a long filter that runs backward. A round makes x the regression of z on
    the past, and z the regression of x on the future: both then see farther than before.
    """
    rounds, used = settings.rounds, steps.first(settings.early_steps)
    x, z = first_states(used, settings.rank, settings.words)
    past, future = States(x, used.before), States(z, used.before + 1)
    for number in range(rounds + 1):
        both = Canonical.of(
            past.gram, past.products(future), future.gram, settings.rank, settings.canonical_ridge
        )
        sums = Sums.by(used.symbol_slices, past, future).mapped(
            expected(both.past, both.correlations), both.future
        )
        starts, reach = future.cuts[used.first_cuts] @ both.future, _reach(both.correlations, settings)
        start = starts.mean(axis=0)
        openings = _openings(starts, start, used.data, reach, settings)
        forward = Filter(sums.operators(settings), start.astype(np.float32), reach, both.values, openings)
        if number < rounds:
            past = States(forward.run(used.places, used.data, threads), used.before)
            backward = _backward(used, past, future, both.future, settings)
            if number >= rounds - settings.late_rounds and used is not steps:
                used = steps
                past = States(forward.run(used.places, used.data, threads), used.before)
            future = States(backward.run(used, threads), used.before + 1)
    return forward


def _openings(
    starts: FloatArray, start: FloatArray, data: Trajectories, reach: float, settings: Filters
) -> Rows | None:
    """The mean start of the episodes that show an observation before the first action, drawn towards that of all."""
    if data.first_observations is None:
        return None
    sums = np.tile(settings.opening_episodes * start, (data.n_observations, 1))
    np.add.at(sums, data.first_observations, starts)
    counts = np.bincount(data.first_observations, minlength=data.n_observations)
    means = sums / (counts + settings.opening_episodes)[:, np.newaxis]
    lengths = np.sqrt((means**2).mean(axis=1, keepdims=True))
    return np.asarray(means * np.minimum(1.0, reach / np.maximum(lengths, 1e-30)), np.float32)


@dataclass(frozen=True)
class Backward:
    """A filter that runs from the last cut of an episode back; `ends` are its states where the world ended, or not."""

    operators: Rows
    ends: dict[bool, Rows]
    reach: float

    def run(self, steps: Steps, threads: int | None) -> Rows:
        """[1, state] at every cut."""
        starts = np.stack([self.ends[bool(ended)] for ended in steps.data.terminated])
        given = (self.operators, self.reach, steps.events, steps.data.offsets, starts)
        return _core.filter_states(*given, backward=True, threads=threads)


def _backward(
    steps: Steps, past: States, future: States, coordinates: FloatArray, settings: Filters
) -> Backward:
    """The state of the past, regressed on what follows."""
    target = standard(past.gram)
    both = past.products(future)
    correlations = np.einsum("ij,ij->j", target, both @ coordinates) / both[0, 0]
    sums = Sums.by(steps.event_slices, future, past).mapped(expected(coordinates, correlations), target)
    ends = {}
    for ended in (True, False):
        last = past.cuts[steps.last_cuts[steps.data.terminated == ended]]
        mean = last.mean(axis=0) @ target if len(last) else np.zeros(target.shape[1])
        ends[ended] = mean.astype(np.float32)
    return Backward(sums.operators(settings), ends, _reach(correlations, settings))


def expected(coordinates: FloatArray, correlations: FloatArray) -> FloatArray:
    """(1 + width, 1 + rank): from rows to [1, what one side expects of the other]: coordinates times correlations."""
    table = np.zeros((len(coordinates), 1 + len(correlations)))
    table[0, 0] = 1.0
    table[:, 1:] = coordinates * correlations
    return table


def _reach(correlations: FloatArray, settings: Filters) -> float:
    """What one side expects of the other has the correlations for standard deviations."""
    return settings.reach * float(np.sqrt(np.mean(correlations**2)))


class States:
    """[1, state] of one side.

    cuts : (n_cuts, 1 + rank), at every cut; steps : (n_steps, 1 + rank), next to every step, in the order of events
    """

    def __init__(self, cuts: Rows, beside: IntArray) -> None:
        self.cuts = cuts
        # Twice as fast as cuts[beside].
        self.steps = np.take(cuts, beside, axis=0, mode="clip")

    @cached_property
    def gram(self) -> FloatArray:
        """Σ x xᵀ over all cuts."""
        return self.products(self)

    def products(self, other: States) -> FloatArray:
        """Σ x yᵀ over all cuts."""
        return sum_of_products(self.cuts, other.cuts)


@dataclass(frozen=True)
class Sums:
    """What filters are regressed from, by symbol or by event: Σ x xᵀ and Σ x yᵀ of states and targets.

    grams, products : (groups, 1 + width, …), of rows that begin with 1
    """

    grams: FloatArray
    products: FloatArray

    @classmethod
    def by(cls, slices: list[slice], states: States, targets: States) -> Sums:
        """Of the states on one side of every step and the targets on the other, one sum for every slice of steps."""
        return cls(
            sums_of_products(states.steps, states.steps, slices),
            sums_of_products(states.steps, targets.steps, slices),
        )

    def mapped(self, states: FloatArray, targets: FloatArray) -> Sums:
        """The sums in other coordinates of states and of targets."""
        return Sums(states.T @ self.grams @ states, states.T @ self.products @ targets)

    def operators(self, settings: Filters) -> Rows:
        """(groups, 1 + rank, rank): ridge regressions of targets on states; slopes are shrunk towards 0."""
        penalty = np.diag([settings.constant_ridge, *[settings.ridge] * (self.grams.shape[1] - 1)])
        return np.linalg.solve(self.grams + penalty, self.products).astype(np.float32)
