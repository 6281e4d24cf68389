"""Finished cells of experiments on disk: one line each, written once, never run again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from uqf._core import __version__
from uqf.errors import FileFormatError
from uqf.files import locked, naming
from uqf.types import Raw, Record

Setting = Mapping[str, Raw]
Result = Record


@dataclass(frozen=True)
class Cell:
    """One run: what `method` does under `setting` with `seed`.

    `setting` must hold everything that the result depends on, in JSON types: it is how a finished cell is
    recognised. Two sizes of an experiment share the cells whose settings agree.
    """

    experiment: str
    method: str
    setting: Setting
    seed: int

    @property
    def key(self) -> str:
        """The same text for the same cell, whatever the order of its settings."""
        return json.dumps([self.experiment, self.method, self.setting, self.seed], sort_keys=True)


@dataclass(frozen=True)
class Row:
    """A finished cell with its result and where it was made."""

    cell: Cell
    result: Result
    origin: Mapping[str, str]


class Store:
    """The rows of one experiment: ``<folder>/<experiment>.jsonl``, one JSON object a line.

    A row is appended under a lock and flushed to the disk: an interrupted run loses the cell it was in and no
    other, and several runs may share a folder. A last line cut short by a crash is dropped when the next row is
    written; any other damage is a `uqf.FileFormatError` that names the line.
    """

    def __init__(self, folder: str | os.PathLike[str], experiment: str) -> None:
        self.experiment = experiment
        self.path = Path(folder) / f"{experiment}.jsonl"

    def rows(self) -> list[Row]:
        """All finished cells, oldest first."""
        if not self.path.exists():
            return []
        # What follows the last line end was being written when the machine stopped.
        lines = self.path.read_bytes().split(b"\n")[:-1]
        return [self._row(number, line) for number, line in enumerate(lines, 1) if line]

    def _row(self, number: int, line: bytes) -> Row:
        try:
            record = json.loads(line)
            cell = Cell(record["experiment"], record["method"], record["setting"], record["seed"])
            if not all(isinstance(record[part], dict) for part in ("setting", "result", "origin")):
                raise TypeError("setting, result or origin is no mapping")
            return Row(cell, record["result"], record["origin"])
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise FileFormatError(
                f"{self.path}, line {number}: no finished cell ({type(error).__name__}: {error}); remove the line "
                "to run its cell again"
            ) from None

    def finished(self, cells: Iterable[Cell]) -> list[Row]:
        """The rows of these cells that are finished, in the order of `cells`."""
        rows = {row.cell.key: row for row in self.rows()}
        return [rows[cell.key] for cell in cells if cell.key in rows]

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Those of these cells that are still to be run."""
        done = {row.cell.key for row in self.rows()}
        return [cell for cell in cells if cell.key not in done]

    def run(
        self,
        cells: Iterable[Cell],
        work: Callable[[Cell], Result],
        progress: Callable[[Cell], object] | None = None,
        workers: int = 1,
    ) -> int:
        """Runs the missing cells, each kept as soon as it is done; the number of them.

        With several `workers`, which are processes of their own, `work` must be something that can be pickled. Cells of
        the same log go to the same worker one after the other. ``progress(cell)`` is called after every one.
        """
        groups: dict[str, list[Cell]] = {}
        for cell in self.missing(cells):
            log = [cell.setting.get("world"), cell.setting.get("episodes"), cell.seed]
            groups.setdefault(json.dumps(log), []).append(cell)
        with ExitStack() as stack:
            finished: Iterable[Iterable[Row]] = map(partial(_finished, work), groups.values())
            if workers > 1 and len(groups) > 1:
                pool = stack.enter_context(get_context("spawn").Pool(workers, _alone))
                finished = pool.imap_unordered(partial(_finished_at_once, work), groups.values())
            for rows in finished:
                for row in rows:
                    self._append(row)
                    if progress is not None:
                        progress(row.cell)
        return sum(map(len, groups.values()))

    def _append(self, row: Row) -> None:
        record = {**asdict(row.cell), "result": row.result, "origin": row.origin}
        line = (json.dumps(record, ensure_ascii=False) + "\n").encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Another run may be writing to the same folder; what it has half written must not be taken for a crash.
        with naming(self.path), open(self.path, "ab+") as file, locked(file):
            file.seek(0)
            content = file.read()
            content_end = content.rfind(b"\n") + 1
            if content_end < len(content):
                file.truncate(content_end)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def _finished(work: Callable[[Cell], Result], cells: Iterable[Cell]) -> Iterator[Row]:
    for cell in cells:
        began = time.process_time()
        result = work(cell)
        yield Row(cell, result, origin() | {"cell_seconds": f"{time.process_time() - began:.3f}"})


def _finished_at_once(work: Callable[[Cell], Result], cells: Iterable[Cell]) -> list[Row]:
    return list(_finished(work, cells))


def _alone() -> None:
    """A worker has one core, and leaves Ctrl-C to the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["RAYON_NUM_THREADS"] = "1"


def origin() -> dict[str, str]:
    """Versions and machine, for the record."""
    return {
        "uqf": __version__,
        "code": code(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "machine": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


@cache
def processor() -> str:
    """What the processor calls itself, where the system says it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


@cache
def code() -> str:
    """Fingerprint of the installed package: rows with another one may not be what the code now would give."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted([*package.rglob("*.py"), *package.glob("_core*.so"), *package.glob("_core*.pyd")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
