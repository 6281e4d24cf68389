"""Value iteration, for every learner that plans in a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uqf.episodes.checks import FloatArray


def settled(
    values: FloatArray,
    backup: Callable[[FloatArray], FloatArray],
    best: Callable[[FloatArray], FloatArray] = lambda pairs: pairs.max(axis=0),
    *,
    tolerance: float = 1e-7,
    max_sweeps: int = 5_000,
) -> tuple[FloatArray, int]:
    """(what every pair of action and state is worth, sweeps that it took), from first values of the states.

    ``backup(values)`` is what pairs are worth if states are worth `values`, ``best(pairs)`` what states are worth then.
    Values have settled when no sweep changes one by more than `tolerance`, as a part of the largest.
    """
    change, sweeps = np.inf, 0
    while sweeps < max_sweeps and change > tolerance * float(np.abs(values).max()):
        sweeps, pairs = sweeps + 1, backup(values)
        new = best(pairs)
        change, values = float(np.abs(new - values).max()), new
    return np.asarray(pairs), sweeps
