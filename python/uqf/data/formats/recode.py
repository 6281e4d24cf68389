"""Codes of one codebook as codes of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.data.cells import Cells
from uqf.data.codebook import Codebook
from uqf.data.trajectories import Trajectories
from uqf.errors import FileFormatError


def recoded(
    data: Trajectories,
    written: Codebook | None,
    n_actions: int | None,
    n_observations: int | None,
    codebook: Codebook | None,
) -> Trajectories:
    """Episodes whose codes mean the names of `written`, in the codes of `codebook` and with the sizes asked for.

    An observation that `codebook` does not know becomes its last code; such an action is refused.
    """
    old, new = written or Codebook.named(), codebook or written or Codebook.named()
    actions, observations, first = data.actions, data.observations, data.first_observations
    if isinstance(new.coding_, Cells) != isinstance(old.coding_, Cells) or (
        isinstance(old.coding_, Cells) and new.coding_ != old.coding_
    ):
        raise FileFormatError(
            "the observations of this file have the codes of another codebook, and what they were is not in it; give "
            "the log that it was made from"
        )
    if new != old:
        for role in ("action_names", "observation_names"):
            if (getattr(old, role) is None) != (getattr(new, role) is None):
                kinds = ["numbers" if getattr(one, role) is None else "names" for one in (old, new)]
                raise FileFormatError(
                    f"the {role.split('_')[0]}s of the log are {kinds[0]}, those of the codebook {kinds[1]}"
                )
        if old.action_names is not None:
            actions = _translated(actions, [new.encode_action(name) for name in old.action_names])
        if old.observation_names is not None and new.n_codes is not None:
            codes = [new.encode_one(name) for name in old.observation_names]
            table = [*codes, new.n_codes - 1]
            observations = _translated(observations, table)
            first = None if first is None else _translated(first, table)
    return Trajectories(
        actions,
        observations,
        data.rewards,
        data.offsets,
        n_actions=new.n_actions or n_actions or data.n_actions,
        n_observations=new.n_codes or n_observations or data.n_observations,
        behavior_probs=data.behavior_probs,
        terminated=data.terminated,
        codebook=None if new == Codebook.named() else new,
        first_observations=first,
    )


def _translated(codes: NDArray[np.int32], table: list[int]) -> NDArray[np.int32]:
    return np.asarray(table, np.int32)[codes]
