"""How well predicted probabilities fit true ones, as the PAutomaC competition measures it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from uqf.data.checks import floats


def perplexity(probabilities: ArrayLike, predicted: ArrayLike) -> float:
    """2^(−Σ p log₂ q) over a test set, with p and q scaled to sum to one over it; 1 or more, lower is better.

    Parameters
    ----------
    probabilities : (n,), not negative
        The true probabilities, or for strings without any the same number for each.
    predicted : (n,)
        Those of a model.

    Returns
    -------
    float
        Infinite if a prediction is zero where the truth is not.

    Notes
    -----
    The set should list every string once. The least value, at ``predicted = probabilities``, is not 1 but the
    perplexity of the truth itself: compare with that.

    Examples
    --------
    >>> from uqf.strings import perplexity
    >>> perplexity([0.5, 0.25, 0.25], [0.5, 0.25, 0.25]) == 2**1.5
    True
    """
    true, model = floats("probabilities", probabilities), floats("predicted", predicted)
    if true.shape != model.shape or len(true) == 0:
        raise ValueError(
            f"predicted has {len(model)} numbers: give one for each of {len(true)} probabilities"
        )
    for name, values in (("probabilities", true), ("predicted", model)):
        if not (np.isfinite(values).all() and (values >= 0.0).all() and values.any()):
            raise ValueError(
                f"{name}: give finite numbers that are not negative, at least one of them positive"
            )
    with np.errstate(divide="ignore"):
        bits = np.log2(model) - np.log2(model.sum())
    certain = true > 0.0
    return float(2.0 ** -(true[certain] / true.sum() @ bits[certain]))
