"""What users type: options that several commands take, columns, worlds by name, files to write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uqf.files import check_folder, refuse_other_kind

if TYPE_CHECKING:
    from uqf.learn.learner import Learner
    from uqf.logs.columns import LogColumns
    from uqf.policies.policy import Policy
    from uqf.storage.policy_header import PolicyHeader
    from uqf.types import Record
    from uqf.worlds.world import World

#: Worth of a reward one step later, for every command, unless another is given.
DISCOUNT = 0.99

Seed = Annotated[int, typer.Option(help="The same seed gives the same figures on every machine.", min=0)]
Columns = Annotated[
    str | None,
    typer.Option(
        # Words of help that are wider than its column would be cut off.
        help="Columns with other names, such as reward=gain,episode=user or observation=temp+state, or a .toml file "
        "with [columns]; a file uqf.toml beside the log is read without being named.",
        metavar="ROLE=NAME,…",
    ),
]
Reward = Annotated[
    str | None, typer.Option(help="Column of the reward; --reward=-cost for a column of costs.")
]
Observed = Annotated[
    str | None,
    typer.Option(
        help="Whether the observation of a row came after its action or was seen before it; `uqf inspect` says "
        "which one the rows show.",
        metavar="after|before",
    ),
]
Share = Annotated[
    float | None,
    typer.Option(
        help="A cautious start: the policy decides this share of the steps, and the rest is done as in the log.",
        min=0.0,
        max=1.0,
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
    typer.Option(help="Cut numeric actions into so many cells; the policy does the median of a cell.", min=2),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Discount = Annotated[float, typer.Option(help="Worth of a reward one step later.", min=0.0, max=1.0)]
PolicyDiscount = Annotated[
    float | None,
    typer.Option(help="By default the one learned with, or that of the world.", min=0.0, max=1.0),
]

ReturnRange = Annotated[
    str | None,
    typer.Option(
        help="The least and the most that an episode can earn, such as --return-range=-400,40; without it, what "
        "a policy earns is known only on a condition.",
        metavar="LEAST,MOST",
    ),
]


def bounds_of(text: str | None) -> tuple[float, float] | None:
    """The two numbers of ``--return-range``."""
    if text is None:
        return None
    try:
        least, most = map(float, text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r}: give two numbers with a comma, such as -400,40", param_hint="--return-range"
        ) from None
    return least, most


def log_columns(
    text: str | None,
    action_bins: int | None = None,
    observed: str | None = None,
    reward: str | None = None,
) -> LogColumns:
    """The columns of ``role=name,…`` or of a .toml file; several columns of an observation are joined by +."""
    from uqf.logs.columns import ROLES, SEVERAL, LogColumns, columns_file

    more: Record = {"action_bins": action_bins, "observed": observed, "reward": reward}
    said = LogColumns(**{role: value for role, value in more.items() if value is not None})
    if text is not None and text.endswith(".toml"):
        return said.or_else(columns_file(Path(text)))
    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    for role, equals, _ in pairs:  # pandas leaves the name of its index empty
        if role not in ROLES or not equals:
            raise typer.BadParameter(
                f"{role!r}: give pairs such as reward=gain; the roles are {', '.join(ROLES)}"
            )
    given: Record = {
        role: name.split("+") if role in SEVERAL and "+" in name else name for role, _, name in pairs
    }
    return said.or_else(LogColumns(**given))


def remembered_columns(header: PolicyHeader) -> LogColumns:
    """The columns of the log that taught a policy, as its file has them."""
    from uqf.logs.columns import LogColumns

    known = header.settings.get("columns")
    return LogColumns.of(known) if isinstance(known, dict) else LogColumns()


def check_outputs(read: Path | None, **written: tuple[Path | None, str]) -> list[Path]:
    """The files to write, by option with the suffix of their kind; what cannot be is refused before anything is read.

    No file may be the one that is read, be written twice, or have the suffix of another kind.
    """
    taken, paths = {} if read is None else {read.resolve(): str(read)}, []
    for option, (path, suffix) in written.items():
        if path is None:
            continue
        try:
            refuse_other_kind(check_folder(path), suffix)
            if path.resolve() in taken:
                raise ValueError(f"{path} would be written over {taken[path.resolve()]}: give another name")
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint=f"--{option}") from None
        taken[path.resolve()] = f"--{option} {path}"
        paths.append(path)
    return paths


def world_names() -> list[str]:
    """For completion."""
    from uqf.worlds.named import environments

    return environments()


def named_world(name: str, policy: Path | None = None) -> World:
    """A world of the package, of a `.pomdp` file or of Gymnasium, the last with the codebook of a policy file.

    Gymnasium imports what stands before a colon: ``popgym:popgym-RepeatFirstEasy-v0``.
    """
    import uqf

    if name.endswith(".pomdp"):
        return uqf.load_pomdp(name)
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


def discount_of(header: PolicyHeader, given: float | None) -> float:
    """What was given, or the discount that a policy was learned with, or the default where its file has none."""
    if given is not None:
        return given
    return header.discount if "discount" in header.settings else DISCOUNT


def made_learner(name: str, discount: float, seed: int) -> Learner:
    """A learner of the package with its own defaults."""
    import uqf

    fresh: Learner = getattr(uqf, name)(discount=discount)
    return fresh.set_params(seed=seed) if "seed" in fresh.get_params() else fresh
