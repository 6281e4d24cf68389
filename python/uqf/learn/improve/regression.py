"""Values and advantages that are linear in what a memory keeps of a history: sums over episodes, and equations.

1. The value V of the logging policy, by least-squares temporal differences.
2. The advantage of every action, by ridge regression of generalised advantage estimates, each step weighted by one over
   the probability of its action.

`uqf.learn.improve.values` puts them together.
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
from uqf.learn.memory.features import Memory, Rows
from uqf.policies.policy import softmax


@dataclass(frozen=True)
class Regression:
    """Settings. Penalties are pseudo-counts of steps.

    value_steps : steps that the value rests on at most; value_trace : its λ
    value_ridge : penalty of the value, the constant aside
    ridge, constant_ridge : penalties of the advantages, of every feature and of the constant
    bias : λ of the advantages is 1 − bias/√episodes. Below 1 they lean on the learned value, which has less noise than
        the return, but is wrong where the memory is. The noise falls with the episodes, the error does not.
    temperature, few_episodes : temperature of the policy in standard errors of the learned values; beyond
        `few_episodes` it grows with the fourth root of their number, since more episodes do not improve the memory
    noise_actions : the standard error is estimated on so many actions, the commonest
    towards, second : the second step looks at a policy that acts like the first with probability `towards`, and else
        like the log; it has the share `second` in the values that are acted on (0: there is no second step)
    """

    value_steps: int = 150_000
    value_trace: float = 0.9
    value_ridge: float = 1.0
    ridge: float = 40.0
    constant_ridge: float = 400.0
    bias: float = 1.0
    temperature: float = 0.6
    few_episodes: float = float("inf")
    noise_actions: int = 16
    towards: float = 0.5
    second: float = 0.4

    def decay(self, episodes: float) -> float:
        """λ of the advantages that are learned from so many episodes."""
        return 1.0 - self.bias / float(np.sqrt(episodes))

    def softmax(self, weights: FloatArray, noise: float, episodes: float) -> Softmax:
        """The policy on values with these weights and this standard error, learned from so many episodes."""
        growth = float(np.sqrt(np.sqrt(max(1.0, episodes / self.few_episodes))))
        return Softmax(weights, noise, self.temperature * growth * noise)


@dataclass(frozen=True)
class Softmax:
    """A policy on a memory: softmax of values with weights (width, actions), whose standard error is `noise`."""

    weights: FloatArray
    noise: float
    temperature: float

    def taken(self, rows: Rows, data: Trajectories, cells: int = 500_000) -> FloatArray:
        """Its probability of every logged action, (n_steps,); about so many values of actions are held at once."""
        before, weights = cut_before(data), self.weights.astype(np.float32)
        probs, size = np.empty(data.n_steps), max(1, cells // data.n_actions)
        for first in range(0, data.n_steps, size):
            cuts, actions = before[first : first + size], data.actions[first : first + size]
            values = (rows[cuts[0] : cuts[-1] + 1] @ weights)[cuts - cuts[0]].astype(np.float64)
            probs[first : first + size] = softmax(values, self.temperature)[np.arange(len(cuts)), actions]
        return probs

    def ratios(self, rows: Rows, data: Trajectories, towards: float) -> FloatArray:
        """Its probability of every logged action over that of the log, so far towards it: 1 − t + t π/b, (n_steps,)."""
        logged = propensities(data)
        full = self.taken(rows, data) / logged
        # A certain action says nothing of the others.
        return np.where(logged < 1.0, 1.0 - towards + towards * full, 1.0)


@dataclass(frozen=True)
class ValueSums:
    """Σ x_t z_tᵀ and Σ x_t R_t, where z and R are (γλ)-discounted sums of x_t − γ x_{t+1} and of the rewards."""

    left: FloatArray
    right: FloatArray

    @classmethod
    def of(
        cls,
        rows: Rows,
        data: Trajectories,
        discount: float,
        trace: float,
        ratios: FloatArray | None = None,
    ) -> ValueSums:
        """Of episodes with these rows; with `ratios` ρ, for the value of another policy than that of the log.

        Every difference and reward is then multiplied by its ρ, and a sum goes on by the factor γλ min(1, ρ).
        """
        following = discount * goes_on(data)
        each = np.ones(data.n_steps) if ratios is None else ratios
        factors = discount * trace * np.minimum(1.0, each)
        numbers = (array.astype(np.float32) for array in (data.rewards, following, each, factors))
        sums = _core.temporal_differences(rows, data.offsets, *numbers)
        return cls(sums[:, :-1], sums[:, -1])

    def plus(self, other: ValueSums) -> ValueSums:
        """The sums of both."""
        return ValueSums(self.left + other.left, self.right + other.right)

    def value(self, ridge: float) -> FloatArray:
        """Weights w of V, (width,): (ridge + Σ x_t z_tᵀ) w = Σ x_t R_t."""
        penalty = np.full(len(self.right), ridge)
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

    def __init__(self, memory: Memory, grams: Grams, settings: Regression) -> None:
        self._memory, self._grams = memory, grams
        self._penalty = np.full(memory.width, settings.ridge)
        self._penalty[0] = max(settings.constant_ridge, settings.ridge)
        common = sorted(grams.blocks, key=lambda action: (-grams.weight(action), action))
        total, spreads = grams.together().whole(0, memory), []
        self._kept: dict[int, FloatArray] = {}
        for action in common[: settings.noise_actions]:
            factor = self._factor(action)
            # The variance of a prediction is that of a target times xᵀ (ridge + gram)⁻¹ x, averaged over all x.
            spreads.append(_trace(factor, total) / total[0, 0])
            if len(common) <= settings.noise_actions:
                self._kept[action] = factor
        self._spread = float(np.mean(spreads))

    def solved(self, moments: Sequence[Moments]) -> list[tuple[FloatArray, float]]:
        """(weights (width, actions), their standard error in units of reward) for each of the moments."""
        weights = np.zeros((len(moments), self._memory.width, len(self._grams.starts)))
        for action in self._grams.blocks:
            wanted = np.stack([one.sums[action] for one in moments], axis=1)
            if action in self._kept:
                solution = scipy.linalg.cho_solve((self._kept[action], False), wanted, check_finite=False)
            else:
                solution = self._solved_on_touched(action, wanted)
            weights[:, :, action] = solution.T
        noises = [float(np.sqrt(one.squares / one.steps * self._spread)) for one in moments]
        least = float(np.finfo(float).tiny)
        return [(own, max(noise, least)) for own, noise in zip(weights, noises, strict=True)]

    def _solved_on_touched(self, action: int, wanted: FloatArray) -> FloatArray:
        """First steps add a matrix of rank one over all columns, which Sherman and Morrison's formula takes in."""
        columns, left = self._grams.touched(action, self._memory)
        left[np.diag_indices_from(left)] += self._penalty[columns]
        start, weight = self._memory.start, self._grams.starts[action]
        right = np.column_stack([wanted, start])
        solution = right / self._penalty[:, np.newaxis]
        solution[columns] = scipy.linalg.solve(left, right[columns], assume_a="pos", check_finite=False)
        plain, by_start = solution[:, :-1], solution[:, -1]
        share = weight / (1.0 + weight * (start @ by_start))
        return np.asarray(plain - share * np.outer(by_start, start @ plain))

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
