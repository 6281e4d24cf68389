"""From an automaton of values to weights that rank actions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.errors import SpectralRadiusError
from uqf.learn.automata import WFA
from uqf.learn.state import SpectralState

FloatArray = NDArray[np.float64]

#: What to do when the sum over all futures diverges.
REMEDIES = ("refuse", "horizon", "shrink", "lower-rank")

#: Radius that "shrink" aims at.
SAFE_RADIUS = 0.99


def value_automaton(
    state: SpectralState, discount: float, horizon: int, remedy: str
) -> tuple[WFA, WFA, list[str]]:
    """The reward automaton B, the value automaton A = B.discounted(discount), notes on what had to be done.

    Real data give spectral radii of one and more. The remedies: "refuse" raises; "horizon" sums only over
    futures shorter than `horizon`; "shrink" lowers the discount until the radius is 0.99; "lower-rank" drops
    singular directions until the radius is below one.
    """
    if remedy not in REMEDIES:
        raise ValueError(f"on_divergence = {remedy!r}: choose one of {', '.join(REMEDIES)}")
    rewards = state.wfa()
    radius = rewards.spectral_radius(discount)
    if radius < 1.0 or remedy == "refuse":
        return rewards, rewards.discounted(discount), []
    if remedy == "horizon":
        note = f"spectral radius {radius:.4g}: futures cut at {horizon} steps"
        return rewards, rewards.discounted(discount, horizon=horizon), [note]
    if remedy == "shrink":
        lower = discount * SAFE_RADIUS / radius
        note = f"spectral radius {radius:.4g}: learning discount lowered from {discount:g} to {lower:.4g}"
        return rewards, rewards.discounted(lower), [note]
    for rank in range(state.rank - 1, 0, -1):
        smaller = state.truncated(rank).wfa()
        if smaller.spectral_radius(discount) < 1.0:
            note = f"spectral radius {radius:.4g}: rank lowered from {state.rank} to {rank}"
            return smaller, smaller.discounted(discount), [note]
    raise SpectralRadiusError(
        radius, discount, "no lower rank helps; use on_divergence='horizon' or 'shrink'"
    )
