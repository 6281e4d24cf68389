"""Several data sets as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqf.episodes.checks import instance
from uqf.episodes.trajectories import BY_EPISODE, BY_STEP, Trajectories
from uqf.errors import kind_of
from uqf.types import AnyArray


def concatenate(parts: Sequence[Trajectories]) -> Trajectories:
    """All episodes of several data sets, in order.

    `behavior_probs` survive only if every part has them: half of the propensities are of no use to anyone. Parts
    without `allowed` allowed every action.

    Parameters
    ----------
    parts : sequence of Trajectories
        With the same alphabets.

    Returns
    -------
    Trajectories
        A copy of all episodes, or the only part.

    Raises
    ------
    ValueError
        If there is no part, or the alphabets or the columns differ.

    Examples
    --------
    >>> import uqf
    >>> monday, tuesday = (uqf.rollout(uqf.make("tiger"), episodes=5, seed=day) for day in (0, 1))
    >>> len(uqf.concatenate([monday, tuesday]))
    10
    """
    instance("parts", parts, Sequence, "a list of data sets")
    if len(parts) == 0:
        raise ValueError("parts is empty: give at least one data set")
    for index, part in enumerate(parts):
        if not isinstance(part, Trajectories):
            raise TypeError(f"parts[{index}] is {kind_of(part)}, not Trajectories")
        if (part.n_actions, part.n_observations) != (parts[0].n_actions, parts[0].n_observations):
            raise ValueError(
                f"parts[{index}] has {part.n_actions} actions and {part.n_observations} observations, "
                f"parts[0] has {parts[0].n_actions} and {parts[0].n_observations}"
            )
        if part.codebook != parts[0].codebook:
            raise ValueError(f"parts[{index}] has other names than parts[0]: give `codebook` when reading")
    if len(parts) == 1:
        return parts[0]
    for name in ("first_observations", "columns"):
        if len({getattr(part, name) is None for part in parts}) > 1:
            raise ValueError(f"some parts have {name} and others have not: give them for all or none")
    sizes = parts[0].column_sizes
    if len({None if part.column_sizes is None else tuple(part.column_sizes.tolist()) for part in parts}) > 1:
        raise ValueError("the parts have other column_sizes: give data with the same columns")
    bases = np.cumsum([0] + [part.n_steps for part in parts])
    offsets = [part.offsets[1:] + base for part, base in zip(parts, bases, strict=False)]
    joined = {name: _joined([getattr(part, name) for part in parts]) for name in (*BY_STEP, *BY_EPISODE)}
    if any(part.allowed is not None for part in parts):
        joined["allowed"] = np.concatenate([_allowed(part) for part in parts])
    return Trajectories._trusted(
        **joined,
        offsets=np.concatenate([np.zeros(1, np.int64), *offsets]),
        n_actions=parts[0].n_actions,
        n_observations=parts[0].n_observations,
        codebook=parts[0].codebook,
        column_sizes=sizes,
    )


def _joined(arrays: list[AnyArray | None]) -> AnyArray | None:
    """All of them, one after the other; None if one is missing."""
    known = [one for one in arrays if one is not None]
    return np.concatenate(known) if len(known) == len(arrays) else None


def _allowed(part: Trajectories) -> AnyArray:
    return np.ones((part.n_steps, part.n_actions), np.bool_) if part.allowed is None else part.allowed
