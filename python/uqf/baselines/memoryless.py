"""A table over the last few symbols: the least that a learner with memory has to beat."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from uqf.baselines.transitions import Floats, Transitions, checked_data, checked_discount
from uqf.learn.along import returns_to_go
from uqf.learn.contexts import ContextLearner
from uqf.policies import ContextPolicy, SumPolicy
from uqf.trajectories import Trajectories

#: Q-learning has converged when no target moves by more than this part of the largest.
CONVERGED = 1e-9


class MemorylessQ(BaseEstimator):  # type: ignore[misc]
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
    learning_discount : float in [0, 1], optional
        Of the returns that are averaged, if another one is better behaved; `discount` by default.
    shrinkage : float
        A context seen n times with an action gets weight n / (n + shrinkage) against its shorter one.
    propensity : bool
        Weight every step by 1 / `behavior_probs`: values of actions then refer to the same mix of hidden
        states, also if the behaviour saw more than the context.
    bootstrap_truncated : bool
        Whether "q-learning" expects more where the recording stopped, though the world had not ended.
    iterations : int
        Most rounds of "q-learning".
    temperature : float
        0 acts greedily; otherwise actions are drawn from softmax(q / temperature).

    Attributes
    ----------
    policy_ : compiled `ContextPolicy`
    contexts_, values_ : list of words (n_symbols stands for the start), (contexts, n_actions)
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

    def fit(self, data: Trajectories, y: None = None) -> MemorylessQ:
        """Learns from episodes; `y` is ignored (scikit-learn passes it)."""
        checked_data(data)
        discount = checked_discount("discount", self.discount)
        if self.learning_discount is not None:
            discount = checked_discount("learning_discount", self.learning_discount)
        if operator.index(self.k) < 0:
            raise ValueError(f"k = {self.k}: give 0 or more symbols")
        if not self.shrinkage >= 0.0:
            raise ValueError(f"shrinkage = {self.shrinkage}: give 0 or a positive number of steps")
        if self.target not in ("monte-carlo", "q-learning"):
            raise ValueError(f"target = {self.target!r}: choose 'monte-carlo' or 'q-learning'")
        contexts = Contexts.of(data, self.k)
        transitions = Transitions(data, bootstrap_truncated=self.bootstrap_truncated)
        average = Averager(contexts, transitions.before, data, self._weights(data), self.shrinkage)
        if self.target == "monte-carlo":
            values = average(returns_to_go(data, discount))
        else:
            values = self._q_learning(transitions, contexts, average, discount)
        self.contexts_ = contexts.words
        self.values_ = values
        self.policy_ = ContextPolicy(
            contexts.words, values, data.n_observations, temperature=self.temperature
        )
        self.n_features_in_ = data.n_symbols
        return self

    def step(self, data: Trajectories, base: SumPolicy | None, temperature: float) -> SumPolicy:
        """One step of `uqf.policy_iteration`, as `UQF.step` takes it, with contexts of up to k symbols."""
        checked_data(data)
        learner = ContextLearner(depth=max(1, self.k))
        if self.learning_discount is not None:
            learner = replace(learner, learning_discount=self.learning_discount)
        step = learner.step(data, temperature)
        return step if base is None else base.plus(step)

    def _weights(self, data: Trajectories) -> Floats:
        if not self.propensity:
            return np.ones(data.n_steps)
        if data.behavior_probs is None:
            raise ValueError("propensity = True: the data have no behavior_probs; log them, or give False")
        return np.asarray(1.0 / data.behavior_probs)

    def _q_learning(
        self, transitions: Transitions, contexts: Contexts, average: Averager, discount: float
    ) -> Floats:
        values = average(transitions.rewards)
        targets = transitions.rewards
        self.change_ = np.inf
        for iteration in range(1, self.iterations + 1):
            previous, targets = targets, transitions.targets(values[contexts.longest], discount)
            values = average(targets)
            self.iterations_ = iteration
            self.change_ = float(np.abs(targets - previous).max())
            if self.change_ <= CONVERGED * max(1.0, float(np.abs(targets).max())):
                break
        return values


@dataclass(frozen=True)
class Contexts:
    """The contexts met at the cuts of a data set, shorter ones first.

    words : every context; parents : (contexts,) row of its longest proper suffix, −1 for the empty one
    levels : rows by length; longest : (cuts,) row of the longest context at each cut
    """

    words: list[tuple[int, ...]]
    parents: NDArray[np.int64]
    levels: list[slice]
    longest: NDArray[np.int64]

    @classmethod
    def of(cls, data: Trajectories, k: int) -> Contexts:
        """Contexts of up to k symbols, the start of an episode counting as symbol ``n_symbols``."""
        cuts = data.n_steps + len(data)
        first = data.offsets[:-1] + np.arange(len(data))
        # The symbol that leads to each cut; at the first cut of an episode, its start.
        arriving = np.full(cuts, data.n_symbols, np.int64)
        within = np.ones(cuts, np.bool_)
        within[first] = False
        arriving[within] = data.symbols
        position = np.arange(cuts) - np.repeat(first, data.lengths + 1)
        words: list[tuple[int, ...]] = [()]
        parents, levels = [np.full(1, -1)], [slice(0, 1)]
        longest = np.zeros(cuts, np.int64)
        for length in range(1, k + 1):
            reach = np.flatnonzero(position + 1 >= length)
            earliest = arriving[reach - length + 1]
            keys, inverse = np.unique(longest[reach] * (data.n_symbols + 1) + earliest, return_inverse=True)
            parent, symbol = np.divmod(keys, data.n_symbols + 1)
            levels.append(slice(len(words), len(words) + len(keys)))
            longest[reach] = len(words) + inverse
            words += [(int(s), *words[p]) for p, s in zip(parent.tolist(), symbol.tolist(), strict=True)]
            parents.append(parent)
        return cls(words, np.concatenate(parents), levels, longest)


class Averager:
    """Weighted means of a target by context and action, each context shrunk towards its parent."""

    def __init__(
        self,
        contexts: Contexts,
        before: NDArray[np.int64],
        data: Trajectories,
        weights: Floats,
        shrinkage: float,
    ) -> None:
        self.contexts = contexts
        self.shape = (len(contexts.words), data.n_actions)
        self.cells = contexts.longest[before] * data.n_actions + data.actions
        self.weights = weights
        self.shrinkage = shrinkage
        self.totals = self._sum(weights)

    def _sum(self, terms: Floats) -> Floats:
        """Sums over steps (contexts, A); what is counted in a context counts in its parents too."""
        cells = self.shape[0] * self.shape[1]
        sums: Floats = np.bincount(self.cells, terms, cells).astype(np.float64).reshape(self.shape)
        for level in reversed(self.contexts.levels[1:]):
            np.add.at(sums, self.contexts.parents[level], sums[level])
        return sums

    def __call__(self, targets: Floats) -> Floats:
        """Values (contexts, A)."""
        sums, totals = self._sum(self.weights * targets), self.totals
        values = np.empty(self.shape)
        parent = np.full((1, self.shape[1]), sums[0].sum() / totals[0].sum())
        for level in self.contexts.levels:
            if level.start > 0:
                parent = values[self.contexts.parents[level]]
            mass = totals[level] + self.shrinkage
            # Without shrinkage, an action never seen in a context takes the value of the shorter one.
            blended = sums[level] + self.shrinkage * parent
            values[level] = np.divide(blended, mass, out=parent.copy(), where=mass > 0)
        return values
