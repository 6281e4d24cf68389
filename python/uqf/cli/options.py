"""What users type: options that several commands take, columns, worlds by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

import uqf
from uqf.coding.action_bins import MAX_BINS
from uqf.logs.columns import ROLES, SEVERAL
from uqf.policies.policy import Policy
from uqf.types import Record
from uqf.worlds.pomdp_file import load_pomdp
from uqf.worlds.world import World

Seed = Annotated[int, typer.Option(help="The same seed gives the same figures on every machine.", min=0)]
Columns = Annotated[
    str | None,
    typer.Option(
        # Words of help that are wider than its column would be cut off.
        help="Columns with other names, such as reward=gain,episode=user or observation=temp+state.",
        metavar="ROLE=NAME,…",
    ),
]
Clean = Annotated[
    bool,
    typer.Option(
        "--clean", help="Repair what `uqf inspect LOG` lists: decimal commas, yes and no, gaps, duplicates, …"
    ),
]
ActionBins = Annotated[
    int | None,
    typer.Option(
        help="Cut numeric actions into so many cells; the policy does the median of a cell.",
        min=2,
        max=MAX_BINS,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Discount = Annotated[float, typer.Option(help="Worth of a reward one step later.", min=0.0, max=1.0)]


def log_columns(text: str | None, action_bins: int | None = None) -> uqf.LogColumns:
    """The columns of ``role=name,…``; several columns of an observation are joined by +."""
    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    for role, _, name in pairs:
        if role not in ROLES or not name:
            raise typer.BadParameter(
                f"{role!r}: give pairs such as reward=gain; the roles are {', '.join(ROLES)}"
            )
    given: Record = {
        role: name.split("+") if role in SEVERAL and "+" in name else name for role, _, name in pairs
    }
    return uqf.LogColumns(**given, action_bins=action_bins)


def named_world(name: str, policy: Path | None = None) -> World:
    """A world of the package, of a `.pomdp` file or of Gymnasium, the last with the codebook of a policy file.

    Gymnasium imports what stands before a colon: ``popgym:popgym-RepeatFirstEasy-v0``.
    """
    if name.endswith(".pomdp"):
        return load_pomdp(name)
    if name in uqf.environments() or not re.search(r"-v\d+$", name):
        return uqf.make(name)
    codebook = None if policy is None else uqf.inspect_policy(policy).codebook
    try:
        return uqf.GymnasiumWorld(name, codebook=codebook)
    except TypeError as error:  # its spaces are of another kind
        raise ValueError(f"{name}: {error}") from None


def fitting(policy: Policy | None, world: World) -> Policy | None:
    """The policy, if it has as many actions and observations as the world."""
    for name in ("n_actions", "n_observations"):
        if getattr(policy, name) != getattr(world, name):
            raise ValueError(
                f"the policy has {name} = {getattr(policy, name)}, but {world.name} has {getattr(world, name)}"
            )
    return policy
