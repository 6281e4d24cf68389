"""LagQ: the last observations, each by itself, and advantages that are linear in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import positive
from uqf.errors import UQFError
from uqf.learn.memory.filters.alternation import Filter
from uqf.learn.memory.filters.filter_memory import FilterMemory
from uqf.learn.memory.filters.steps import Alphabet, Steps
from uqf.learn.spectral_q import SpectralQ

#: Numbers of a state at most: operators have the square of them for every symbol.
MAX_RANK = 64


class LagQ(SpectralQ):
    """Values actions by a sum over the last observations, each by itself: a linear model on stacked frames.

    For tasks that ask for what was seen some steps ago, such as the card before the last three. The number of things to
    learn grows with the number of steps that are remembered, not with its power as in `ContextQ`; what only a
    combination of observations shows is missed. The memory is a shift register, which is a filter, so that everything
    else is that of `SpectralQ`.

    Parameters
    ----------
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    lags : int
        How many of the last observations are remembered at most: fewer where there are many different ones, 64 numbers
        in all. More than 32 observations are refused.
    learning_discount, temperature, threads
        As in `SpectralQ`.

    Examples
    --------
    >>> import uqf
    >>> learner = uqf.LagQ(0.95, lags=3).fit(uqf.rollout(uqf.make("tiger"), episodes=500, seed=0))
    >>> _, one, other = learner.decision_function([[(0, 1)] * 3])[0]  # three growls from one side
    >>> bool(one > other)
    True
    """

    def __init__(
        self,
        discount: float = 0.99,
        *,
        lags: int = 8,
        learning_discount: float | None = None,
        temperature: float | None = None,
        threads: int | None = None,
    ) -> None:
        self.discount = discount
        self.lags = lags
        self.learning_discount = learning_discount
        self.temperature = temperature
        self.threads = threads

    def _check(self) -> None:
        positive("lags", self.lags)

    def _memory(self, steps: Steps) -> FilterMemory:
        first = steps.data.first_observations
        shown = np.union1d(
            steps.data.observations, steps.data.observations[:0] if first is None else first
        ).astype(np.int64)
        lags = min(self.lags, MAX_RANK // len(shown))
        if lags < 2 and lags < self.lags:
            raise UQFError(
                f"{len(shown)} observations: LagQ remembers two of {MAX_RANK // 2} at most; use BeliefQ"
            )
        register = shift_register(steps.alphabet, shown, lags, first is not None)
        return FilterMemory(register, steps.alphabet, np.full(lags * len(shown), lags**-0.5, np.float32))


def shift_register(alphabet: Alphabet, shown: NDArray[np.int64], lags: int, opens: bool) -> Filter:
    """The state [last observation, the one before, …], each as numbers of which one is 1."""
    width = len(shown)
    rank = lags * width
    operators = np.zeros((len(alphabet), 1 + rank, rank), np.float32)
    last = np.searchsorted(shown, alphabet.symbols % alphabet.n_observations)
    operators[np.arange(len(alphabet)), 0, last] = 1.0
    older = np.arange(rank - width)
    operators[:, 1 + older, width + older] = 1.0
    openings = None
    if opens:
        openings = np.zeros((alphabet.n_observations, rank), np.float32)
        openings[shown, np.arange(width)] = 1.0
    reach = float(np.finfo(np.float32).max)
    return Filter(operators, np.zeros(rank, np.float32), reach, np.ones(rank), openings)
