"""Memory as contexts: values by the last few symbols, longer contexts shrunk towards shorter ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.learn.along import propensities, returns_to_go
from uqf.policies import SumPolicy
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]

#: Keys that are sorted together.
PIECE = 1 << 16

#: A longer context enters the tree when it was seen this often.
LEAST_SEEN = 2


@dataclass(frozen=True)
class ContextTree:
    """Contexts of the last 1 … depth symbols that occur in a data set, and the one each step is in.

    keys : (nodes − 1,), node i + 1 has keys[i]; node 0 is the empty context
    parents, depths : (nodes,)
    levels : for every length 0 … depth, the steps that have a context of that length and its node
    """

    keys: NDArray[np.uint64]
    parents: NDArray[np.int64]
    levels: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    deepest: NDArray[np.int64]
    depth: int

    @classmethod
    def of(cls, data: Trajectories, depth: int) -> ContextTree:
        """The tree of a data set."""
        keys_of_step = _core.context_keys(data, depth)
        steps = np.arange(data.n_steps)
        node = np.zeros(data.n_steps, np.int64)
        keys, parents, levels = [], [np.zeros(1, np.int64)], [(steps, node.copy())]
        size = 1
        for level in range(depth):
            steps = steps[keys_of_step[steps, level] != 0]
            seen, example, inverse = _distinct(keys_of_step[steps, level])
            count = np.bincount(inverse, minlength=len(seen))
            kept = count >= (LEAST_SEEN if level > 0 else 1)
            number = np.where(kept, size + np.cumsum(kept) - 1, -1)
            parents.append(node[steps[example[kept]]])
            keys.append(seen[kept])
            size += int(kept.sum())
            inside = number[inverse] >= 0
            steps = steps[inside]
            node[steps] = number[inverse][inside]
            levels.append((steps, node[steps]))
        return cls(np.concatenate(keys), np.concatenate(parents), levels, node, depth)

    def __len__(self) -> int:
        return len(self.parents)

    def advantages(
        self, data: Trajectories, targets: FloatArray, shrinkage: tuple[float, float]
    ) -> tuple[FloatArray, FloatArray]:
        """(advantage (nodes, actions), value (nodes,)) of the targets: means, shrunk towards the shorter context.

        `shrinkage` are the pseudo-counts of the empty context for the last symbol, and of each shorter context
        for a longer one.
        """
        n_actions, size = data.n_actions, len(self)
        value, advantage = np.zeros(size), np.zeros((size, n_actions))
        for level, (steps, nodes) in enumerate(self.levels):
            cell = nodes * n_actions + data.actions[steps]
            counts = np.bincount(cell, minlength=size * n_actions).reshape(size, -1)
            sums = np.bincount(cell, targets[steps], size * n_actions).reshape(size, -1)
            here = np.flatnonzero(counts.sum(axis=1))
            counts, sums, above = counts[here], sums[here], self.parents[here]
            pseudo = shrinkage[min(level, 2) // 2]
            inherits = float(level > 0)
            value[here] = (sums.sum(axis=1) + inherits * value[above]) / (counts.sum(axis=1) + inherits)
            centred = sums - counts * value[here, np.newaxis]
            advantage[here] = (centred + inherits * pseudo * advantage[above]) / (counts + pseudo)
        return advantage, value

    def policy(self, values: FloatArray, data: Trajectories, temperature: float) -> SumPolicy:
        """Acts on the values of the longest known context."""
        return SumPolicy(
            n_actions=data.n_actions,
            n_observations=data.n_observations,
            contexts=[(self.keys, np.ascontiguousarray(values), self.depth)],
            beliefs=[],
            temperature=temperature,
        )


def _distinct(
    keys: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """(distinct keys in order, a place where each occurs, the number of every place's key).

    Few keys occur often: pieces are sorted apart, so that time grows in proportion to the number of keys.
    """
    pieces = np.split(keys, range(PIECE, len(keys), PIECE))
    seen = np.unique(np.concatenate([np.unique(piece) for piece in pieces]))
    inverse = np.searchsorted(seen, keys)
    example = np.empty(len(seen), np.int64)
    example[inverse] = np.arange(len(keys))
    return seen, example, inverse


def softmax(values: FloatArray) -> FloatArray:
    """Along the last axis."""
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def retrace(
    data: Trajectories, discount: float, v: FloatArray, q: FloatArray, probs: FloatArray
) -> FloatArray:
    """Returns towards another policy: y_t = r_t + γ (v_{t+1} + min(1, π/b) (y_{t+1} − q_{t+1})).

    v, q, probs : value of the state, of the logged action, and the new policy's probability of it, at every step
    """
    traces = np.minimum(1.0, probs / propensities(data))
    targets = data.rewards.copy()
    first, last = data.offsets[:-1], data.offsets[1:]
    for back in range(2, int((last - first).max()) + 1):
        step = last - back
        step = step[step >= first]
        after = step + 1
        targets[step] += discount * (v[after] + traces[after] * (targets[after] - q[after]))
    return targets


@dataclass(frozen=True)
class ContextLearner:
    """Learns advantages in contexts by Monte Carlo.

    depth : longest context; learning_discount : of the returns that are averaged
    """

    depth: int = 3
    learning_discount: float = 0.85
    #: From one fixed log: temperature in units of the spread of returns, and pseudo-counts.
    temperature: float = 0.06
    shrinkage: tuple[float, float] = (5.0, 300.0)
    #: As one step of policy iteration from the policy's own episodes.
    step_shrinkage: tuple[float, float] = (5.0, 5.0)

    def fit(self, data: Trajectories) -> SumPolicy:
        """The softmax policy of Monte-Carlo advantages, after one Retrace sweep towards itself."""
        tree = ContextTree.of(data, self.depth)
        targets = returns_to_go(data, self.learning_discount)
        spread = max(float(targets.std()), np.finfo(float).tiny)
        advantage, value = tree.advantages(data, targets, self.shrinkage)
        probs = softmax(advantage / (self.temperature * spread))
        q = value[:, np.newaxis] + advantage
        here = tree.deepest
        targets = retrace(
            data,
            self.learning_discount,
            (probs * q).sum(axis=1)[here],
            q[here, data.actions],
            probs[here, data.actions],
        )
        advantage, _ = tree.advantages(data, targets, self.shrinkage)
        return tree.policy(advantage, data, self.temperature * spread)

    def step(self, data: Trajectories, temperature: float) -> SumPolicy:
        """Advantages of the policy that collected the data, to be added to its own values."""
        tree = ContextTree.of(data, self.depth)
        targets = returns_to_go(data, self.learning_discount)
        spread = max(float(targets.std()), np.finfo(float).tiny)
        advantage, _ = tree.advantages(data, targets, self.step_shrinkage)
        return tree.policy(advantage, data, temperature * spread)
