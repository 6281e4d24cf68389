"""The state that a spectral learner remembers a history by, and the automaton on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray, one_of
from uqf.errors import NumericalError, SpectralRadiusError
from uqf.learn.spectral.decomposition import Decomposition
from uqf.learn.spectral.wfa import WFA

#: What to do when the sum over all futures diverges.
REMEDIES = ("refuse", "horizon", "shrink", "lower-rank")

#: Of operators, and of probabilities of actions after a symbol: with the copies that are made of them a gigabyte.
MAX_NUMBERS = 25_000_000


@dataclass(frozen=True)
class SpectralState:
    """A state with an operator per seen symbol, and the read-out of what was learned.

    alpha : (k,) state of the empty history; anchor : (k,) average state over all places of the data
    symbols, operators : (seen,), (seen, k, k)
    omega : (k,)
    coverage : shares of the prefixes and suffixes of the data that the basis knows
    """

    alpha: FloatArray
    anchor: FloatArray
    symbols: NDArray[np.int64]
    operators: FloatArray
    omega: FloatArray
    n_symbols: int
    decomposition: Decomposition
    numerical_rank: int
    coverage: tuple[float, float]

    @property
    def rank(self) -> int:
        return len(self.alpha)

    def wfa(self) -> WFA:
        """The automaton of the function that was learned."""
        return WFA(self.alpha, self.operators, self.omega, symbols=self.symbols, n_symbols=self.n_symbols)

    def truncated(self, rank: int) -> SpectralState:
        """The state of a lower rank: singular directions are nested, so no pass over the data is needed."""
        if not 1 <= rank <= self.rank:
            raise ValueError(f"rank = {rank}: this state has rank {self.rank}")
        parts = self.decomposition
        return replace(
            self,
            alpha=self.alpha[:rank],
            anchor=self.anchor[:rank],
            operators=np.ascontiguousarray(self.operators[:, :rank, :rank]),
            omega=self.omega[:rank],
            decomposition=Decomposition(
                parts.left[:, :rank], parts.singular_values[:rank], parts.right[:, :rank], parts.spectrum
            ),
        )


def refuse_too_many(symbols: int, each: int, way_out: str) -> None:
    """Refuses a policy that would keep more than `MAX_NUMBERS`, so many for each symbol of the log."""
    if symbols * each > MAX_NUMBERS:
        raise ValueError(
            f"{symbols:,} different symbols and {each:,} numbers for each: a policy of UQF keeps {MAX_NUMBERS:,} at "
            f"most; {way_out}, merge rare actions and observations, or use ContextQ or BeliefQ"
        )


def checked_start(state: SpectralState, occurrences: str) -> tuple[FloatArray, list[str]]:
    """(state to begin an episode with, notes). It is zero if no reward comes within a suffix of the first step.

    Words that are counted anywhere say as much from the average place. Words counted from the first step say
    nothing at all: every value would be zero, and every action as good as any other.
    """
    if state.alpha.any():
        return state.alpha, []
    if occurrences == "start":
        raise NumericalError(
            "no reward comes within `max_suffix` steps of the first one, so that every value would be zero: use a "
            'larger `max_suffix`, occurrences="anywhere" or target="return"'
        )
    note = "no reward comes within `max_suffix` steps of the first one: episodes begin in the average state"
    return state.anchor, [note]


def value_automaton(
    state: SpectralState, discount: float, horizon: int, remedy: str, safe_radius: float = 0.99
) -> tuple[WFA, WFA, list[str]]:
    """The reward automaton B, the value automaton A = B.discounted(discount), notes on what had to be done.

    Real data give spectral radii of one and more. The remedies: "refuse" raises; "horizon" sums only over
    futures shorter than `horizon`; "shrink" lowers the discount until the radius is
    `safe_radius`; "lower-rank" drops
    singular directions until the radius is below one.
    """
    one_of("on_divergence", remedy, REMEDIES)
    rewards = state.wfa()
    radius = rewards.spectral_radius(discount)
    if radius < 1.0 or remedy == "refuse":
        return rewards, rewards.discounted(discount), []
    reason = f"spectral radius {radius:.4g}"
    if remedy == "horizon":
        cut = f"{reason}: futures cut at {horizon} steps"
        return rewards, rewards.discounted(discount, horizon=horizon), [cut]
    if remedy == "shrink":
        lower = discount * safe_radius / radius
        note = f"{reason}: learning discount lowered from {discount:g} to {lower:.4g}"
        return rewards, rewards.discounted(lower), [note]
    for rank in range(state.rank - 1, 0, -1):
        smaller = state.truncated(rank).wfa()
        if smaller.spectral_radius(discount) < 1.0:
            note = f"{reason}: rank lowered from {state.rank} to {rank}"
            return smaller, smaller.discounted(discount), [note]
    raise SpectralRadiusError(
        radius, discount, "no lower rank helps; use on_divergence='horizon' or 'shrink'"
    )
