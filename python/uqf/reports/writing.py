"""What reports share: parts that are computed one after the other, and how they are written."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

from uqf.files import as_path, whole_file
from uqf.reading.progress import Callback, Reporter
from uqf.reports.facts import Facts
from uqf.reports.log import Log, problems
from uqf.reports.study import Study
from uqf.types import Record


class PartedReport(ABC):
    """A report whose parts are computed when they are first asked for."""

    PARTS: ClassVar[tuple[str, ...]]

    study: Study
    facts: Facts = Facts()

    @cached_property
    def log(self) -> Log:
        """What is in the log."""
        log, diagnostics = self.study.log, self.study.diagnostics
        whole = diagnostics.get("episodes", 0)
        sampled_from = whole if whole > len(log) else None
        listed = [*self.facts.problems, *problems(log, diagnostics)]
        return Log.of(log, self.study.discount, listed, sampled_from, self.facts.times)

    def plain(self, parts: Iterable[str], **others: object) -> Record:
        """Parts and other values as JSON knows them: lists for tuples, and None for what is not finite."""
        values = {**others, **{part: asdict(getattr(self, part)) for part in parts}}
        return dict(json.loads(json.dumps(values), parse_constant=lambda _: None))

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


def check_folder(path: str | os.PathLike[str]) -> Path:
    """The path, if there is a folder for it: better to know before long work than after it."""
    target = as_path(path)
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {target.absolute().parent} to write to")
    return target
