"""What files and data can provoke, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from uqf.errors import FileFormatError, UQFError
from uqf.printable import printable

#: Ends a command with a message. Anything else is a bug of this package and is shown as one.
REFUSALS = (UQFError, OSError, ValueError, ImportError, MemoryError, OverflowError, RecursionError)


@contextmanager
def about(*files: Any) -> Iterator[None]:
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
