"""Values and advantages that are linear in what a memory keeps of a history: two regressions.

1. The value V of the logging policy, by least-squares temporal differences on a sample of the episodes.
2. The advantage of every action, by ridge regression of generalised advantage estimates over all episodes, each step
   weighted by one over the probability of its action.

Both again, damped, for a policy half-way from that of the log to the one that they give (`swept_again`).

The second is a sum over episodes, which can be taken in parts and on many machines. It leans on the first the less the
more episodes there are, so that a sample is enough there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import propensities
from uqf.episodes.sums import advantages, cut_before, goes_on
from uqf.episodes.trajectories import Trajectories
from uqf.learn.improve.grams import Grams
from uqf.learn.memory.features import Memory, Parts, Rows
from uqf.policies.policy import softmax
from uqf.reading.overview import Overview

#: The value rests on so many steps at most.
VALUE_STEPS = 150_000

#: Values of actions that are held at once.
VALUE_CELLS = 500_000

#: λ of the regression for the value. Penalties are pseudo-counts: of the value (the constant has none), and of the
#: advantages, for the constant and for every other feature.
VALUE_TRACE = 0.9
VALUE_RIDGE = 1.0
CONSTANT_RIDGE = 400.0
RIDGE = 40.0

#: Temperature in units of the standard error of the learned values.
TEMPERATURE = 0.6

#: The noise is estimated on so many actions, the commonest.
NOISE_ACTIONS = 16

#: The second sweep looks at a policy that acts like the first with this probability, and else like the log; it has this
#: share in the values that are acted on.
TOWARDS = 0.5
SECOND = 0.4


def trace(episodes: float) -> float:
    """λ of the advantages: 1 − 1/√episodes.

    Below 1 they lean on the learned value, which has less noise than what was earned, but is wrong where the memory
    is. The noise falls with the episodes, the error does not.
    """
    return 1.0 - 1.0 / float(np.sqrt(episodes))


@dataclass(frozen=True)
class Softmax:
    """A policy on a memory: softmax of values with weights (width, actions)."""

    weights: FloatArray
    noise: float
    """Standard error of the values."""
    temperature: float

    def taken(self, rows: Rows, data: Trajectories) -> FloatArray:
        """Its probability of every logged action, (n_steps,)."""
        before, weights = cut_before(data), self.weights.astype(np.float32)
        probs, size = np.empty(data.n_steps), max(1, VALUE_CELLS // data.n_actions)
        for first in range(0, data.n_steps, size):
            cuts, actions = before[first : first + size], data.actions[first : first + size]
            values = (rows[cuts[0] : cuts[-1] + 1] @ weights)[cuts - cuts[0]].astype(np.float64)
            probs[first : first + size] = softmax(values, self.temperature)[np.arange(len(cuts)), actions]
        return probs

    def ratios(self, rows: Rows, data: Trajectories, towards: float = TOWARDS) -> FloatArray:
        """Its probability of every logged action over that of the log, so far towards it: 1 − t + t π/b, (n_steps,)."""
        logged = propensities(data)
        full = self.taken(rows, data) / logged
        # What was certain says nothing of what else might have been done.
        return np.where(logged < 1.0, 1.0 - towards + towards * full, 1.0)


@dataclass(frozen=True)
class ValueSums:
    """Σ x_t z_tᵀ and Σ x_t R_t, where z and R are (γλ)-discounted sums of x_t − γ x_{t+1} and of the rewards."""

    left: FloatArray
    right: FloatArray

    @classmethod
    def of(
        cls, rows: Rows, data: Trajectories, discount: float, ratios: FloatArray | None = None
    ) -> ValueSums:
        """Of episodes with these rows; with `ratios` ρ, for the value of another policy than that of the log.

        Every difference and reward is then multiplied by its ρ, and a sum goes on by the factor γλ min(1, ρ).
        """
        following = discount * goes_on(data)
        each = np.ones(data.n_steps) if ratios is None else ratios
        factors = discount * VALUE_TRACE * np.minimum(1.0, each)
        numbers = (array.astype(np.float32) for array in (data.rewards, following, each, factors))
        sums = _core.temporal_differences(rows, data.offsets, *numbers)
        return cls(sums[:, :-1], sums[:, -1])

    def plus(self, other: ValueSums) -> ValueSums:
        """The sums of both."""
        return ValueSums(self.left + other.left, self.right + other.right)

    def value(self) -> FloatArray:
        """Weights w of V: (ridge + Σ x_t z_tᵀ) w = Σ x_t R_t."""
        penalty = np.full(len(self.right), VALUE_RIDGE)
        penalty[0] = 1e-6
        return np.asarray(np.linalg.solve(self.left + np.diag(penalty), self.right))


@dataclass(frozen=True)
class Moments:
    """Σ w x y by action, (actions, width), with y the advantage estimate of a step; Σ y² and the number of steps."""

    sums: FloatArray
    squares: float
    steps: int

    @classmethod
    def of(
        cls,
        rows: Rows,
        data: Trajectories,
        value: FloatArray,
        discount: float,
        decay: float,
        ratios: FloatArray | None = None,
    ) -> Moments:
        """Of episodes with these rows; λ of the estimates is `decay`."""
        values = (rows @ value.astype(np.float32)).astype(np.float64)
        targets = advantages(data, values, discount, decay, ratios)
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


class Equations:
    """The normal equations of the advantages, with a penalty; solved for one right side or several.

    Those of few actions are kept factored for the next time. Many are solved on the columns that their steps touch:
    of a thousand actions each touches few.
    """

    def __init__(self, memory: Memory, grams: Grams, ridge: float = RIDGE) -> None:
        self._memory, self._grams = memory, grams
        self._penalty = np.full(memory.width, ridge)
        self._penalty[0] = max(CONSTANT_RIDGE, ridge)
        common = sorted(grams.blocks, key=lambda action: (-grams.weight(action), action))
        total, spreads = grams.together().whole(0, memory), []
        self._kept: dict[int, FloatArray] = {}
        for action in common[:NOISE_ACTIONS]:
            factor = self._factor(action)
            # The variance of a prediction is that of a target times xᵀ (ridge + gram)⁻¹ x, averaged over all x.
            spreads.append(_trace(factor, total) / total[0, 0])
            if len(common) <= NOISE_ACTIONS:
                self._kept[action] = factor
        self._spread = float(np.mean(spreads))

    def solved(self, moments: Sequence[Moments]) -> list[tuple[FloatArray, float]]:
        """(weights (width, actions), their noise in units of reward) for each of the moments."""
        weights = np.zeros((len(moments), self._memory.width, len(self._grams.starts)))
        for action in self._grams.blocks:
            wanted = np.stack([one.sums[action] for one in moments], axis=1)
            if action in self._kept:
                found = scipy.linalg.cho_solve((self._kept[action], False), wanted, check_finite=False)
            else:
                found = self._solved_on_touched(action, wanted)
            weights[:, :, action] = found.T
        noises = [float(np.sqrt(one.squares / one.steps * self._spread)) for one in moments]
        least = float(np.finfo(float).tiny)
        return [(own, max(noise, least)) for own, noise in zip(weights, noises, strict=True)]

    def _solved_on_touched(self, action: int, wanted: FloatArray) -> FloatArray:
        """First steps add a matrix of rank one over all columns, which Sherman and Morrison's formula takes in."""
        columns, left = self._grams.touched(action, self._memory)
        left[np.diag_indices_from(left)] += self._penalty[columns]
        start, weight = self._memory.start, self._grams.starts[action]
        right = np.column_stack([wanted, start])
        found = right / self._penalty[:, np.newaxis]
        found[columns] = scipy.linalg.solve(left, right[columns], assume_a="pos", check_finite=False)
        plain, along = found[:, :-1], found[:, -1]
        share = weight / (1.0 + weight * (start @ along))
        return np.asarray(plain - share * np.outer(along, start @ plain))

    def _factor(self, action: int) -> FloatArray:
        """U with Uᵀ U = gram + penalty; what is below its diagonal means nothing."""
        left = self._grams.whole(action, self._memory)
        left[np.diag_indices_from(left)] += self._penalty
        return np.asarray(scipy.linalg.cho_factor(left, overwrite_a=True, check_finite=False)[0])


def _trace(factor: FloatArray, right: FloatArray) -> float:
    """Trace of (Uᵀ U)⁻¹ times a symmetric matrix, by the inverse: a third of the work of solving for every column."""
    inverse, _ = scipy.linalg.lapack.dpotri(factor)
    upper = np.triu(inverse)
    return float(2.0 * np.vdot(upper, right) - np.diag(upper) @ np.diag(right))


def learned_value(episodes: Parts, discount: float, towards: Softmax | None = None) -> FloatArray:
    """Weights of V, from these episodes: of the policy that collected them, or of one half-way towards another."""

    def sums(rows: Rows, data: Trajectories) -> ValueSums:
        return ValueSums.of(rows, data, discount, None if towards is None else towards.ratios(rows, data))

    total: ValueSums = episodes.sum(sums)
    return total.value()


@dataclass(frozen=True)
class Regression:
    """The regression of advantages on a memory, given the value; it can be pickled."""

    memory: Memory
    value: FloatArray
    discount: float
    decay: float
    towards: Softmax | None = None
    """The policy of which advantages are learned, half-way; by default that of the log."""

    def sums(self, episodes: Parts) -> AdvantageSums:
        """What some episodes add."""
        total: AdvantageSums = episodes.sum(
            lambda rows, data: AdvantageSums(Grams.of(self.memory, rows, data), self._moments(rows, data))
        )
        return total

    def moments(self, episodes: Parts) -> Moments:
        """What some episodes add, if their products are known."""
        total: Moments = episodes.sum(self._moments)
        return total

    def _moments(self, rows: Rows, data: Trajectories) -> Moments:
        ratios = None if self.towards is None else self.towards.ratios(rows, data)
        return Moments.of(rows, data, self.value, self.discount, self.decay, ratios)


def advantage_sums(
    regression: Regression, overview: Overview, threads: int | None, data: Trajectories
) -> AdvantageSums:
    """What a batch of a reading adds to the regression; propensities are those that `overview` knows."""
    return regression.sums(Parts(regression.memory, overview.known(data), threads))


def swept_again(
    episodes: Parts, first: Softmax, equations: Equations | None, discount: float, decay: float
) -> Softmax:
    """The policy after a second sweep, which learns the advantages of a policy half-way from the log to the first.

    One step of improvement ends where the log's own future begins. A second one looks at the future of a policy that is
    already better; whole steps would leave what the log can tell, so the half-way policy is looked at, and values are
    averaged with those of the first sweep, each in units of its own noise. `equations` are those of the episodes, if
    known.
    """
    value = learned_value(episodes, discount, first)
    regression = Regression(episodes.memory, value, discount, decay, first)
    if equations is None:
        sums = regression.sums(episodes)
        equations, moments = Equations(episodes.memory, sums.grams), sums.moments
    else:
        moments = regression.moments(episodes)
    ((weights, noise),) = equations.solved([moments])
    both = (1.0 - SECOND) * first.weights + SECOND * first.noise / noise * weights
    return Softmax(both, first.noise, first.temperature)
