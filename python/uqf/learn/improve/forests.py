"""Values that forests say: fitted Q iteration with frozen trees in two folds of episodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.sums import returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.reading.progress import Reporter
from uqf.types import Record


@dataclass(frozen=True)
class Forests:
    """The numbers of the algorithm; docs/notebook.md has their evidence.

    stages : how often trees are grown; at first on the returns of the log
    sweeps : of the values of the leaves in a stage, at most
    value_trees, trees : of the value of the log's steps, and of every action for what that leaves over
    leaves : of a tree, at most 256
    smallest : fewest steps of a leaf; twice as many for the value
    shrinkage : pseudo-steps of advantage 0 in every leaf
    caution : 0 values an action by the mean of both folds, 1 by the smaller
    pooled : whether one forest values all actions by what is known of each, instead of one forest an action
    features, rows : share of the summaries that are tried at a split, and of the steps that a tree is grown on
    """

    stages: int = 3
    sweeps: int = 25
    value_trees: int = 10
    trees: int = 8
    leaves: int = 64
    smallest: int = 10
    shrinkage: float = 5.0
    caution: float = 0.0
    pooled: bool = False
    features: float = 0.5
    rows: float = 0.7

    @property
    def planned(self) -> int:
        """Sweeps of all stages, at most."""
        return 1 + (self.stages - 1) * self.sweeps

    def fitted(
        self,
        bins: _core.SummaryBins,
        data: Trajectories,
        fold: NDArray[np.uint8],
        discount: float,
        seed: int,
        reporter: Reporter,
    ) -> Record:
        """The forests of all actions, as arguments of a `SummaryPolicy`, with `changes` and `mean_value`."""
        going = np.ones(data.n_steps, np.bool_)
        going[data.offsets[1:] - 1] = ~data.terminated
        returns = returns_to_go(data, discount)
        forests = 1 if self.pooled else data.n_actions
        trees = self.stages * 2 * (self.value_trees + self.trees * forests)
        reporter.enter("forests", trees + self.planned)
        fitted: Record = bins.fitted(
            data.rewards.astype(np.float32),
            going,
            fold,
            returns.astype(np.float32),
            value_range(data, returns, discount),
            self,
            discount=discount,
            seed=seed,
            progress=lambda done: reporter.reach(min(done, trees + self.planned)),
        )
        return fitted


def value_range(data: Trajectories, returns: NDArray[np.float64], discount: float) -> tuple[float, float]:
    """Lowest and highest value that is believed: of the log, or with endless rewards like the log's."""
    lowest = min(float(data.rewards.min()), float(returns.min()))
    highest = max(float(data.rewards.max()), float(returns.max()))
    if discount < 1.0:
        lowest = min(lowest, float(data.rewards.min()) / (1.0 - discount))
        highest = max(highest, float(data.rewards.max()) / (1.0 - discount))
    return lowest, highest
