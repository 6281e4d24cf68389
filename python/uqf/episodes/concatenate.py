"""Several data sets as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqf.episodes.checks import instance
from uqf.episodes.trajectories import Trajectories


def concatenate(parts: Sequence[Trajectories]) -> Trajectories:
    """All episodes of several data sets, in order.

    `behavior_probs` survive only if every part has them: half of the propensities are of no use to anyone.

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
        If there is no part, or the alphabets differ.

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
            raise TypeError(f"parts[{index}] is a {type(part).__name__}, not Trajectories")
        if (part.n_actions, part.n_observations) != (parts[0].n_actions, parts[0].n_observations):
            raise ValueError(
                f"parts[{index}] has {part.n_actions} actions and {part.n_observations} observations, "
                f"parts[0] has {parts[0].n_actions} and {parts[0].n_observations}"
            )
        if part.codebook != parts[0].codebook:
            raise ValueError(f"parts[{index}] has other names than parts[0]: give `codebook` when reading")
    if len(parts) == 1:
        return parts[0]
    bases = np.cumsum([0] + [part.n_steps for part in parts])
    offsets = [np.zeros(1, np.int64)] + [
        part.offsets[1:] + base for part, base in zip(parts, bases, strict=False)
    ]
    first = [part.first_observations for part in parts if part.first_observations is not None]
    if first and len(first) < len(parts):
        raise ValueError("some parts have first_observations and others have not: give them for all or none")
    known = all(part.behavior_probs is not None for part in parts)
    return Trajectories._trusted(
        np.concatenate([part.actions for part in parts]),
        np.concatenate([part.observations for part in parts]),
        np.concatenate([part.rewards for part in parts]),
        np.concatenate([part.behavior_probs for part in parts]) if known else None,
        np.concatenate(offsets),
        np.concatenate([part.terminated for part in parts]),
        parts[0].n_actions,
        parts[0].n_observations,
        parts[0].codebook,
        np.concatenate(first) if first else None,
    )
