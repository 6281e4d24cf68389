"""Posterior sampling: the best plan in a world that the counts allow, drawn by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.counts import Counts
from uqf.learn.plan.values import DecisionProcess

#: Steps of belief, for every pair of observation and action, that it leads to the best return seen. With 0.5 and 0.1
#: too much of a large world stays attractive for too long.
OPTIMISM = 0.02


@dataclass(frozen=True)
class Hopes:
    """The best and the worst return from any step on, and the best of a whole episode: what may be hoped for."""

    best: float
    worst: float
    whole: float

    @classmethod
    def of(cls, data: Trajectories, discount: float) -> Hopes:
        """Of a data set."""
        returns = returns_to_go(data, discount)
        return cls(float(returns.max()), float(returns.min()), float(returns[data.offsets[:-1]].max()))

    def plus(self, other: Hopes) -> Hopes:
        """Of both data sets."""
        return Hopes(max(self.best, other.best), min(self.worst, other.worst), max(self.whole, other.whole))

    @property
    def hope(self) -> float:
        """The best return from any step on; more where a whole episode has earned it, or nothing would be explored."""
        more = 2.0 * (self.best - self.worst) or 1.0
        return self.best if self.whole < self.best else self.best + more


def drawn_values(
    counts: Counts,
    hope: float,
    discount: float,
    rng: np.random.Generator,
    optimism: float = OPTIMISM,
) -> FloatArray:
    """Q (n_states, n_actions) of the best plan in a world drawn from the posterior; plans that act on it explore.

    What follows a pair is drawn from a Dirichlet distribution whose parameters are the counts, and `optimism` for a
    place where the return `hope` is earned; rewards are normal around their mean. A pair that was never tried leads to
    `hope` for certain: it is tried as soon as a plan can reach it, and given up when nothing comes of it. Nothing is
    hoped of actions that were never allowed after an observation, or plans would wait there for ever.
    """
    arrivals = counts.arrivals
    law = scipy.sparse.csr_array(
        (rng.standard_gamma(arrivals.data), arrivals.indices, arrivals.indptr), shape=arrivals.shape
    )
    ends = rng.standard_gamma(np.maximum(counts.tried - arrivals.sum(axis=1), 0.0))
    wonder = rng.standard_gamma(np.full(len(counts.cells), optimism))
    total = law.sum(axis=1) + ends + wonder + np.finfo(float).tiny
    mean = counts.rewards / counts.tried
    noise = np.sqrt(np.maximum(counts.squares / counts.tried - mean**2, 0.0) / counts.tried)
    means = mean + noise * rng.standard_normal(len(mean))
    share = wonder / total
    known = scipy.sparse.diags_array(1.0 / total) @ law
    # All actions of observations that were left; of others nothing is known but what is hoped for.
    cells = counts.possible
    place = np.searchsorted(cells, counts.cells)
    rewards = np.full(len(cells), hope)
    rewards[place] = means * (1.0 - share) + share * hope
    spread = scipy.sparse.csr_array(
        (np.ones(len(place)), (place, np.arange(len(place)))), shape=(len(cells), len(place))
    )
    process = DecisionProcess(cells // counts.n_actions, rewards, (spread @ known).tocsr(), floor=hope)
    values, planned = np.full((counts.n_states, counts.n_actions), hope), process.optimal(discount).pairs
    values[counts.states] = min(float(planned.min()), hope) - 1.0
    values.ravel()[cells] = planned
    return values
