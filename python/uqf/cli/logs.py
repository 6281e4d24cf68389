"""What a log holds, and all that is wrong with it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import typer
from rich.console import Console

import uqf
from uqf.cli.contents import data_report
from uqf.cli.drift import movements, unseen_values
from uqf.cli.options import remembered_columns
from uqf.cli.tables import show
from uqf.cli.terminal import say
from uqf.logs.problems import CLEANED, LogProblem, once_cleaned
from uqf.logs.rows import Rows
from uqf.logs.source import Log
from uqf.logs.suspicions import order_in_words
from uqf.reading.parquet_shards import are_shards
from uqf.reading.shards import Data
from uqf.reports.facts import Facts
from uqf.storage.policy_header import PolicyHeader
from uqf.types import Raw, Record

#: Codes that are shown in words.
MAX_CODES_SHOWN = 30

#: Columns of no more different values are listed with counts.
MAX_VALUES_SHOWN = 20


def read_for(header: PolicyHeader, path: Path, columns: uqf.LogColumns, clean: bool) -> uqf.Trajectories:
    """A log in the codes of a policy; what is not said about its columns is as it was in the log that taught it."""
    given = (header.n_actions, header.n_observations, header.codebook)
    named = replace(columns.or_else(remembered_columns(header)), action_bins=None)
    return _read(Log(path, named, given, clean=clean))


def read_data(path: Path, columns: uqf.LogColumns, clean: bool, streamed: bool) -> tuple[Data, Log]:
    """A log to learn from: in memory, or, with `streamed` and where it is our own Parquet, a batch at a time."""
    if streamed and are_shards(path):
        return uqf.Shards(path), Log(sorted(path.glob("*.parquet"))[:1] if path.is_dir() else path)
    log = Log(str(path), columns, clean=clean)
    return _read(log), log


def facts_of(log: Log, data: Data, outcomes: list[str]) -> Facts:
    """What a report shows beside the episodes: what was mended, when, and outcomes, which are read as rewards are."""
    if not isinstance(data, uqf.Trajectories):
        if outcomes:
            raise typer.BadParameter("a log that is read a batch at a time has none", param_hint="--outcome")
        return Facts()
    given, values = (data.n_actions, data.n_observations, data.codebook), {}
    for name in outcomes:
        plain = replace(log.columns, reward=name, observation=None, action_bins=None)
        other = Log(log.name, plain, given, clean=log.clean).read()
        if other.n_steps != data.n_steps:
            raise typer.BadParameter(
                f"column {name!r} has no number in {data.n_steps - other.n_steps} steps",
                param_hint="--outcome",
            )
        values[name] = other.rewards
    problems = once_cleaned(log.problems) if log.clean else log.problems
    found = _once(problems + log.doubts)
    reward = log.columns.reward or ""
    cost = reward.removeprefix("-") if reward.startswith("-") else None
    return Facts.of(data, [*log.repairs, *map(str, found)], log.times, values, cost)


def _once(problems: list[LogProblem]) -> list[LogProblem]:
    """Those of the same kind in a column once: rows that were sorted have others first."""
    return list({(one.column, one.what): one for one in reversed(problems)}.values())[::-1]


def _read(log: Log) -> uqf.Trajectories:
    data = log.read()
    if log.repairs:
        say(Console(stderr=True), f"{log.name}: cleaned, with {'; '.join(log.repairs)}")
    for doubt in log.doubts:
        say(Console(stderr=True), f"{log.name}: {doubt}")
    return data


def inspect_log(
    path: Path,
    columns: uqf.LogColumns,
    clean: bool,
    discount: float,
    as_json: bool,
    against: Path | None = None,
) -> None:
    """Shows what a log holds and all that is wrong with it; ends with code 1 if that keeps it from being read."""
    header = None if against is None else uqf.inspect_policy(against)
    given = (
        (None, None, None) if header is None else (header.n_actions, header.n_observations, header.codebook)
    )
    if header is not None:
        columns = replace(columns.or_else(remembered_columns(header)), action_bins=None)
    log = Log(str(path), columns, given, clean=clean)
    problems = log.problems
    severe = [one for one in problems if one.severe]
    stopped = bool(severe) and not clean
    report: Record = {}
    unseen = [] if header is None or stopped else unseen_values(log, header.codebook)
    if not stopped and not any(one.startswith("action") for one in unseen):
        data = log.read()
        report["log"] = data_report(data, discount)
        if log.evidence is not None:
            report["log"]["observed"] = order_in_words(log.evidence)
        report |= _codes(data)
        if header is not None:
            report["moved"] = unseen + movements(header, data)
    elif unseen:
        report["moved"] = unseen
    report |= {
        f"values of {name}": counts
        for name, counts in small_columns(log.rows if stopped else log.prepared).items()
    }
    if log.repairs:
        report["cleaned"] = log.repairs
    others = [one for one in _once(problems + log.doubts) if not one.severe]
    if clean:  # spellings are merged, and no longer to be looked at
        severe += [one for one in others if one.remedy.startswith(CLEANED)]
        others = [one for one in others if one not in severe]
    if as_json:
        report["problems"] = [asdict(one) for one in severe + others]
    else:
        if severe:
            report["mended" if clean else "stops"] = list(map(str, severe))
        if others:
            report["look"] = list(map(str, others))
    show(report, as_json)
    if stopped:
        raise typer.Exit(1)


def _codes(data: uqf.Trajectories) -> Record:
    """What codes stand for, where that is not plain."""
    book, shown = data.codebook, Record()
    if book is not None and book.action_bins is not None:
        shown["actions"] = {str(code): book.describe_action(code) for code in range(data.n_actions)}
    if book is not None and book.columns_ and not book.observation_names:
        codes = range(min(data.n_observations, MAX_CODES_SHOWN))
        shown["codes"] = {str(code): book.describe(code) for code in codes}
    return shown


def small_columns(rows: Rows) -> Record:
    """By column of actions and observations with few different values, how often each occurs, the commonest first."""
    counts: Record = {}
    for name in dict.fromkeys((rows.layout.names["action"], *rows.layout.observation)):
        listed = rows.values(name, may_miss=True).value_counts()
        if len(listed) <= MAX_VALUES_SHOWN:
            pairs = [(one["counts"].as_py(), _shown(one["values"].as_py())) for one in listed]
            counts[name] = {
                value: count for count, value in sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
            }
    return counts


def _shown(value: Raw) -> str:
    """A value for people, who do not see the spaces around it."""
    text = "(missing)" if value is None else str(value)
    return text if text == text.strip() else repr(text)
