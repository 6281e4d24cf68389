"""A folder of the package's own Parquet files as shards, read a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import positive
from uqf.episodes.parquet_file import metadata_of
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.files import as_path, open_ordinary
from uqf.logs.alphabet import Alphabet, Given, check_given
from uqf.logs.columns import LogColumns
from uqf.logs.episodes import recoded, refuse_empty_promise, trajectories_of
from uqf.logs.layout import Layout, layout_of, naming
from uqf.logs.parquet_sizes import Chunk, chunks_of
from uqf.logs.rows import Rows
from uqf.logs.tables import files_of, schema_of, tables_of
from uqf.reading.release import release_memory

#: Steps in a batch: some tens of megabytes while it is read.
BATCH_STEPS = 1 << 19

#: Bytes of a step without raw columns and allowed actions.
STEP_BYTES = 24

#: Rows that are looked at together where the footer does not help.
ROWS = 10_000


@dataclass(frozen=True)
class FileSurvey:
    """What must be known of a file before it is read."""

    path: str
    layout: Layout
    rows: int
    steps: int
    reward_size: float
    written: tuple[int, int, Codebook | None]
    """Sizes and names in the metadata."""


def survey(path: Path, given: Given) -> FileSurvey:
    """A first look at one file: what its footer says, and only what that leaves open is read."""
    with naming(path), open_ordinary(path) as file:
        footer = pq.ParquetFile(file)
        layout, written = layout_of(footer.schema_arrow, LogColumns()), metadata_of(footer.schema_arrow)
        if written is None or layout.per_step:
            raise FileFormatError(
                "no file of uqf with one row per episode: make such files of any log with uqf.convert (uqf convert LOG "
                "FOLDER), or read it whole with uqf.read_log"
            )
        if footer.metadata.num_rows == 0:
            raise FileFormatError("the log holds no episode")
        if None in given[:2]:
            actions = [layout.names["action"]]
            refuse_empty_promise(written, lambda: _steps(path, actions))
        chunks = list(chunks_of(file))
        steps = sum(chunk.values for chunk in chunks if chunk.column == layout.names["action"])
        size = _reward_size(path, chunks, layout.names["reward"])
        return FileSurvey(str(path), layout, footer.metadata.num_rows, steps, size, written)


def are_shards(path: Path) -> bool:
    """Whether a folder or a file is one that this package wrote."""
    files = [path] if path.suffix == ".parquet" and path.is_file() else sorted(path.glob("*.parquet"))[:1]
    return any(metadata_of(schema_of(file)) is not None for file in files)


def _steps(path: Path, names: list[str]) -> int:
    """The steps that a file really has, whatever its footer says."""
    return sum(len(table.column(0).combine_chunks().flatten()) for table in tables_of(path, ROWS, names))


def _reward_size(path: Path, chunks: list[Chunk], column: str) -> float:
    known = [chunk.limits for chunk in chunks if chunk.column == column]
    if known and None not in known:
        return max(abs(limit) for limits in known if limits for limit in limits)
    sizes = [0.0]
    for table in tables_of(path, ROWS, [column]):
        rewards = table.column(0).combine_chunks().flatten().cast(pa.float64())
        sizes.append(pc.max(pc.abs(rewards)).as_py() or 0.0)
    return max(sizes)


@dataclass(frozen=True)
class ParquetShard:
    """One file."""

    survey: FileSurvey
    given: Given
    batch_rows: int
    changeable: bool = True

    @property
    def name(self) -> str:
        return self.survey.path

    @property
    def n_steps(self) -> int:
        return self.survey.steps

    def batches(self) -> Iterator[Trajectories]:
        """Whole episodes, about a batch of rows at a time."""
        one, row = self.survey, 0
        n_actions, n_observations, names = one.written
        with naming(one.path):
            for table in tables_of(Path(one.path), self.batch_rows, one.layout.columns):
                data = trajectories_of(
                    Rows(table, one.layout, row), Alphabet(n_actions, n_observations, None)
                )
                row += table.num_rows
                yield recoded(data, names, self.given)
                del data
        release_memory()


class Shards:
    """Episodes in a folder of Parquet files, or in one file: one shard per file, in the order of their names.

    The files are those of `Trajectories.to_parquet` or `uqf.convert`. Making it reads their footers. Results depend,
    in their last digits, on how episodes are spread over files and on `batch_steps`, but not on who reads them.

    Parameters
    ----------
    folder : path
        Of the folder or the file.
    n_actions, n_observations, codebook
        As in `uqf.read_log`; by default those of the files.
    batch_steps : int
        About so many steps are in memory at a time; fewer where they have many columns, in the same memory.

    Raises
    ------
    FileFormatError
        If there is no file, or one is damaged, or was not written by this package.

    Examples
    --------
    >>> import os, uqf
    >>> os.mkdir("log")
    >>> for day in range(2):
    ...     uqf.rollout(uqf.make("tiger"), episodes=50, seed=day).to_parquet(f"log/{day}.parquet")
    >>> learner = uqf.UQF(2, 0.95).fit(uqf.Shards("log"))
    >>> learner.policy_.n_actions
    3
    """

    in_memory = False

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        n_actions: int | None = None,
        n_observations: int | None = None,
        codebook: Codebook | None = None,
        batch_steps: int = BATCH_STEPS,
    ) -> None:
        given = (n_actions, n_observations, codebook)
        check_given(given)
        surveys = [survey(path, given) for path in files_of(as_path(folder).absolute())]
        positive("batch_steps", batch_steps)
        first = surveys[0]
        for one in surveys:
            if one.layout != first.layout:
                raise FileFormatError(f"{one.path}: other columns than in {first.path}")
            if one.written != first.written:
                raise FileFormatError(
                    f"{one.path}: other actions, observations or names than in {first.path}"
                )
        names = codebook or first.written[2] or Codebook.named()
        self.codebook = None if names == Codebook.named() else names
        self.n_actions = names.n_actions or n_actions or first.written[0]
        self.n_observations = names.n_codes or n_observations or first.written[1]
        self.reward_size = max(one.reward_size for one in surveys)
        # A step takes `STEP_BYTES` without columns and masks.
        extras = first.layout.extras
        bytes_more = 4 * len(extras.column_sizes) + extras.allowed
        batch_steps = max(1, batch_steps * STEP_BYTES // (STEP_BYTES + bytes_more))
        self.shards = [
            ParquetShard(one, given, max(1, batch_steps * one.rows // max(one.steps, 1))) for one in surveys
        ]

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, index: int) -> ParquetShard:
        return self.shards[index]

    def __repr__(self) -> str:
        steps = sum(shard.n_steps for shard in self.shards)
        return f"Shards({len(self)} files, {steps} steps, {self.n_actions} actions, {self.n_observations} observations)"
