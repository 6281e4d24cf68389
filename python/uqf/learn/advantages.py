"""Values and advantages that are linear in what a memory keeps of a history: two regressions.

1. The value V of the logging policy, by least-squares temporal differences on a sample of the episodes.
2. The advantage of every action, by ridge regression of generalised advantage estimates over all episodes, each step
   weighted by one over the probability of its action.

The second is a sum over episodes, which can be taken in parts and on many machines. It leans on the first the less the
more episodes there are, so that a sample is enough there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from uqf.data.along import advantages, cut_before, discounted_backward
from uqf.data.checks import FloatArray
from uqf.data.parallel import in_order
from uqf.data.propensities import propensities
from uqf.data.trajectories import Trajectories

#: Numbers of a feature matrix that are held at once.
PART_CELLS = 1_500_000

#: λ of the regression for the value. Penalties are pseudo-counts: of the value (the constant has none), and of the
#: advantages, for the constant and for every other feature.
VALUE_TRACE = 0.9
VALUE_RIDGE = 1.0
CONSTANT_RIDGE = 400.0
RIDGE = 40.0

#: The noise is estimated on so many actions, the commonest.
NOISE_ACTIONS = 16

#: Groups of up to so many columns are multiplied together.
SMALL = 6

Rows = NDArray[np.float32]


class Memory(Protocol):
    """What is remembered of a history, in numbers. It can be pickled."""

    @property
    def width(self) -> int:
        """Numbers of a row."""

    @property
    def groups(self) -> list[NDArray[np.int64]]:
        """Columns that may differ from zero together, the constant among them; other products are never taken."""

    @property
    def start(self) -> FloatArray:
        """The row before the first step of every episode, (width,); it belongs to no group."""

    def rows(self, data: Trajectories, threads: int | None) -> Rows:
        """(n_steps + n_episodes, width), at every cut; the first column is 1."""

    def group_before(self, data: Trajectories) -> NDArray[np.int64]:
        """The group of the row before every step, (n_steps,); −1 before the first."""


def trace(episodes: float) -> float:
    """λ of the advantages: 1 − 1/√episodes.

    Below 1 they lean on the learned value, which has less noise than what was earned, but is wrong where the memory
    is. The noise falls with the episodes, the error does not.
    """
    return 1.0 - 1.0 / float(np.sqrt(episodes))


@dataclass(frozen=True)
class ValueSums:
    """Σ x_t z_tᵀ and Σ x_t ρ_t, where z and ρ are (γλ)-discounted sums of x_t − γ x_{t+1} and of the rewards."""

    left: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, rows: Rows, data: Trajectories, discount: float) -> ValueSums:
        """Of episodes with these rows.

        The sum of differences is z_t = x_t − γ(1 − λ) Σ_i (γλ)^i x_{t+1+i}, if the row after the last step of an
        episode counts 1/(1 − λ) times, or not at all where the world ended.
        """
        before = cut_before(data)
        here, ahead = rows[before], rows[before + 1]
        last = data.offsets[1:] - 1
        ahead[last] *= np.where(data.terminated, 0.0, 1.0 / (1.0 - VALUE_TRACE))[:, np.newaxis].astype(
            np.float32
        )
        rewards = data.rewards.astype(np.float32)
        discounted_backward(ahead, data.offsets, discount * VALUE_TRACE)
        discounted_backward(rewards, data.offsets, discount * VALUE_TRACE)
        left = here.T @ here - np.float32(discount * (1.0 - VALUE_TRACE)) * (here.T @ ahead)
        return cls(left.astype(np.float64), (here.T @ rewards).astype(np.float64))

    def plus(self, other: ValueSums) -> ValueSums:
        """The sums of both."""
        return ValueSums(self.left + other.left, self.right + other.right)

    def value(self) -> FloatArray:
        """Weights w of V: (ridge + Σ x_t z_tᵀ) w = Σ x_t ρ_t."""
        penalty = np.full(len(self.right), VALUE_RIDGE)
        penalty[0] = 1e-6
        return np.asarray(np.linalg.solve(self.left + np.diag(penalty), self.right))


@dataclass(frozen=True)
class Grams:
    """Σ w x xᵀ by action: blocks by group, over its columns, and Σ w over first steps."""

    blocks: dict[int, dict[int, FloatArray]]
    starts: FloatArray

    @classmethod
    def of(cls, memory: Memory, rows: Rows, data: Trajectories) -> Grams:
        """Of episodes with these rows."""
        weights = 1.0 / (data.n_actions * propensities(data))
        groups, first = memory.group_before(data), data.offsets[:-1]
        later = np.flatnonzero(groups >= 0)
        cells = groups[later] * data.n_actions + data.actions[later]
        order = later[np.argsort(cells, kind="stable")]
        chosen = rows[cut_before(data)[order]]
        chosen *= np.sqrt(weights[order])[:, np.newaxis].astype(np.float32)
        counts = np.unique(cells, return_counts=True)[1]
        begins = np.cumsum(counts) - counts
        blocks: dict[int, dict[int, FloatArray]] = {int(action): {} for action in np.unique(data.actions)}
        widths = np.array([len(columns) for columns in memory.groups])
        width_of = widths[groups[order[begins]]] if len(order) else begins
        for width in np.unique(width_of):
            same = np.flatnonzero(width_of == width)
            for cell, gram in zip(
                same, _products(memory, chosen, groups[order], begins, counts, same, width), strict=True
            ):
                step = order[begins[cell]]
                blocks[int(data.actions[step])][int(groups[step])] = gram
        starts = np.bincount(data.actions[first], weights[first], data.n_actions)
        return cls(blocks, np.asarray(starts, np.float64))

    def plus(self, other: Grams) -> Grams:
        """The sums of both."""
        merged = {action: dict(blocks) for action, blocks in self.blocks.items()}
        for action, blocks in other.blocks.items():
            mine = merged.setdefault(action, {})
            for group, block in blocks.items():
                mine[group] = mine[group] + block if group in mine else block
        return Grams(merged, self.starts + other.starts)

    def whole(self, action: int, memory: Memory) -> FloatArray:
        """Σ w x xᵀ over the steps with an action, (width, width)."""
        total = self.starts[action] * np.outer(memory.start, memory.start)
        for group, block in self.blocks[action].items():
            columns = memory.groups[group]
            total[np.ix_(columns, columns)] += block
        return np.asarray(total)


def _products(
    memory: Memory,
    rows: Rows,
    groups: NDArray[np.int64],
    begins: NDArray[np.int64],
    counts: NDArray[np.int64],
    cells: NDArray[np.int64],
    width: int,
) -> Iterator[FloatArray]:
    """xᵀx of every cell, a run of rows with the same action and group, over its `width` columns."""
    if width > SMALL:
        for begin, count in zip(begins[cells], counts[cells], strict=True):
            part = np.take(rows[begin : begin + count], memory.groups[groups[begin]], axis=1)
            yield (part.T @ part).astype(np.float64)
        return
    # Many small ones: all outer products first, then their sums.
    runs = np.repeat(begins[cells] - np.cumsum(counts[cells]) + counts[cells], counts[cells])
    places = runs + np.arange(len(runs))
    columns = np.stack([memory.groups[group] for group in groups[places[np.cumsum(counts[cells]) - 1]]])
    part = np.take_along_axis(rows[places], np.repeat(columns, counts[cells], axis=0), axis=1)
    outer = np.einsum("ni,nj->nij", part, part, dtype=np.float64)
    yield from np.add.reduceat(outer, np.cumsum(counts[cells]) - counts[cells], axis=0)


@dataclass(frozen=True)
class Moments:
    """Σ w x y by action, (actions, width), with y the advantage estimate of a step; Σ y² and the number of steps."""

    sums: FloatArray
    squares: float
    steps: int

    @classmethod
    def of(cls, rows: Rows, data: Trajectories, value: FloatArray, discount: float, decay: float) -> Moments:
        """Of episodes with these rows; λ of the estimates is `decay`."""
        targets = advantages(data, (rows @ value.astype(np.float32)).astype(np.float64), discount, decay)
        weighted = (targets / (data.n_actions * propensities(data))).astype(np.float32)
        cells = (weighted, (data.actions, cut_before(data)))
        chosen = scipy.sparse.csr_array(cells, shape=(data.n_actions, len(rows)))
        return cls((chosen @ rows).astype(np.float64), float((targets**2).sum()), data.n_steps)

    def plus(self, other: Moments) -> Moments:
        """The sums of both."""
        return Moments(self.sums + other.sums, self.squares + other.squares, self.steps + other.steps)


@dataclass(frozen=True)
class AdvantageSums:
    """All that the regression of advantages needs."""

    grams: Grams
    moments: Moments

    def plus(self, other: AdvantageSums) -> AdvantageSums:
        """The sums of both."""
        return AdvantageSums(self.grams.plus(other.grams), self.moments.plus(other.moments))


def solved_advantages(
    memory: Memory, grams: Grams, moments: Sequence[Moments]
) -> list[tuple[FloatArray, float]]:
    """(weights (width, actions), their noise in units of reward) for each of the moments."""
    penalty = np.full(memory.width, RIDGE)
    penalty[0] = CONSTANT_RIDGE
    weights = np.zeros((len(moments), memory.width, len(grams.starts)))
    total = np.zeros((memory.width, memory.width))
    common: list[tuple[float, int, Any]] = []
    for action in grams.blocks:
        gram = grams.whole(action, memory)
        total += gram
        factor = scipy.linalg.cho_factor(gram + np.diag(penalty), overwrite_a=True, check_finite=False)
        wanted = np.stack([one.sums[action] for one in moments], axis=1)
        weights[:, :, action] = scipy.linalg.cho_solve(factor, wanted, check_finite=False).T
        common = sorted([*common, (-gram[0, 0], action, factor)], key=lambda entry: entry[:2])[:NOISE_ACTIONS]
    # The variance of a prediction is that of a target times xᵀ (ridge + gram)⁻¹ x, averaged over all x.
    spreads = [np.trace(scipy.linalg.cho_solve(factor, total)) / total[0, 0] for _, _, factor in common]
    noises = (np.sqrt(one.squares / one.steps * np.mean(spreads)) for one in moments)
    return [
        (own, float(max(noise, np.finfo(float).tiny))) for own, noise in zip(weights, noises, strict=True)
    ]


def learned_value(memory: Memory, data: Trajectories, discount: float, threads: int | None) -> FloatArray:
    """Weights of V, from these episodes."""

    def sums(part: Trajectories) -> ValueSums:
        return ValueSums.of(memory.rows(part, 1), part, discount)

    total: ValueSums = over_parts(sums, memory, threads, data)
    return total.value()


@dataclass(frozen=True)
class Regression:
    """The regression of advantages on a memory, given the value; it can be pickled."""

    memory: Memory
    value: FloatArray
    discount: float
    decay: float

    def sums(self, data: Trajectories, threads: int | None) -> AdvantageSums:
        """What some episodes add."""
        total: AdvantageSums = over_parts(self._part, self.memory, threads, data)
        return total

    def _part(self, data: Trajectories) -> AdvantageSums:
        rows = self.memory.rows(data, 1)
        moments = Moments.of(rows, data, self.value, self.discount, self.decay)
        return AdvantageSums(Grams.of(self.memory, rows, data), moments)


def over_parts(
    work: Callable[[Trajectories], Any], memory: Memory, threads: int | None, data: Trajectories
) -> Any:
    """The sum of `work` over parts whose rows fit into memory, added in their order whoever computed them."""
    total = None
    for found in in_order(work, _parts(data, memory.width), threads):
        total = found if total is None else total.plus(found)
    return total


def _parts(data: Trajectories, width: int) -> Iterator[Trajectories]:
    steps = max(1, PART_CELLS // width)
    cuts = np.unique(np.searchsorted(data.offsets[:-1], np.arange(0, data.n_steps, steps)))
    for first, last in pairwise([*cuts[cuts < len(data)].tolist(), len(data)]):
        yield data[first:last]
