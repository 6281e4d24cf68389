"""Logs on the command line: which columns, what is wrong with them, and reading them."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import typer

import uqf
from uqf.cli.summary import data_report
from uqf.cli.tables import show

#: Codes that are shown in words.
MAX_CODES_SHOWN = 30

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


def inspect_log(path: Path, columns: uqf.LogColumns, clean: bool, discount: float, as_json: bool) -> None:
    """Shows what a log holds and all that is wrong with it; ends with code 1 if that keeps it from being read."""
    problems = uqf.log_problems(path, columns=columns)
    severe, others = [one for one in problems if one.severe], [one for one in problems if not one.severe]
    stopped = bool(severe) and not clean
    report: dict[str, Any] = {}
    if not stopped:
        data = uqf.read_log(path, columns=columns, clean=clean)
        report["log"] = data_report(data, discount)
        book = data.codebook
        if book is not None and book.columns_ and not book.observation_names:
            shown = range(min(data.n_observations, MAX_CODES_SHOWN))
            report["codes"] = {str(code): book.describe(code) for code in shown}
    if as_json:
        report["problems"] = [asdict(one) for one in problems]
    else:
        if severe:
            report["mended" if clean else "stops"] = list(map(str, severe))
        if others:
            report["look"] = list(map(str, others))
    show(report, as_json)
    if stopped:
        raise typer.Exit(1)
