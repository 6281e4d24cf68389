"""A table over the last few symbols: the least that a learner with memory has to beat."""

from __future__ import annotations

import operator
from typing import Any, Literal

import numpy as np

from uqf.data.along import best_next, cut_before, returns_to_go
from uqf.data.checks import FloatArray
from uqf.data.trajectories import Trajectories
from uqf.learn.contexts import ContextTree
from uqf.learn.discounts import learning_discounts
from uqf.learn.learner import Learner

#: Q-learning has converged when no target moves by more than this part of the largest.
CONVERGED = 1e-9


class MemorylessQ(Learner):
    """Q-values by the last k symbols, shrunk towards those of the last k − 1, and so on down to none.

    Parameters
    ----------
    k : int
        Longest context; the start of the episode counts as a symbol of its own.
    target : "monte-carlo" or "q-learning"
        Average the returns that were seen (values of the policy that collected the data: one step of policy
        improvement), or repeat r + discount · max Q(next context) on the log until it settles. Trap: contexts
        are not states, so the fixed point of the second need not be the value of any policy.
    discount : float in [0, 1]
        Of the returns to maximise.
    learning_discount : float, optional
        Of the returns that are averaged, at most `discount`, if another one is better behaved; `discount` by default.
    shrinkage : float
        A context seen n times with an action gets weight n / (n + shrinkage) against its shorter one.
    propensity : bool
        Weight every step by 1 / `behavior_probs`: values of actions then refer to the same mix of hidden
        states, also if the behaviour saw more than the context.
    bootstrap_truncated : bool
        Whether "q-learning" expects more where an episode was truncated.
    iterations : int
        Most rounds of "q-learning".
    temperature : float
        0 acts greedily; otherwise actions are drawn from softmax(q / temperature).

    Attributes
    ----------
    policy_ : compiled `ContextPolicy`
    values_ : (contexts, n_actions)
    iterations_, change_ : rounds done and the last change of a target ("q-learning")
    """

    def __init__(
        self,
        k: int = 1,
        target: Literal["monte-carlo", "q-learning"] = "monte-carlo",
        *,
        discount: float = 0.99,
        learning_discount: float | None = None,
        shrinkage: float = 1.0,
        propensity: bool = False,
        bootstrap_truncated: bool = True,
        iterations: int = 10_000,
        temperature: float = 0.0,
    ) -> None:
        self.k = k
        self.target = target
        self.discount = discount
        self.learning_discount = learning_discount
        self.shrinkage = shrinkage
        self.propensity = propensity
        self.bootstrap_truncated = bootstrap_truncated
        self.iterations = iterations
        self.temperature = temperature

    def _learn(self, data: Trajectories, progress: Any) -> None:
        discount = learning_discounts(self.discount, self.learning_discount)[-1]
        if operator.index(self.k) < 0:
            raise ValueError(f"k = {self.k}: give 0 or more symbols")
        if not self.shrinkage >= 0.0:
            raise ValueError(f"shrinkage = {self.shrinkage}: give 0 or a positive number of steps")
        if self.target not in ("monte-carlo", "q-learning"):
            raise ValueError(f"target = {self.target!r}: choose 'monte-carlo' or 'q-learning'")
        tree = ContextTree.of(data, self.k)
        average = Averager(tree, data, self._weights(data), self.shrinkage)
        if self.target == "monte-carlo":
            self.values_ = average(returns_to_go(data, discount))
        else:
            self.values_ = self._q_learning(data, tree, average, discount)
        self.policy_ = tree.policy(self.values_, data, self.temperature)
        self.diagnostics_ = {"learner": "MemorylessQ", "contexts": len(tree), "notes": []}

    def _weights(self, data: Trajectories) -> FloatArray:
        if not self.propensity:
            return np.ones(data.n_steps)
        if data.behavior_probs is None:
            raise ValueError("propensity = True: the data have no behavior_probs; log them, or give False")
        return np.asarray(1.0 / data.behavior_probs)

    def _q_learning(
        self, data: Trajectories, tree: ContextTree, average: Averager, discount: float
    ) -> FloatArray:
        targets: FloatArray = data.rewards
        values = average(targets)
        self.change_ = np.inf
        for iteration in range(1, self.iterations + 1):
            previous, at_cuts = targets, values[tree.at_cuts]
            targets = best_next(data, at_cuts, discount, truncated=self.bootstrap_truncated)
            values = average(targets)
            self.iterations_ = iteration
            self.change_ = float(np.abs(targets - previous).max())
            if self.change_ <= CONVERGED * max(1.0, float(np.abs(targets).max())):
                break
        return values


class Averager:
    """Weighted means of a target by context and action, each context shrunk towards its parent."""

    def __init__(self, tree: ContextTree, data: Trajectories, weights: FloatArray, shrinkage: float) -> None:
        self.tree = tree
        self.shape = (len(tree), data.n_actions)
        self.cells = tree.at_cuts[cut_before(data)] * data.n_actions + data.actions
        self.levels = [np.flatnonzero(tree.lengths == n) for n in range(int(tree.lengths.max()) + 1)]
        self.weights = weights
        self.shrinkage = shrinkage
        self.totals = self._sum(weights)

    def _sum(self, terms: FloatArray) -> FloatArray:
        """Sums over steps (contexts, A); what is counted in a context counts in its parents too."""
        cells = self.shape[0] * self.shape[1]
        sums: FloatArray = np.bincount(self.cells, terms, cells).astype(np.float64).reshape(self.shape)
        for level in reversed(self.levels[1:]):
            np.add.at(sums, self.tree.parents[level - 1], sums[level])
        return sums

    def __call__(self, targets: FloatArray) -> FloatArray:
        """Values (contexts, A)."""
        sums, totals = self._sum(self.weights * targets), self.totals
        values = np.empty(self.shape)
        parent = np.full((1, self.shape[1]), sums[0].sum() / totals[0].sum())
        for length, level in enumerate(self.levels):
            if length > 0:
                parent = values[self.tree.parents[level - 1]]
            mass = totals[level] + self.shrinkage
            # Without shrinkage, an action never seen in a context takes the value of the shorter one.
            blended = sums[level] + self.shrinkage * parent
            values[level] = np.divide(blended, mass, out=parent.copy(), where=mass > 0)
        return values
