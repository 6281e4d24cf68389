"""Worlds by the name that a user types."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import uqf
from uqf.worlds.pomdp_file import load_pomdp
from uqf.worlds.world import World


def named_world(name: str, policy: Path | None = None) -> Any:
    """A world of the package, of a `.pomdp` file or of Gymnasium, the last with the codebook of a policy file.

    Gymnasium imports what stands before a colon: ``popgym:popgym-RepeatFirstEasy-v0``.
    """
    if name.endswith(".pomdp"):
        return load_pomdp(name)
    if name in uqf.environments() or not re.search(r"-v\d+$", name):
        return uqf.make(name)
    return uqf.GymnasiumWorld(name, codebook=None if policy is None else uqf.inspect_policy(policy).codebook)


def fitting(policy: Any, world: World) -> Any:
    """The policy, if it has as many actions and observations as the world."""
    for name in ("n_actions", "n_observations"):
        if getattr(policy, name) != getattr(world, name):
            raise ValueError(
                f"the policy has {name} = {getattr(policy, name)}, but {world.name} has {getattr(world, name)}"
            )
    return policy
