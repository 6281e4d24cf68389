"""``uqf demo``, ``uqf reproduce`` and ``uqf worlds``: experiments from the command line."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from uqf.cli.terminal import plain_table, progress_bar, stoppable, tell
from uqf.paper import gridworld
from uqf.paper.cells import Cell, Row, Store, code
from uqf.paper.gridworld import GridWorld
from uqf.paper.gridworld_report import curves, table_lines, table_sizes
from uqf.paper.report import write_report
from uqf.paper.spocman import SPocMan
from uqf.paper.spocman_report import longest_fitted_q, summary, time_ratios
from uqf.types import Record

if TYPE_CHECKING:
    from uqf.paper.worlds import Result


class Name(StrEnum):
    """Experiments of the paper."""

    gridworld = "gridworld"
    spocman = "spocman"


class SizeName(StrEnum):
    """How much of an experiment to run."""

    smallest = "smallest"
    demo = "demo"
    full = "full"


Out = Annotated[Path, typer.Option(help="Folder of finished cells and of the report.")]
SizeOption = Annotated[
    SizeName, typer.Option("--size", help="smallest: seconds; demo: minutes; full: hours.")
]
Only = Annotated[
    list[str] | None,
    typer.Option(help="Run the cells of this method only, such as spectral-q; may be given several times."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the tables as JSON and nothing else.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command()(demo)
    app.command()(reproduce)
    app.command()(worlds)


def demo(size: SizeOption = SizeName.demo, out: Out = Path("results"), as_json: Json = False) -> None:
    """Reproduces a small version of both experiments of the paper and writes a report.

    What is finished is kept: a second run only prints, and an interrupted one goes on where it stopped.
    """
    _run([Name.gridworld, Name.spocman], size, out, as_json, "uqf demo")


def reproduce(
    name: Annotated[Name, typer.Argument(help="gridworld: the paper's figure; spocman: the paper's table.")],
    size: SizeOption = SizeName.demo,
    full: Annotated[
        bool, typer.Option("--full", help="The complete experiment, short for --size full.")
    ] = False,
    only: Only = None,
    out: Out = Path("results"),
    as_json: Json = False,
) -> None:
    """Reproduces an experiment of the paper and writes a report.

    With --only, tables and report still show whatever is finished.
    """
    chosen = SizeName.full if full else size
    methods = {cell.method for cell in _experiment(name, chosen).cells()}
    for method in only or ():
        if method not in methods:
            raise typer.BadParameter(
                f"{method!r} is not one of {', '.join(sorted(methods))}", param_hint="--only"
            )
    command = " ".join([f"uqf reproduce {name}", *(f"--only {method}" for method in only or ())])
    _run([name], chosen, out, as_json, command, only)


def worlds(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder of .pomdp files; without it the small worlds of Gymnasium.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Random logs of each world.")] = 3,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first log.")] = 0,
    only: Annotated[list[str] | None, typer.Option(help="Only worlds whose name contains this.")] = None,
    online: Annotated[bool, typer.Option("--online", help="Policy iteration beside, in Gymnasium.")] = False,
    rivals: Annotated[
        bool,
        typer.Option(
            "--rivals",
            help="Deep learners of others beside, in Gymnasium: pip install 'uqf[rivals]'. RecurrentPPO with --online.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Learns worlds that others wrote from random logs, beside the tables that people would pick instead."""
    from uqf.paper.worlds import Result, contest, places

    console, results = Console(stderr=as_json), list[Result]()
    with stoppable(console, "Nothing is kept; give fewer seeds for a first look."):
        known = places(folder)
        chosen = [one for one in known if not only or any(part in one.name for part in only)]
        if not chosen:
            asked, names = " or ".join(map(repr, only or [])), "; ".join(one.name for one in known)
            raise typer.BadParameter(f"no world has {asked} in its name: {names}", param_hint="--only")
        for place in chosen:
            found = list(contest(place, range(first_seed, first_seed + seeds), online, rivals))
            results += found
            _world_table(place.name, found, console)
    if as_json:
        typer.echo(json.dumps([asdict(result) for result in results]))


def _world_table(name: str, results: list[Result], console: Console) -> None:
    from uqf.paper.worlds import summary

    table = plain_table(name, "method", "return", "± s.e.", "CPU seconds")
    for method, (mean, error, seconds) in summary(results)[name].items():
        table.add_row(method, f"{mean:.3g}", f"{error:.2g}", f"{seconds:.2g}")
    console.print(table)
    chosen = Counter(result.learner for result in results if result.learner)
    console.print(
        "uqf.fit took " + ", ".join(f"{learner} ({count})" for learner, count in chosen.most_common())
    )


def _run(
    names: list[Name],
    size: SizeName,
    out: Path,
    as_json: bool,
    command: str,
    only: list[str] | None = None,
) -> None:
    console = Console(stderr=as_json)
    tables: Record = {}
    again = f"{command} --size {size} --out {out}"
    with stoppable(console, f"Finished cells are kept; to go on where this stopped:\n  {again}"):
        for name in names:
            rows, ran = _finish(name, size, out, console, only)
            console.print(f"{name}: {len(rows)} cells, {ran} run now, {len(rows) - ran} found finished")
            older = sum(row.origin.get("code") != code() for row in rows)
            if older:
                path = Store(out, name).path
                tell(console, f"{older} of them were made by other code; remove {path} to run them again")
            tables[name] = (_gridworld if name is Name.gridworld else _spocman)(rows, console)
        report = write_report(out, size)
    tell(console, f"Report: {report}")
    if as_json:
        typer.echo(json.dumps(tables | {"report": str(report)}))


def _experiment(name: Name, size: SizeName) -> GridWorld | SPocMan:
    return GridWorld(size) if name is Name.gridworld else SPocMan(size)


def _finish(
    name: Name, size: SizeName, out: Path, console: Console, only: list[str] | None
) -> tuple[list[Row], int]:
    """All finished rows of an experiment, after running those that were missing; how many these were."""
    experiment = _experiment(name, size)
    cells, store = experiment.cells(), Store(out, name)
    with progress_bar(console) as bar:
        missing = [cell for cell in store.missing(cells) if not only or cell.method in only]
        task = bar.add_task(str(name), total=len(missing), note="")

        def progress(cell: Cell, done: bool) -> None:
            if done:
                bar.advance(task)
            else:
                episodes = f", {cell.setting['episodes']:,} episodes" if "episodes" in cell.setting else ""
                bar.update(task, note=f"{cell.method} on {cell.setting['world']}{episodes}, seed {cell.seed}")

        ran = store.run(missing, experiment.work, progress)
    store.write_csv()
    return store.finished(cells), ran


def _gridworld(rows: list[Row], console: Console) -> list[Record]:
    seconds = curves(rows, "", "seconds")
    lines: list[Record] = []
    for episodes in table_sizes(rows):
        title = f"Grid world: return after {episodes:,} episodes"
        table = plain_table(title, "method", *gridworld.STARTS, "seconds")
        for method, places in table_lines(rows, episodes).items():
            duration = next((value for n, value, _ in seconds.get(method, []) if n == episodes), None)
            shown = (f"{mean:.2f} ± {error:.2f}" for mean, error in places.values())
            table.add_row(gridworld.LABELS[method], *shown, "" if duration is None else f"{duration:.3g}")
            figures = {start: {"return": mean, "stderr": error} for start, (mean, error) in places.items()}
            lines.append(
                {"method": gridworld.LABELS[method], "episodes": episodes, "seconds": duration, **figures}
            )
        console.print(table)
    return lines


def _spocman(rows: list[Row], console: Console) -> Record:
    lines = summary(rows)
    table = plain_table("S-PocMan", "method", "return", "± s.e.", "seconds", "paper", "paper: s")
    for line in lines:
        figures = (line["seconds"], line["paper_return"], line["paper_seconds"])
        shown = ("" if figure is None else f"{figure:.3g}" for figure in figures)
        table.add_row(line["label"], f"{line['return']:.1f}", f"{line['stderr']:.1f}", *shown)
    console.print(table)
    ratios, cpu_ratios = time_ratios(lines), time_ratios(lines, "cpu_seconds")
    rival = longest_fitted_q(lines)
    for label, ratio in ratios.items():
        cpu = f" ({cpu_ratios[label]:,.1f} times the CPU time)" if label in cpu_ratios else ""
        console.print(
            f"{rival and rival['label']} trains {ratio:,.1f} times as long as {label}{cpu}", soft_wrap=True
        )
    console.print("The paper, with 400 rounds: 245 times")
    return {"rows": lines, "time_ratios": ratios, "cpu_time_ratios": cpu_ratios}
