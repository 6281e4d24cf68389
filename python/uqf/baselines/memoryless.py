"""What a learner with memory has to beat at least: a table over the last symbols, and chance."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
import scipy.sparse

from uqf.episodes.checks import FloatArray, not_negative, one_of, positive, probability, whole
from uqf.episodes.sums import cut_before, goes_on, returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.learn.learner import Learner
from uqf.learn.memory.contexts import ContextTree
from uqf.policies.policy import ContextPolicy
from uqf.reading.progress import Callback

#: Q-learning has converged when no target changes by more than this part of the largest.
CONVERGED = 1e-9


@dataclass(eq=False, repr=False)
class MemorylessQ(Learner):
    """Q-values by the last k symbols, shrunk towards those of the last k − 1, and so on down to none.

    Parameters
    ----------
    k : int
        Longest context; the start of the episode counts as a symbol of its own.
    target : "monte-carlo" or "q-learning"
        Average the returns that were seen (values of the policy that collected the data: one step of policy
        improvement), or repeat r + discount · max Q(next context) on the log until it converges. Trap: contexts
        are not states, so the fixed point of the second need not be the value of any policy.
    discount : float in [0, 1]
        Of the returns to maximise.
    shrinkage : float
        A context seen n times with an action gets weight n / (n + shrinkage) against its shorter one.
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

    k: int = 1
    target: Literal["monte-carlo", "q-learning"] = "monte-carlo"
    _: KW_ONLY
    discount: float = 0.99
    shrinkage: float = 1.0
    iterations: int = 10_000
    temperature: float = 0.0

    def _learn(self, data: Trajectories, progress: Callback | None) -> None:
        discount = probability("discount", self.discount)
        whole("k", self.k)
        not_negative("shrinkage", self.shrinkage)
        one_of("target", self.target, ("monte-carlo", "q-learning"))
        tree = ContextTree.of(data, self.k)
        average = Averager(tree, data, self.shrinkage)
        if self.target == "monte-carlo":
            self.values_ = average(returns_to_go(data, discount))
        else:
            self.values_ = self._q_learning(data, tree, average, discount)
        self.policy_ = tree.policy(self.values_, data, self.temperature)
        self.diagnostics_ = {"learner": "MemorylessQ", "contexts": len(tree), "notes": []}

    def _q_learning(
        self, data: Trajectories, tree: ContextTree, average: Averager, discount: float
    ) -> FloatArray:
        """On counts of what follows every context and action: a round costs what these cost, not what the log does."""
        on, arrived, nodes = goes_on(data), tree.at_cuts[cut_before(data) + 1], len(tree)
        followed = scipy.sparse.coo_array(
            (np.ones(on.sum()), (average.cells[on], arrived[on])), shape=(nodes * data.n_actions, nodes)
        )
        rewards, ahead = average.summed(data.rewards), (average.upwards @ followed).tocsr()
        values, best = average.blended(rewards), np.zeros(nodes)
        self.change_ = np.inf
        for iteration in range(1, self.iterations + 1):
            previous, best = best, values.max(axis=1)
            values = average.blended(rewards + discount * (ahead @ best))
            self.iterations_ = iteration
            self.change_ = discount * float(np.abs(best - previous).max())
            if self.change_ <= CONVERGED * max(1.0, float(np.abs(best).max())):
                break
        return values


class Averager:
    """Means of a target by context and action, each context shrunk towards its parent."""

    def __init__(self, tree: ContextTree, data: Trajectories, shrinkage: float) -> None:
        self.tree = tree
        self.shape = (len(tree), data.n_actions)
        self.cells = tree.at_cuts[cut_before(data)] * data.n_actions + data.actions
        #: (contexts · A)²: what is counted in a context counts in its parents too.
        self.upwards = self._upwards()
        totals = self.summed(np.ones(data.n_steps)).reshape(self.shape)
        # An action never seen in a context takes the value of the shorter one.
        seen = totals > 0.0
        each = np.divide(1.0, totals + shrinkage, out=np.zeros_like(totals), where=seen)
        longest = int(tree.lengths.max())
        levels = [np.flatnonzero(tree.lengths == length) for length in range(longest + 1)]
        #: By length: its contexts, what a unit of their sums is worth, and the weight of the shorter context.
        self._levels = [
            (level, each[level], np.where(seen[level], shrinkage * each[level], 1.0)) for level in levels
        ]
        self._total = float(totals[0].sum())

    def _upwards(self) -> scipy.sparse.csr_array:
        """For every context, and for all of its parents in turn, the sums that they add."""
        contexts, n_actions = self.shape
        own = np.arange(contexts)
        rows, columns, place = [own], [own], own
        while (place > 0).any():
            own, place = own[place > 0], self.tree.parents[place[place > 0] - 1]
            rows.append(place)
            columns.append(own)
        pairs = (np.concatenate(rows), np.concatenate(columns))
        contexts_up = scipy.sparse.coo_array((np.ones(len(pairs[0])), pairs), shape=(contexts, contexts))
        return scipy.sparse.kron(contexts_up, scipy.sparse.eye_array(n_actions), format="csr")

    def summed(self, targets: FloatArray) -> FloatArray:
        """Sums of targets (n_steps,) by context and action, (contexts · A,)."""
        return np.asarray(self.upwards @ np.bincount(self.cells, targets, self.shape[0] * self.shape[1]))

    def __call__(self, targets: FloatArray) -> FloatArray:
        """Values (contexts, A) of targets (n_steps,)."""
        return self.blended(self.summed(targets))

    def blended(self, sums: FloatArray) -> FloatArray:
        """Values (contexts, A) from what `summed` gives."""
        sums, values = sums.reshape(self.shape), np.empty(self.shape)
        parent = np.full((1, self.shape[1]), sums[0].sum() / self._total)
        for level, each, shorter in self._levels:
            if level[0] > 0:
                parent = values[self.tree.parents[level - 1]]
            values[level] = sums[level] * each + parent * shorter
        return values


def RandomPolicy(n_actions: int, n_observations: int) -> ContextPolicy:
    """Every action alike, whatever happened; ``uqf.rollout(env)`` without a policy plays by the same rule.

    Only the random numbers differ: with the same seed the two draw other actions.
    """
    # Equal values in the only context: ties are split evenly.
    none = np.zeros(0, np.int64)
    if positive("n_actions", n_actions) >= 2**31:
        raise ValueError(f"n_actions = {n_actions}: give fewer than 2147483648")
    values = np.zeros((1, n_actions))
    count = positive("n_observations", n_observations)
    return ContextPolicy(parents=none, symbols=none, values=values, n_observations=count)
