"""``uqf demo`` and ``uqf reproduce``: the paper's experiments from the command line."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uqf.cli.terminal import plain_table, progress_line, say, stoppable

if TYPE_CHECKING:
    from rich.console import Console

    from uqf.paper.cells import Cell, Row, Store
    from uqf.paper.gridworld import GridWorld
    from uqf.paper.spocman import SPocMan
    from uqf.types import Record


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
    methods = {cell.method for cell in _experiment(name, chosen).cells()} if only else set()
    for method in only or ():
        if method not in methods:
            raise typer.BadParameter(
                f"{method!r} is not one of {', '.join(sorted(methods))}", param_hint="--only"
            )
    command = " ".join([f"uqf reproduce {name}", *(f"--only {method}" for method in only or ())])
    _run([name], chosen, out, as_json, command, only)


def _run(
    names: list[Name],
    size: SizeName,
    out: Path,
    as_json: bool,
    command: str,
    only: list[str] | None = None,
) -> None:
    from rich.console import Console

    console = Console(stderr=as_json)
    with progress_line(console):
        from uqf.paper.cells import Store, code
        from uqf.paper.report import write_report
    tables: Record = {}
    again = f"{command} --size {size} --out {out}"
    with stoppable(f"Finished cells are kept; to go on where this stopped:\n  {again}"):
        for name in names:
            experiment, store = _experiment(name, size), Store(out, name)
            cells = experiment.cells()
            missing = [cell for cell in store.missing(cells) if not only or cell.method in only]
            workers = 1 if size is SizeName.smallest else os.cpu_count() or 1
            _finish(store, missing, experiment, console, workers)
            rows = store.finished(cells)
            ran = len(missing)
            console.print(f"{name}: {len(rows)} cells, {ran} run now, {len(rows) - ran} found finished")
            older = sum(row.origin.get("code") != code() for row in rows)
            if older:
                say(
                    console, f"{older} of them were made by other code; remove {store.path} to run them again"
                )
            tables[name] = (_gridworld if name is Name.gridworld else _spocman)(rows, console)
        report = write_report(out, size)
    say(console, f"Report: {report}")
    if as_json:
        typer.echo(json.dumps(tables | {"report": str(report)}))


def _experiment(name: Name, size: SizeName) -> GridWorld | SPocMan:
    from uqf.paper.gridworld import GridWorld
    from uqf.paper.spocman import SPocMan

    return GridWorld(size) if name is Name.gridworld else SPocMan(size)


def _finish(
    store: Store, missing: list[Cell], experiment: GridWorld | SPocMan, console: Console, workers: int
) -> None:
    """Runs the cells, with a line that says which one was the last."""
    with progress_line(console) as progress:
        finished = 0

        def show(cell: Cell) -> None:
            nonlocal finished
            finished += 1
            size = f", {cell.setting['episodes']:,} episodes" if "episodes" in cell.setting else ""
            stage = f"{cell.method} on {cell.setting['world']}{size}, seed {cell.seed}"
            progress(stage, finished, len(missing))

        progress("the first cells", 0, len(missing))
        store.run(missing, experiment.work, show, workers)


def _seeds(rows: list[Row], labels: dict[str, str]) -> str:
    """How many seeds each learner saw, those that saw most together."""
    seen: dict[str, set[int]] = {}
    for row in rows:
        if "learner" in row.cell.setting:
            seen.setdefault(labels[row.cell.method], set()).add(row.cell.seed)
    most = max(map(len, seen.values()), default=0)
    fewer = {len(seeds) for seeds in seen.values()} - {most}
    parts = [f"{most} seeds"]
    for count in sorted(fewer):
        parts.append(
            f"{count} for {' · '.join(label for label, seeds in seen.items() if len(seeds) == count)}"
        )
    return f"Means ± standard errors over {', '.join(parts)}. Seconds are CPU seconds of the last fit."


def _gridworld(rows: list[Row], console: Console) -> list[Record]:
    from uqf.paper.gridworld import LABELS, STARTS
    from uqf.paper.gridworld_report import curves, table_lines, table_sizes

    seconds = curves(rows, "", "seconds")
    lines: list[Record] = []
    for episodes in table_sizes(rows):
        title = f"Grid world: return after {episodes:,} episodes"
        table = plain_table(title, "method", *STARTS, "CPU s")
        for method, places in table_lines(rows, episodes).items():
            duration = next((value for n, value, _ in seconds.get(method, []) if n == episodes), None)
            shown = (f"{mean:.3f} ± {error:.3f}" for mean, error in places.values())
            table.add_row(LABELS[method], *shown, "" if duration is None else f"{duration:.2g}")
            figures = {start: {"return": mean, "stderr": error} for start, (mean, error) in places.items()}
            lines.append({"method": LABELS[method], "episodes": episodes, "seconds": duration, **figures})
        console.print(table)
    say(console, _seeds(rows, LABELS))
    return lines


def _spocman(rows: list[Row], console: Console) -> Record:
    from uqf.paper.spocman_report import longest_fitted_q, summary, time_ratios

    lines = summary(rows)
    table = plain_table("S-PocMan", "method", "return", "seeds", "CPU s", "paper", "paper: s")
    for line in lines:
        figures = {"seconds": ".2g", "paper_return": "g", "paper_seconds": "g"}
        shown = ("" if line[name] is None else f"{line[name]:{kind}}" for name, kind in figures.items())
        score = f"{line['return']:.1f} ± {line['stderr']:.1f}".replace("-", "−")
        table.add_row(line["label"], score, str(line["seeds"]), *shown)
    console.print(table)
    ratios, rival = time_ratios(lines), longest_fitted_q(lines)
    for label, ratio in ratios.items():
        say(console, f"{rival and rival['label']} trains {ratio:,.0f} times as long as {label}")
    say(console, "Seconds and ratios are of CPU time. The paper, with 400 rounds: 245 times.")
    return {"rows": lines, "time_ratios": ratios}
