"""What all commands share at the terminal: progress, tables, refusals in words, and a clean end by Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from uqf.cli.entry import INTERRUPTED
from uqf.errors import FileFormatError, UQFError
from uqf.printable import printable
from uqf.reading.progress import Callback


class Words(TextColumn):
    """A column of words that may hold names from files."""

    def __init__(self, text_format: str) -> None:
        super().__init__(text_format, markup=False)

    def render(self, task: Task) -> Text:
        """The words, unable to command the terminal."""
        words = super().render(task)
        words.plain = printable(words.plain)
        return words


def progress_bar(console: Console) -> Progress:
    """A bar with the time left, gone when it is done; nothing at all where `console` is no terminal."""
    columns = (
        Words("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        Words("{task.fields[note]}"),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def stages(console: Console) -> Progress:
    """For work whose parts cannot be counted: what is being done, and for how long already."""
    columns = (SpinnerColumn(), Words("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def tell(console: Console, line: str) -> None:
    """Prints a line that may hold names from files: as they stand, and unable to command the terminal."""
    console.print(printable(line), soft_wrap=True, markup=False, highlight=False)


@contextmanager
def stoppable(console: Console, advice: str) -> Iterator[None]:
    """Ctrl-C inside ends the program with code 130 and says how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        tell(console, f"\nStopped. {advice}")
        raise typer.Exit(INTERRUPTED) from None


def plain_table(title: str, *columns: str) -> Table:
    """A table whose first column is words, which may wrap, and whose others are figures, which are never cut."""
    table = Table(title=Text(printable(title)), title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=index > 0)
    return table


@contextmanager
def fit_progress() -> Iterator[Callback]:
    """A callback that shows on a terminal what a fit is doing and how long the stage will go on."""
    columns = (Words("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("")

        def show(stage: str, done: int, total: int) -> None:
            if done == 0:
                bar.reset(task, total=total)
            bar.update(task, description=stage, completed=done, total=total)

        yield show


#: Ends a command with a message. Anything else is a bug of this package and is shown as one.
REFUSALS = (UQFError, OSError, ValueError, ImportError, MemoryError, OverflowError, RecursionError)


@contextmanager
def about(*files: object) -> Iterator[None]:
    """Whatever is refused inside is refused with the names of these files."""
    try:
        yield
    except REFUSALS as error:
        names = list(map(str, files))
        if isinstance(error, (OSError, ImportError)) or any(name in str(error) for name in names):
            raise
        raise FileFormatError(f"{', '.join(names)}: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """What is wrong, in words."""
    match error:
        case MemoryError():
            return str(error) or "this needs more memory than there is"
        case OverflowError() | RecursionError():
            return f"{error} ({type(error).__name__})"
        case _:
            return str(error)


def explain(error: BaseException) -> None:
    """Prints why a command ends."""
    message = printable(f"uqf: {reason(error)}")
    Console(stderr=True).print(message, style="red", markup=False, highlight=False, soft_wrap=True)
