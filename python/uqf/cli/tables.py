"""Reports as tables in the terminal, or as JSON."""

from __future__ import annotations

import json

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from uqf.page.parts import figure
from uqf.printable import printable
from uqf.types import Record

#: Headings of the parts of a report.
TITLES = {
    "data": "What the data look like",
    "chosen": "What was chosen",
    "candidates": "Who was compared",
    "against": "The policy against the log",
    "expect": "What to expect",
    "worry": "What to worry about",
    "actions": "What the codes of actions stand for, and what is done",
    "codes": "What the codes of observations mean",
    "moved": "What has moved since the log that the policy learned from",
    "stops": "What stops reading (rows count from 0, without the header)",
    "mended": "What was mended",
    "cleaned": "What was left out, cut or merged",
    "look": "What to look at",
    "written": "What was written",
}


def show(report: Record, as_json: bool) -> None:
    """Prints nested figures: a table per part, a list per list, a verdict in full."""
    if as_json:
        typer.echo(json.dumps(report, indent=2))
        return
    console = Console()
    for title, part in report.items():
        heading = TITLES.get(title, title)
        if isinstance(part, list):
            console.print(printable(heading), style="italic", highlight=False, markup=False)
            lines = Table.grid(padding=(0, 1))
            lines.add_column()
            lines.add_column(overflow="fold")  # a path may be longer than a line
            for line in part or ["nothing in particular"]:
                lines.add_row("  -", Text(printable(line)))
            console.print(lines)
            console.print()
        else:
            _show_part(console, heading, part)


def _show_part(console: Console, title: str, part: Record) -> None:
    """A table of the figures, the verdict if there is one, then the parts within."""
    # Everything as it stands: names from a file may look like markup, or command the terminal.
    table = Table(box=box.SIMPLE_HEAD, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in part.items():
        if not isinstance(value, dict) and name != "verdict" and value not in (None, [], ()):
            table.add_row(*(Text(printable(text)) for text in (name.replace("_", " "), _shown(value))))
    console.print(printable(title), style="italic", highlight=False, markup=False)
    console.print(table)
    if "verdict" in part:
        console.print(printable(f"{part['verdict']}\n"), highlight=False, markup=False)
    for name, value in part.items():
        if isinstance(value, dict) and value:
            _show_part(console, f"{title}: {name}", value)


def _shown(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return figure(value, digits=4)
        case int():
            return f"{value:,}"
        case list() | tuple():
            return ", ".join(map(_shown, value))
        case _:
            return str(value)
