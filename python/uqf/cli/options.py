"""Options that several commands take."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

import typer

import uqf

Seed = Annotated[int, typer.Option(help="The same seed gives the same figures on every machine.", min=0)]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns with other names, such as 'reward=gain,episode=user,observation=temp+state,time=ts'.",
        metavar="ROLE=NAME,…",
    ),
]
Clean = Annotated[
    bool,
    typer.Option(help="Repair what `uqf inspect LOG` lists: decimal commas, yes and no, gaps, duplicates, …"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Discount = Annotated[float, typer.Option(help="Worth of a reward one step later.", min=0.0, max=1.0)]


def log_columns(text: str | None) -> uqf.LogColumns:
    """The columns of ``role=name,…``; several columns of an observation are joined by +."""
    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    roles = [field.name for field in fields(uqf.LogColumns)]
    for role, _, name in pairs:
        if role not in roles or not name:
            raise typer.BadParameter(
                f"{role!r}: give pairs such as reward=gain; the roles are {', '.join(roles)}"
            )
    several = ("observation", "first_observation")
    given: dict[str, Any] = {
        role: name.split("+") if role in several and "+" in name else name for role, _, name in pairs
    }
    return uqf.LogColumns(**given)
