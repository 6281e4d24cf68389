"""What reports share: parts that are computed one after the other, and how they are written."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from uqf.files import whole_file
from uqf.printable import escape
from uqf.reading.progress import Callback, Reporter
from uqf.reports.study import Study
from uqf.types import Raw


class PartedReport(ABC):
    """A report whose parts are computed when they are first asked for."""

    PARTS: ClassVar[tuple[str, ...]]

    study: Study

    def complete(self, progress: Callback | None = None) -> Self:
        """Computes all parts now and reports how many are done."""
        reporter = Reporter(progress)
        reporter.enter("report", len(self.PARTS))
        for part in self.PARTS:
            getattr(self, part)
            reporter.advance(1)
        return self

    @abstractmethod
    def page(self) -> str:
        """One file, without any request to the outside."""

    def write(self, path: str | os.PathLike[str]) -> None:
        """The page, whole or not at all."""
        with whole_file(check_folder(path)) as file:
            file.write(self.page().encode())


def plain(value: Raw) -> Raw:
    """The same with lists for tuples and None for what is not finite, as JSON knows it."""
    match value:
        case dict():
            return {str(key): plain(one) for key, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def numbered(parts: list[tuple[str, str]]) -> list[str]:
    """Links to the parts (title, markup), then the parts as sections."""
    links = "".join(
        f'<a href="#part-{number}">{escape(title)}</a>' for number, (title, _) in enumerate(parts, 1)
    )
    sections = [
        f'<section id="part-{number}"><h2>{escape(title)}</h2>{markup}</section>'
        for number, (title, markup) in enumerate(parts, 1)
    ]
    return [f"<nav>{links}</nav>", *sections]


def check_folder(path: str | os.PathLike[str]) -> Path:
    """The path, if there is a folder for it: better to know before long work than after it."""
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {target.absolute().parent} to write to")
    return target
