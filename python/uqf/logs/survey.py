"""A first look at a Parquet file: what its footer tells, and only what that leaves open is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from uqf.coding.codebook import Codebook
from uqf.coding.names import MAX_NAMES
from uqf.errors import FileFormatError
from uqf.files import open_ordinary
from uqf.logs.alphabet import Alphabet, Asked, RawEpisodes, alphabet_of, refuse_bins_of_codes
from uqf.logs.columns import Layout, LogColumns, layout_of, naming
from uqf.logs.parquet import metadata_of, refuse_empty_promise, tables_of
from uqf.types import Raw

#: Steps of a file from which a codebook is learned.
SAMPLE_STEPS = 10_000

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
    alphabet: Alphabet
    has_metadata: bool
    """Whether the file itself tells its alphabet."""
    codebook: Codebook | None
    """Names in the metadata."""
    ends: tuple[Raw, Raw] | None
    """First and last episode, if a row is one step."""
    sample: RawEpisodes | None = field(default=None, compare=False)
    """Episodes to learn a codebook from, if one is needed; without columns of observations that need none."""


def survey(path: Path, columns: LogColumns | None, asked: Asked) -> FileSurvey:
    """Looks at one file."""
    with naming(path), open_ordinary(path) as file:
        footer = pq.ParquetFile(file)
        layout = layout_of(footer.schema_arrow, (columns or LogColumns()).of(asked[2]))
        written_actions, written_observations, names = metadata_of(footer.schema_arrow)
        if footer.metadata.num_rows == 0:
            raise FileFormatError("the log holds no episode")
        if written_actions is not None and written_observations is not None:
            if None in asked[:2]:
                tables = tables_of([path], ROWS, [layout.names["action"]])
                refuse_empty_promise(written_actions, written_observations, tables, layout)
            refuse_bins_of_codes(layout, written_actions)
            alphabet, sample = Alphabet(written_actions, written_observations, None), None
        else:
            alphabet, sample = _alphabet(path, footer, layout, asked)
        return FileSurvey(
            str(path),
            layout,
            footer.metadata.num_rows,
            sum(chunk.num_values for chunk in _chunks(footer, layout.names["action"])),
            _reward_size(path, footer, layout),
            alphabet,
            written_actions is not None,
            names,
            _ends(footer, layout),
            sample,
        )


def _chunks(footer: pq.FileMetaData, column: str) -> list[pq.ColumnChunkMetaData]:
    """Metadata of one column in every group of rows; a list is stored under the name of its column."""
    groups = [footer.metadata.row_group(index) for index in range(footer.metadata.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
    return [chunk for chunk in chunks if chunk.path_in_schema.split(".")[0] == column]


def _range(footer: pq.FileMetaData, column: str) -> tuple[Raw, Raw] | None:
    """Smallest and largest value of a column, if the footer tells."""
    found = [chunk.statistics for chunk in _chunks(footer, column)]
    if not found or any(one is None or not one.has_min_max or one.null_count for one in found):
        return None
    return min(one.min for one in found), max(one.max for one in found)


def _alphabet(
    path: Path, footer: pq.FileMetaData, layout: Layout, asked: Asked
) -> tuple[Alphabet, RawEpisodes | None]:
    n_actions, n_observations, codebook = asked

    def told(*columns: str) -> int | None:
        limits = [_range(footer, column) for column in columns]
        known = [one[1] for one in limits if one is not None and _are_codes(*one)]
        return max(known) + 1 if len(known) == len(columns) else None

    if codebook is None:
        if layout.action_bins is None:
            n_actions = n_actions or told(layout.names["action"])
        if len(layout.observation) == 1:
            n_observations = n_observations or told(*layout.observed)
    known = (n_actions, n_observations, codebook)
    return alphabet_of(lambda names: tables_of([path], ROWS, names), layout, known, SAMPLE_STEPS)


def _are_codes(smallest: Raw, largest: Raw) -> bool:
    """Whether values between these limits are codes."""
    return type(smallest) is int and type(largest) is int and smallest >= 0 and largest < MAX_NAMES


def _reward_size(path: Path, footer: pq.FileMetaData, layout: Layout) -> float:
    limits = _range(footer, layout.names["reward"])
    if limits is not None and all(isinstance(limit, (int, float)) for limit in limits):
        return float(max(abs(limits[0]), abs(limits[1])))
    largest = 0.0
    for table in tables_of([path], ROWS, [layout.names["reward"]]):
        values = table.column(0).combine_chunks()
        values = values.flatten() if hasattr(values, "flatten") and not layout.per_step else values
        size = pc.max(pc.abs(values.cast(pa.float64()))).as_py()
        largest = max(largest, size or 0.0)
    return largest


def _ends(footer: pq.FileMetaData, layout: Layout) -> tuple[Raw, Raw] | None:
    if not layout.per_step:
        return None
    names = [layout.names["episode"]]
    groups = footer.metadata.num_row_groups
    first = footer.read_row_group(0, columns=names).column(0)
    last = first if groups == 1 else footer.read_row_group(groups - 1, columns=names).column(0)
    return first[0].as_py(), last[-1].as_py()
