"""From an automaton of a statistic to one of the probabilities of strings, and back.

With A the sum of all operators, Σ_v A_v = (I − A)⁻¹ over all words v. So the four automata differ only in their ends:
"prefix" reads out (I − A)⁻¹ω, "suffix" starts from αᵀ(I − A)⁻¹, "factor" does both.
"""

from __future__ import annotations

import numpy as np

from uqf.episodes.checks import FloatArray
from uqf.errors import NumericalError, SpectralRadiusError
from uqf.learn.spectral.wfa import WFA
from uqf.strings.hankel import checked_statistics


def string_wfa(wfa: WFA, statistics: str) -> WFA:
    """The automaton of string probabilities, from one that computes a statistic of them.

    Parameters
    ----------
    wfa : WFA
        Computes the statistic.
    statistics : "classic", "prefix", "suffix" or "factor"
        Which one; see `string_hankel`.

    Returns
    -------
    WFA
        Only its ends differ.

    Examples
    --------
    >>> import uqf
    >>> begins = uqf.WFA([1.0], [[[0.75]]], [1.0])  # a string has at least n symbols with probability 0.75ⁿ
    >>> uqf.strings.string_wfa(begins, "prefix")((0,))
    0.1875
    """
    begins, to_end = checked_statistics(statistics)
    rest = np.eye(wfa.rank) - wfa.seen_operators.sum(axis=0)
    alpha = wfa.alpha @ rest if begins == "anywhere" else wfa.alpha
    omega = wfa.omega if to_end else rest @ wfa.omega
    return wfa.with_parts(alpha, wfa.seen_operators, omega)


def statistics_wfa(wfa: WFA, statistics: str) -> WFA:
    """The automaton of a statistic, from one of string probabilities.

    Parameters
    ----------
    wfa : WFA
        Computes the probabilities of strings.
    statistics : "classic", "prefix", "suffix" or "factor"
        What the result computes; see `string_hankel`.

    Returns
    -------
    WFA
        Only its ends differ.

    Raises
    ------
    SpectralRadiusError
        Where the sum over all words diverges.

    Examples
    --------
    >>> import uqf
    >>> geometric = uqf.WFA([1.0], [[[0.75]]], [0.25])  # ends at every step with probability 0.25
    >>> uqf.strings.statistics_wfa(geometric, "factor")(())  # mean length plus one
    4.0
    """
    begins, to_end = checked_statistics(statistics)
    radius = wfa.spectral_radius()
    if statistics != "classic" and not radius < 1.0:
        raise SpectralRadiusError(radius, 1.0, "learn with a lower `rank`, or from more strings")
    alpha = completed(wfa.alpha, wfa, forward=False) if begins == "anywhere" else wfa.alpha
    omega = wfa.omega if to_end else completed(wfa.omega, wfa)
    return wfa.with_parts(alpha, wfa.seen_operators, omega)


def completed(end: FloatArray, wfa: WFA, *, forward: bool = True) -> FloatArray:
    """(I − A)⁻¹ end, or endᵀ (I − A)⁻¹; where the sum over all words diverges, its formal continuation."""
    rest = np.eye(wfa.rank) - wfa.seen_operators.sum(axis=0)
    try:
        return np.linalg.solve(rest if forward else rest.T, end)
    except np.linalg.LinAlgError:
        raise NumericalError(
            "I minus the sum of the operators is singular: learn with another `rank`, or from more strings"
        ) from None
