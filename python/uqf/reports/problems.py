"""What a careful reader would ask about a log."""

from __future__ import annotations

from typing import Any

import numpy as np

from uqf.data.propensities import propensities
from uqf.data.trajectories import Trajectories

#: A symbol needs about this many occurrences before what is learned of it is more than noise.
FEW_OCCURRENCES = 10


def problems(data: Trajectories, diagnostics: dict[str, Any]) -> list[str]:
    """Most serious first; `diagnostics` are those of the learner."""
    found = []
    if data.rewards.min() == data.rewards.max():
        found.append("Every reward is the same: there is nothing to learn from.")
    unused = data.n_actions - len(np.unique(data.actions))
    if unused:
        found.append(f"{unused} of {data.n_actions} actions never occur: nothing is known about them.")
    if data.behavior_probs is None:
        probs = propensities(data)
        found.append(
            "The log has no propensities (column behavior_prob). They were estimated from the last symbol: "
            f"{probs.min():.2g} at least, {probs.mean():.2g} on average. If the behaviour looked further back, the "
            "estimate and all that rests on it are wrong."
        )
    counts = np.bincount(data.symbols, minlength=data.n_symbols)
    seen, rare = int((counts > 0).sum()), int(((counts > 0) & (counts < FEW_OCCURRENCES)).sum())
    if rare > 0.5 * seen:
        found.append(
            f"{rare} of {seen} symbols occur fewer than {FEW_OCCURRENCES} times: group rare observations."
        )
    if not data.terminated.any() and data.lengths.min() < data.lengths.max():
        found.append(
            "No episode is marked as ended by the world, though lengths differ: is `terminated` missing?"
        )
    return found + [str(note) for note in diagnostics.get("notes", [])]
