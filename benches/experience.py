"""What is measured on: S-PocMan under the uniform policy, about 60 steps an episode, and the world hallway."""

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import uqf
from uqf import _core
from uqf.learn.spectral.basis import Basis, Counting, Target
from uqf.learn.spectral.decomposition import Decomposition, decompose
from uqf.learn.spectral.passes import block_matrix, listed_words
from uqf.learn.spectral.sums import HankelSums
from uqf.reading.reader import Reader

#: Hashed vectors of words of up to three symbols, as in the paper's compressed experiments.
DIM, LONGEST, RANK = 200, 3, 40
TARGET = Target("return", 0.95)


#: Worlds as `.pomdp` files, where there are some.
FILES = Path(os.environ.get("POMDP_FILES", "."))


def hallway() -> uqf.TabularPOMDP:
    """60 states, 21 observations."""
    if not (FILES / "hallway.pomdp").exists():
        pytest.skip("set POMDP_FILES to a folder with hallway.pomdp")
    return uqf.load_pomdp(FILES / "hallway.pomdp")


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


def settings(data: uqf.Trajectories, chosen: Basis) -> Counting:
    words = listed_words(Reader(data), chosen)
    return Counting(chosen, TARGET, float(np.abs(data.rewards).max()), words)


def accumulated(data: uqf.Trajectories, projection: str | None = "hashed") -> HankelSums:
    return HankelSums.of(data, settings(data, basis(projection)), threads=1)


def decomposed(data: uqf.Trajectories, rank: int, projection: str | None = "hashed") -> Decomposition:
    return decompose(block_matrix(accumulated(data, projection)) / len(data), rank)


def learner(**parameters) -> uqf.UQF:
    usual = {"target": "return", "projection": "hashed", "prefix_dim": DIM, "suffix_dim": DIM, "threads": 1}
    return uqf.UQF(RANK, 0.95, **(usual | parameters))


def random_clones(data: uqf.Trajectories, states: int, models: int = 1) -> _core.CloneModels:
    """Models with a random clone for every step, where training may begin."""
    layout = _core.CloneLayout(data, states=states)
    low, high = layout.ranges[data.observations].T
    rng = np.random.default_rng(0)
    labels = [low + np.floor(rng.random(data.n_steps) * (high - low)) for _ in range(models)]
    return layout.started(data, np.stack(labels).astype(np.uint32), first=0, seed=0)
