"""What all commands share at the terminal: progress, tables, refusals in words, and a clean end by Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uqf.cli.entry import ADVICE
from uqf.errors import FileFormatError, UQFError
from uqf.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


#: Stages of as many units or more show a percentage.
COUNTED = 10_000


@contextmanager
def progress_line(console: Console | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """A callback ``progress(stage, done, total)`` that shows one line on a terminal, and nothing elsewhere.

    The line has the stage, how much of it is done, and the time since it all began; it is gone when the block ends.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = console or Console(stderr=True)
    stage_column, share_column = (
        TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[share]}")
    )
    columns = (stage_column, BarColumn(20), share_column, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("beginning", total=None, share="")

        def show(stage: str, done: int, total: int) -> None:
            done = min(done, total)
            # Steps go into the millions; models and rounds are worth counting.
            share = f"{done / total:.0%}" if total >= COUNTED else f"{done}/{total}" if total else ""
            # Stages may hold names from files, which must not command the terminal.
            words = printable(stage)
            begins = words != bar.tasks[task].description
            bar.update(task, description=words, completed=done, total=total or None, share=share)
            if begins:
                bar.refresh()  # a stage that is over before the next frame is shown all the same

        yield show


def say(console: Console, line: str) -> None:
    """Prints a line that may hold names from files: as they stand, and unable to command the terminal."""
    console.print(printable(line), soft_wrap=True, markup=False, highlight=False)


@contextmanager
def stoppable(advice: str | Callable[[], str]) -> Iterator[None]:
    """Ctrl-C inside says how to go on; a function may first put away what there is."""
    ADVICE.append(printable(advice) if isinstance(advice, str) else lambda: printable(advice()))
    try:
        yield
    finally:
        ADVICE.pop()


def plain_table(title: str, *columns: str) -> Table:
    """A table whose first column is words, which may wrap, and whose others are figures, which are never cut."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(printable(title)), title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=index > 0)
    return table


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
        case OSError(filename=str(name), strerror=str(words)):
            return f"{name}: {words}"
        case MemoryError():
            return str(error) or "this needs more memory than there is"
        case OverflowError() | RecursionError():
            return f"{error} ({type(error).__name__})"
        case _:
            return str(error)


def explain(error: BaseException) -> None:
    """Prints why a command ends."""
    from rich.console import Console

    message = printable(f"uqf: {reason(error)}")
    Console(stderr=True).print(message, style="red", markup=False, highlight=False, soft_wrap=True)
