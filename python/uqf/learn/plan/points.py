"""Point-based plans in a model whose state is hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf import _core


@dataclass(frozen=True)
class PointSettings:
    """How long is planned; docs/notebook.md has the evidence for the numbers."""

    points: int = 300
    """Beliefs that are backed up."""
    rounds: int = 4
    """How often beliefs are collected anew, by walks that follow the plan so far."""
    sweeps: int = 25
    """Sweeps over the beliefs of a round, at most."""
    horizon: int = 50
    """Steps of a walk, at most."""


def point_plan(
    transitions: NDArray[np.floating],
    emissions: NDArray[np.floating],
    rewards: NDArray[np.floating],
    starts: NDArray[np.floating],
    discount: float,
    *,
    settings: PointSettings | None = None,
    seed: int = 0,
) -> tuple[NDArray[np.float64], float]:
    """(vectors (S, V, A), what the plan earns from the start by the model itself).

    An action is worth its largest product of vectors with the belief. The second number is a lower bound in the model,
    and says nothing about the world.

    transitions : (A, S, S), the probability of the next state and of going on
    emissions : (1 or A, O, S), what a state shows, by action if that matters
    rewards : (A, S); starts : (R, S), beliefs before the first action times their probability
    discount : float in [0, 1)
    """
    vectors, value = _core.point_plan(
        np.ascontiguousarray(transitions, np.float32),
        np.ascontiguousarray(emissions, np.float32),
        np.ascontiguousarray(rewards, np.float32),
        np.ascontiguousarray(starts, np.float32),
        discount,
        settings or PointSettings(),
        seed=seed,
    )
    return np.ascontiguousarray(vectors.transpose(2, 1, 0), np.float64), value
