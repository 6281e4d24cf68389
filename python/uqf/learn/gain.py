"""What a policy would gain, judged on logged episodes by single steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.learn.along import propensities, returns_to_go
from uqf.learn.contexts import ContextTree
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]

#: Longer horizons than this drown the gain of one step in the noise of the steps after it.
MOST_DISCOUNT = 0.95


@dataclass(frozen=True)
class Gain:
    """Mean and standard error, over episodes, of what is gained at the steps of an episode."""

    mean: float
    stderr: float

    @property
    def evidence(self) -> float:
        """Mean in standard errors."""
        return float(self.mean / self.stderr) if self.stderr > 0 else 0.0


@dataclass(frozen=True)
class Baseline:
    """Mean return by last symbol: what the advantages of held-out steps are measured against."""

    keys: NDArray[np.uint64]
    values: FloatArray
    discount: float

    @classmethod
    def of(cls, data: Trajectories, discount: float) -> Baseline:
        """Learned from the episodes that the policies are learned from, not from those they are judged on."""
        horizon = min(discount, MOST_DISCOUNT)
        tree = ContextTree.of(data, 1)
        _, values = tree.advantages(data, returns_to_go(data, horizon), (5.0, 5.0))
        order = np.argsort(tree.keys)
        return cls(tree.keys[order], np.concatenate([values[:1], values[1:][order]]), horizon)

    def advantages(self, data: Trajectories) -> FloatArray:
        """Return of every step minus the baseline, (n_steps,)."""
        keys = _core.context_keys(data, 1)[:, 0]
        place = np.searchsorted(self.keys, keys)
        known = self.keys[np.minimum(place, len(self.keys) - 1)] == keys
        return returns_to_go(data, self.discount) - self.values[np.where(known, place + 1, 0)]


def gain(probs: FloatArray, advantages: FloatArray, data: Trajectories) -> Gain:
    """Σ_t (π(a_t|h_t) / b(a_t|h_t) − 1) A_t, averaged over episodes.

    How much the logging policy would gain by taking, at one step at a time, the action of another policy whose
    probability of the logged action is `probs`. Whole-episode importance weights measure the true return but
    are all noise on long episodes; this is the first-order part of it.
    """
    gains = (probs / propensities(data) - 1.0) * advantages
    totals = np.add.reduceat(gains, data.offsets[:-1])
    spread = float(totals.std(ddof=1)) if len(totals) > 1 else 0.0
    return Gain(float(totals.mean()), spread / np.sqrt(len(totals)))


def policy_gain(policy: Any, baseline: Baseline, data: Trajectories) -> Gain:
    """The gain of a compiled policy on held-out episodes."""
    probs = _core.action_probabilities(data, policy)[np.arange(data.n_steps), data.actions]
    return gain(probs, baseline.advantages(data), data)
