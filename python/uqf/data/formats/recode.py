"""Codes of one vocabulary as codes of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.data.trajectories import Trajectories
from uqf.data.vocabulary import Vocabulary
from uqf.errors import FileFormatError


def recoded(
    data: Trajectories,
    written: Vocabulary | None,
    n_actions: int | None,
    n_observations: int | None,
    vocabulary: Vocabulary | None,
) -> Trajectories:
    """Episodes whose codes mean the names of `written`, in the codes of `vocabulary` and with the sizes asked for.

    An observation that `vocabulary` does not know becomes its last code; such an action is refused.
    """
    old, new = written or Vocabulary(), vocabulary or written or Vocabulary()
    actions, observations, first = data.actions, data.observations, data.first_observations
    if new != old:
        for role in ("actions", "observations"):
            if (getattr(old, role) is None) != (getattr(new, role) is None):
                kinds = ["numbers" if getattr(one, role) is None else "names" for one in (old, new)]
                raise FileFormatError(
                    f"the {role} of the log are {kinds[0]}, those of the vocabulary {kinds[1]}"
                )
        if old.actions is not None:
            actions = _translated(actions, [new.encode_action(name) for name in old.actions])
        if old.observations is not None and new.n_observations is not None:
            codes = [new.encode_observation(name) for name in old.observations]
            table = [*codes, new.n_observations - 1]
            observations = _translated(observations, table)
            first = None if first is None else _translated(first, table)
    return Trajectories(
        actions,
        observations,
        data.rewards,
        data.offsets,
        n_actions=new.n_actions or n_actions or data.n_actions,
        n_observations=new.n_observations or n_observations or data.n_observations,
        behavior_probs=data.behavior_probs,
        terminated=data.terminated,
        vocabulary=None if new == Vocabulary() else new,
        first_observations=first,
    )


def _translated(codes: NDArray[np.int32], table: list[int]) -> NDArray[np.int32]:
    return np.asarray(table, np.int32)[codes]
