"""Episodes whose observations are elements of a Gymnasium space, played or read, as a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from uqf.coding.codebook import Codebook
from uqf.episodes.columns import Sizes
from uqf.episodes.trajectories import Trajectories
from uqf.types import Raw
from uqf.worlds.gymnasium.finite import codes_shown
from uqf.worlds.gymnasium.space_codes import encoded, learned, one_to_one
from uqf.worlds.gymnasium.space_columns import raw_columns
from uqf.worlds.gymnasium.spaces import Space, table


@dataclass
class Recorded:
    """One episode: codes of its actions, and what it showed before and after them, as it came."""

    first: Raw
    actions: list[int] = field(default_factory=list)
    observations: list[Raw] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terminated: bool = False


def joined(lists: Iterable[Sequence[Raw]]) -> list[Raw]:
    """All entries of several lists."""
    return [one for part in lists for one in part]


def offsets_of(episodes: Sequence[Recorded]) -> Raw:
    """Where episodes begin, (n_episodes + 1,)."""
    return np.cumsum([0, *(len(one.actions) for one in episodes)])


def usual_codebook(
    space: Space,
    play: Callable[[], Sequence[Recorded]],
    *,
    shows_first: bool = True,
    cells: int | None = None,
    seed: int = 0,
) -> Codebook | None:
    """None where observations are codes as they come; one learned from `play()` where they are not finite and few."""
    if codes_shown(space):
        return None
    if (known := one_to_one(space)) is not None:
        return known
    episodes = play()
    rewards = np.array(joined(one.rewards for one in episodes), np.float64)
    actions = np.array(joined(one.actions for one in episodes), np.int64)
    shown = table(space, [one.first for one in episodes]) if shows_first else None
    columns = table(space, joined(one.observations for one in episodes))
    return learned(columns, rewards, offsets_of(episodes), actions, shown, cells, seed)


def as_trajectories(
    episodes: Sequence[Recorded],
    space: Space,
    codebook: Codebook | None,
    sizes: Sizes | None,
    *,
    shows_first: bool = True,
    codes: Sequence[int] = (),
    **parts: Raw,
) -> Trajectories:
    """The episodes, with raw columns of these sizes where they are not None.

    `codes` are those of the observations if they are known; other `parts` are as in `Trajectories`.
    """
    shown = [one.first for one in episodes] if shows_first else None
    seen = joined(one.observations for one in episodes)
    if sizes is not None:
        first = None if shown is None else raw_columns(codebook, space, shown, sizes)
        parts |= {
            "columns": raw_columns(codebook, space, seen, sizes),
            "first_columns": first,
            "column_sizes": sizes,
        }
    return Trajectories(
        joined(one.actions for one in episodes),
        codes if len(codes) else encoded(codebook, space, seen),
        joined(one.rewards for one in episodes),
        offsets_of(episodes),
        terminated=[one.terminated for one in episodes],
        codebook=codebook,
        first_observations=None if shown is None else encoded(codebook, space, shown),
        **parts,
    )
