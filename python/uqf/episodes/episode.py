"""One episode of a data set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray


class Episode(NamedTuple):
    """One episode: read-only views of its steps."""

    actions: NDArray[np.int32]
    observations: NDArray[np.int32]
    rewards: FloatArray
    behavior_probs: FloatArray | None
    terminated: bool
    first_observation: int | None = None
    columns: NDArray[np.float32] | None = None
    first_columns: NDArray[np.float32] | None = None
    allowed: NDArray[np.bool_] | None = None

    @property
    def history(self) -> list[tuple[int, int]]:
        """The episode as a list of (action, observation)."""
        return list(zip(self.actions.tolist(), self.observations.tolist(), strict=True))
