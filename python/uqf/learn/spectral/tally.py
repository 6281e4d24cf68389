"""What is known of a data set besides its Hankel sums; additive, so that shards and days can be added up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import ActionShares, last_symbols, shrunk_frequencies, start_symbol
from uqf.episodes.trajectories import Trajectories
from uqf.types import Integers

#: Beyond so many numbers, counting by sorting takes less memory than a counter for each.
MAX_COUNTERS = 1 << 22

#: Steps of an action to be expected after a symbol, of which there is none, before the log counts as avoiding it there.
EXPECTED_STEPS = 5.0

Counts = dict[int, float]
Key = TypeVar("Key")


@dataclass(frozen=True)
class Tally:
    """How often every symbol, every choice and every length of an episode occurred.

    A choice is an action after a symbol, ``last_symbol * n_actions + action``, by the symbols of
    `uqf.episodes.propensities.last_symbols`. Counts are floats: whole numbers up to 2⁵³, and
    fractions once old data have faded.
    """

    n_actions: int
    n_observations: int
    codebook: Codebook | None
    symbols: Counts
    choices: Counts
    lengths: Counts

    @classmethod
    def of(cls, data: Trajectories) -> Tally:
        choices = last_symbols(data) * data.n_actions + data.actions
        return cls(
            data.n_actions,
            data.n_observations,
            data.codebook,
            symbols=counted(data.symbols, data.n_symbols),
            choices=counted(choices, (data.n_symbols + data.n_observations + 1) * data.n_actions),
            lengths=counted(data.lengths, MAX_COUNTERS + 1),
        )

    @property
    def episodes(self) -> float:
        """Number of episodes; a whole number unless data have faded."""
        return sum(self.lengths.values())

    @property
    def steps(self) -> float:
        return sum(length * count for length, count in self.lengths.items())

    def __len__(self) -> int:
        return round(self.episodes)

    @property
    def n_steps(self) -> int:
        return round(self.steps)

    @property
    def n_symbols(self) -> int:
        """Size of the alphabet of (action, observation) symbols."""
        return self.n_actions * self.n_observations

    @property
    def longest(self) -> int:
        return max(self.lengths)

    @property
    def shares(self) -> ActionShares:
        """How often every action followed every symbol."""
        choices = np.array(sorted(self.choices), np.int64)
        return ActionShares(
            self.n_actions, choices, np.array([self.choices[choice] for choice in choices.tolist()])
        )

    def propensities(self, symbols: NDArray[np.int64]) -> FloatArray:
        """Π(a | last symbol) by the rule of `uqf.episodes.propensities`, (len(symbols) + 2, n_actions).

        The last two rows are those of an unseen symbol and of the start. Actions never taken get 1: nothing was
        learned about them that could be divided. An action that was never taken after a symbol gets 0 there if its
        share of all steps would lead to expect `EXPECTED_STEPS` or more: the log avoids it, and what a state of low
        rank makes of that is no evidence.
        """
        counts = np.zeros((len(symbols) + 2, self.n_actions))
        place = {int(symbol): row for row, symbol in enumerate(symbols)}
        place[start_symbol(self.n_actions, self.n_observations)] = len(symbols) + 1
        overall = self.shares.taken
        for choice, count in self.choices.items():
            symbol, action = divmod(choice, self.n_actions)
            if symbol in place:
                counts[place[symbol], action] = count
        shares = overall / overall.sum()
        # Row by row: of thousands of actions after thousands of symbols one table fits into memory, and not three.
        for row in counts:
            avoided = (row == 0.0) & (row.sum() * shares >= EXPECTED_STEPS)
            probs = shrunk_frequencies(row[np.newaxis], shares)[0]
            row[:] = np.where(overall > 0.0, np.where(avoided, 0.0, probs), 1.0)
        return counts

    def plus(self, other: Tally, sign: float = 1.0) -> Tally:
        """The tally of both, or of what is left without the other (`sign` −1)."""
        if (self.n_actions, self.n_observations) != (other.n_actions, other.n_observations):
            raise ValueError(
                f"data with {other.n_actions} actions and {other.n_observations} observations, where there were "
                f"{self.n_actions} and {self.n_observations}: give n_actions and n_observations when reading"
            )
        if self.codebook != other.codebook:
            raise ValueError("data with other names than before: give `codebook` when reading")
        return replace(
            self,
            symbols=added(self.symbols, other.symbols, sign),
            choices=added(self.choices, other.choices, sign),
            lengths=added(self.lengths, other.lengths, sign),
        )

    def faded(self, factor: float) -> Tally:
        return replace(
            self,
            symbols=scaled(self.symbols, factor),
            choices=scaled(self.choices, factor),
            lengths=scaled(self.lengths, factor),
        )


def counted(values: Integers, size: int) -> Counts:
    """How often every number below `size` occurs; those that do not are left out."""
    if size <= MAX_COUNTERS:
        counts = np.bincount(values)
        seen = np.flatnonzero(counts)
        counts = counts[seen]
    else:
        seen, counts = np.unique(values, return_counts=True)
    return dict(zip(seen.tolist(), counts.astype(np.float64).tolist(), strict=True))


def added(mine: dict[Key, float], theirs: dict[Key, float], sign: float = 1.0) -> dict[Key, float]:
    """Counts added or taken away; what comes to nothing is left out, what would be less is refused."""
    total = dict(mine)
    for key, count in theirs.items():
        total[key] = total.get(key, 0.0) + sign * count
        if total[key] < 0.0:
            raise ValueError("data are to be forgotten that were never added: give the same data as then")
        if total[key] == 0.0:
            del total[key]
    return total


def scaled(counts: dict[Key, float], factor: float) -> dict[Key, float]:
    """Every count times a factor."""
    return {key: factor * count for key, count in counts.items()}
