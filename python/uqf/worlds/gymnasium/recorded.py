"""Episodes played in a Gymnasium world as a data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.types import Raw, Record
from uqf.worlds.gymnasium.copies import Played

if TYPE_CHECKING:
    from uqf.worlds.gymnasium.world import GymnasiumWorld


def recorded(world: GymnasiumWorld, played: Sequence[Played]) -> Trajectories:
    """Episodes in the order of their numbers, with raw columns where observations are no codes, and with masks."""
    played = sorted(played, key=lambda episode: episode.number)
    shown = [one.first for one in played] if world.shows_first else None
    seen = _joined(one.observations for one in played)
    codes = _joined(one.codes for one in played)
    masks, extras = _joined(one.allowed for one in played), Record()
    if world.keeps_columns:
        extras = {"columns": world.raw_columns(seen), "column_sizes": world.column_sizes}
        extras["first_columns"] = None if shown is None else world.raw_columns(shown)
    if any(mask is not None for mask in masks):
        every = np.ones(world.n_actions, np.bool_)
        extras["allowed"] = np.stack([every if mask is None else mask for mask in masks])
    return Trajectories(
        _joined(one.actions for one in played),
        codes if len(codes) else world.encode(seen),
        _joined(one.rewards for one in played),
        np.cumsum([0, *(len(one.actions) for one in played)]),
        n_actions=world.n_actions,
        n_observations=world.n_observations,
        behavior_probs=_joined(one.probs for one in played),
        terminated=[one.terminated for one in played],
        codebook=world.codebook,
        first_observations=None if shown is None else world.encode(shown),
        **extras,
    )


def _joined(lists: Iterable[list[Raw]]) -> list[Raw]:
    return [one for part in lists for one in part]
