"""Beliefs as numbers for regressions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.propensities import last_observations
from uqf.episodes.trajectories import Trajectories
from uqf.policies.policy import BeliefPolicy
from uqf.types import AnyArray, Record


class BeliefMemory:
    """[1, beliefs of all models] at every cut.

    Beliefs of clones after different observations never overlap, so that products are taken within an observation only.
    Before the first step a belief is over all states, and in noisy models always.
    """

    def __init__(self, families: Sequence[_core.CloneModels], n_actions: int) -> None:
        self.families = list(families)
        parts = [models.filters() for models in families]
        by_model = ("states", "starts", "transitions", "shown", "ranges")
        # Larger models have fewer kinds of actions: these are the kinds that no model distinguishes.
        kinds, place = np.unique([part["kinds"] for part in parts], axis=1, return_inverse=True)
        for part, own in zip(parts, kinds, strict=True):
            part["transitions"] = _by_kind(part["transitions"], part["states"], part["kinds"], own)
        joined = {name: np.concatenate([part[name] for part in parts]) for name in by_model}
        self.parts: Record = parts[0] | joined | {"kinds": place.ravel().astype(parts[0]["kinds"].dtype)}
        features = int(self.parts["states"].sum())
        self.filters = self.policy(np.zeros((1 + features, n_actions)), 0.0)

    def policy(self, weights: NDArray[np.float64], temperature: float) -> BeliefPolicy:
        """Acts on values with these weights (width, n_actions)."""
        bias, slopes = np.ascontiguousarray(weights[0]), np.ascontiguousarray(weights[1:, np.newaxis])
        return BeliefPolicy(**self.parts, weights=slopes, bias=bias, temperature=temperature)

    @property
    def width(self) -> int:
        """One more than there are states in all models."""
        return 1 + int(self.parts["states"].sum())

    @cached_property
    def _ranges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(distinct ranges of clones in all models (groups, models, 2), the group of every observation)."""
        ranges = self.parts["ranges"].transpose(1, 0, 2)
        distinct, group = np.unique(ranges.reshape(len(ranges), -1), axis=0, return_inverse=True)
        return distinct.reshape(len(distinct), -1, 2), group.ravel()

    @cached_property
    def groups(self) -> list[NDArray[np.int64]]:
        """The columns of the clones of an observation in all models, with the constant."""
        starts = np.cumsum([1, *self.parts["states"][:-1]])
        return [
            np.concatenate(
                [[0], *(np.arange(*pair) + start for start, pair in zip(starts, ranges, strict=True))]
            )
            for ranges in self._ranges[0]
        ]

    @cached_property
    def start(self) -> NDArray[np.float64]:
        """[1, what the models believe before the first step]."""
        return np.concatenate([[1.0], self.parts["starts"]])

    def rows(self, data: Trajectories, threads: int | None) -> NDArray[np.float32]:
        """(n_steps + n_episodes, width)."""
        return self.filters.beliefs_along(data, threads=threads)

    def group_before(self, data: Trajectories) -> NDArray[np.int64]:
        """That of the last observation, (n_steps,); −1 before the first step where nothing was shown or looked at."""
        groups = np.append(self._ranges[1], -1)[last_observations(data)]
        if not self.parts["opens"]:
            groups[data.offsets[:-1]] = -1
        return groups


def _by_kind(transitions: AnyArray, states: AnyArray, kinds: AnyArray, wanted: AnyArray) -> AnyArray:
    """The transitions of these kinds, in their order, of models of one size one after another."""
    size = int(states[0])
    tables = transitions.reshape(len(states), int(kinds.max()) + 1, size, size)
    return np.ascontiguousarray(tables[:, wanted]).ravel()
