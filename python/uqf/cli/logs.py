"""What a log holds, and all that is wrong with it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import typer
from rich.console import Console

import uqf
from uqf.cli.options import log_columns
from uqf.cli.summary import data_report
from uqf.cli.tables import show
from uqf.cli.terminal import say
from uqf.logs.source import Log
from uqf.reading.shards import Data
from uqf.reports.facts import Facts
from uqf.storage.policy_header import PolicyHeader
from uqf.types import Record

#: Codes that are shown in words.
MAX_CODES_SHOWN = 30


def read_for(header: PolicyHeader, path: Path, columns: str | None, clean: bool) -> uqf.Trajectories:
    """A log in the codes of a policy."""
    given = (header.n_actions, header.n_observations, header.codebook)
    return _read(Log(path, log_columns(columns), given), clean)


def read_data(path: Path, columns: uqf.LogColumns, clean: bool, streamed: bool) -> Data:
    """A log to learn from: in memory, or, with `streamed` and where it is our own Parquet, a batch at a time."""
    log = Log(path, columns)
    return uqf.Shards(path) if streamed and log.written is not None else _read(log, clean)


def facts_of(path: Path, columns: uqf.LogColumns, clean: bool, data: Data, outcomes: list[str]) -> Facts:
    """What a report shows beside the episodes: what was mended, and outcomes, which are read as rewards are."""
    if not isinstance(data, uqf.Trajectories):
        if outcomes:
            raise typer.BadParameter("a log that is read a batch at a time has none", param_hint="--outcome")
        return Facts()
    log, given = Log(path, columns), (data.n_actions, data.n_observations, data.codebook)
    if clean:
        log.read(clean=True)
    values = {}
    for name in outcomes:
        plain = replace(columns, reward=name, observation=None, action_bins=None)
        other = Log(path, plain, given).read(clean=clean)
        if other.n_steps != data.n_steps:
            raise typer.BadParameter(
                f"column {name!r} has no number in {data.n_steps - other.n_steps} steps",
                param_hint="--outcome",
            )
        values[name] = other.rewards
    found = [] if clean else [str(one) for one in log.problems]
    return Facts.of(data, [*log.repairs, *found], outcomes=values)


def _read(log: Log, clean: bool) -> uqf.Trajectories:
    data = log.read(clean=clean)
    if log.repairs:
        say(Console(stderr=True), f"{log.path}: cleaned, with {'; '.join(log.repairs)}")
    return data


def inspect_log(path: Path, columns: uqf.LogColumns, clean: bool, discount: float, as_json: bool) -> None:
    """Shows what a log holds and all that is wrong with it; ends with code 1 if that keeps it from being read."""
    log = Log(path, columns)
    problems = log.problems
    severe, others = [one for one in problems if one.severe], [one for one in problems if not one.severe]
    stopped = bool(severe) and not clean
    report: Record = {}
    if not stopped:
        data = log.read(clean=clean)
        report["log"] = data_report(data, discount)
        book = data.codebook
        if book is not None and book.action_bins is not None:
            report["actions"] = {str(code): book.describe_action(code) for code in range(data.n_actions)}
        if book is not None and book.columns_ and not book.observation_names:
            shown = range(min(data.n_observations, MAX_CODES_SHOWN))
            report["codes"] = {str(code): book.describe(code) for code in shown}
    if log.repairs:
        report["cleaned"] = log.repairs
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
