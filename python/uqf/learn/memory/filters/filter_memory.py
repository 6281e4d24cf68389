"""The states of a filter as numbers for regressions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import episodes_within
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.filters.alternation import Filter
from uqf.learn.memory.filters.steps import Alphabet, Rows, Steps
from uqf.policies.policy import FilterPolicy


class FilterMemory:
    """[1, state of the past] at every cut, coordinates scaled by how much of the future they predict."""

    def __init__(self, learned: Filter, alphabet: Alphabet, scales: Rows) -> None:
        self.filter = learned
        self.alphabet = alphabet
        self.scales = scales

    @classmethod
    def of(cls, learned: Filter, steps: Steps, threads: int | None, max_steps: int = 20_000) -> FilterMemory:
        """Coordinates whose squares sum to about 1, as those of a belief do: penalties mean the same to both.

        They are measured on `max_steps` steps.
        """
        some = steps.data[: episodes_within(steps.data, max_steps)]
        states = learned.run(steps.places[: some.n_steps], some, threads)[:, 1:]
        deviations = np.maximum(states.std(axis=0), 1e-6)
        shares = np.sqrt(learned.values / learned.values[0] / len(deviations))
        return cls(learned, steps.alphabet, (shares / deviations).astype(np.float32))

    @property
    def width(self) -> int:
        """One more than the state has numbers."""
        return 1 + len(self.scales)

    @property
    def groups(self) -> list[NDArray[np.int64]]:
        """All columns: a state has no zeros."""
        return [np.arange(self.width)]

    @property
    def start(self) -> FloatArray:
        """[1, the state before the first step]."""
        return np.concatenate([[1.0], self.scales * self.filter.start])

    def rows(self, data: Trajectories, threads: int | None) -> Rows:
        """(n_steps + n_episodes, width)."""
        rows = self.filter.run(self.alphabet.places(data), data, threads)
        rows[:, 1:] *= self.scales
        return rows

    def group_before(self, data: Trajectories) -> NDArray[np.int64]:
        """0 before every step but the first of an episode, where it is −1 if all episodes start alike."""
        groups = np.zeros(data.n_steps, np.int64)
        if self.filter.openings is None:
            groups[data.offsets[:-1]] = -1
        return groups

    def policy(self, weights: FloatArray, temperature: float) -> FilterPolicy:
        """Acts on values with these weights (width, n_actions)."""
        scaled = weights.copy()
        scaled[1:] *= self.scales[:, np.newaxis]
        symbols, operators = self.alphabet.symbols, self.filter.operators
        openings = self.filter.openings
        if openings is not None:
            # What is shown before the first action is the answer to an action of its own, after the last.
            seen = np.flatnonzero((openings != self.filter.start).any(axis=1))
            symbols = np.append(symbols, weights.shape[1] * self.alphabet.n_observations + seen)
            opens = np.zeros((len(seen), *operators.shape[1:]), np.float32)
            opens[:, 0] = openings[seen]
            operators = np.concatenate([operators, opens])
        return FilterPolicy(
            symbols=symbols,
            operators=operators,
            n_observations=self.alphabet.n_observations,
            start=self.filter.start,
            reach=self.filter.reach,
            weights=scaled,
            temperature=temperature,
        )
