"""Held-out likelihoods of models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def with_all_episodes(
    own: float, judged: NDArray[np.float64], steps: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Held-out log-likelihood by group to be expected after training on all episodes, from training on half.

    What a model gains on its own episodes it loses about as much on others, and both halve when the episodes
    double: without this, large models would be judged by too few data.
    """
    mean = judged.sum() / steps.sum()
    return np.asarray(judged + steps * (own - mean) / 4.0)
