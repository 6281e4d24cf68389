"""The data that everything is measured on: S-PocMan under the uniform policy, about 60 steps an episode."""

from functools import lru_cache

import numpy as np
from uqf.learn.state import Basis, Target, block_matrix

import uqf
from uqf import _core
from uqf.learn.spectral import Decomposition, decompose

#: Hashed vectors of words of up to three symbols, as in the paper's compressed experiments.
DIM, LONGEST, RANK = 200, 3, 40
TARGET = Target("return", 0.95)


@lru_cache(maxsize=8)
def spocman(steps: int) -> uqf.Trajectories:
    """Whole episodes with about this many steps."""
    data = uqf.rollout(uqf.make("spocman"), episodes=steps // 50 + 10, seed=1)
    return data[: int(np.searchsorted(data.offsets, steps))]


def basis(projection: str | None = "hashed") -> Basis:
    if projection is None:
        return Basis(max_prefix=LONGEST, max_suffix=LONGEST, n_prefixes=DIM, n_suffixes=DIM)
    return Basis(
        max_prefix=LONGEST, max_suffix=LONGEST, projection=projection, prefix_dim=DIM, suffix_dim=DIM
    )


def accumulated(data: uqf.Trajectories, projection: str | None = "hashed") -> _core.HankelStatistics:
    return _core.HankelStatistics.accumulate(data, basis(projection).settings(data, [TARGET]), threads=1)


def decomposed(data: uqf.Trajectories, rank: int, projection: str | None = "hashed") -> Decomposition:
    return decompose(block_matrix(accumulated(data, projection)) / len(data), rank)


def learner(**parameters) -> uqf.UQF:
    settings = {"memory": "spectral", "target": "return", "projection": "hashed", "threads": 1}
    return uqf.UQF(RANK, 0.95, **(settings | {"prefix_dim": DIM, "suffix_dim": DIM} | parameters))
