"""Parquet and Arrow files: a table at a time, or all of them as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from uqf.episodes.parquet_file import KEY
from uqf.errors import FileFormatError
from uqf.files import open_ordinary
from uqf.logs.columns import LogColumns, layout_of, naming

#: Bytes of a column that are read ahead.
BUFFER = 1 << 20


def files_of(path: Path) -> list[Path]:
    """The file itself, or the Parquet files of a folder in the order of their names."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FileFormatError(f"{path}: the folder holds no .parquet file")
    return files


@dataclass(frozen=True)
class TableFiles:
    """An Arrow file (also known as Feather, version 2), a Parquet file, or all Parquet files of a folder as one log."""

    files: list[Path]
    arrow: bool = False

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns and types of the first file; other files have the same actions, observations and names."""
        found = [self._schema(path) for path in self.files]
        for path, schema in zip(self.files, found, strict=True):
            if (schema.metadata or {}).get(KEY) != (found[0].metadata or {}).get(KEY):
                raise FileFormatError(f"{path}: other actions, observations or names than in {self.files[0]}")
        return found[0]

    def _schema(self, path: Path) -> pa.Schema:
        with naming(path), open_ordinary(path) as file:
            return pa.ipc.open_file(file).schema if self.arrow else pq.read_schema(file)

    def tables(self, rows: int, names: list[str]) -> Iterator[pa.Table]:
        """The named columns of all files, at most `rows` rows at a time; columns are not held whole either."""
        for path in self.files:
            with naming(path), open_ordinary(path) as file:
                batches = _arrow_batches(file) if self.arrow else _parquet_batches(file, rows, names)
                for batch in batches:
                    for first in range(0, batch.num_rows, rows):
                        yield pa.Table.from_batches([batch.slice(first, rows)]).select(names)

    def whole(self, columns: LogColumns) -> pa.Table:
        """The columns that a log needs of all files, with types that are wide enough for all.

        Whole numbers here and fractions there are numbers; ids of episodes that differ in type are text. A column
        that a file lacks is missing there.
        """
        parts = [self._one(path, columns) for path in self.files]
        if len(parts) == 1:
            return parts[0]
        episode = layout_of(self.schema, columns).names.get("episode")
        if episode and len({part.schema.field(episode).type for part in parts}) > 1:
            parts = [_cast(part, episode, pa.string()) for part in parts]
        try:
            return pa.concat_tables(parts, promote_options="permissive")
        except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
            for name in dict.fromkeys(name for part in parts for name in part.column_names):
                kinds = dict[pa.DataType, Path]()
                for path, part in zip(self.files, parts, strict=True):
                    if name in part.column_names:
                        kinds.setdefault(part.schema.field(name).type, path)
                if f"Field {name} " in str(error):
                    listed = "; ".join(f"{kind} in {path}" for kind, path in kinds.items())
                    raise FileFormatError(
                        f"column {name!r} holds {listed}: give one kind of values"
                    ) from None
            raise

    def _one(self, path: Path, columns: LogColumns) -> pa.Table:
        """The columns that a log needs of one file."""
        schema = self._schema(path)
        with naming(path):
            names = layout_of(schema, columns).columns
        empty = pa.schema([schema.field(name) for name in names]).empty_table()
        table = pa.concat_tables([empty, *TableFiles([path], self.arrow).tables(2**20, names)])
        for name, kind in zip(names, table.schema.types, strict=True):
            table = _cast(table, name, kind.value_type) if pa.types.is_dictionary(kind) else table
        return table


def _parquet_batches(file: object, rows: int, names: list[str]) -> Iterator[pa.RecordBatch]:
    parquet = pq.ParquetFile(file, page_checksum_verification=True, buffer_size=BUFFER)
    yield from parquet.iter_batches(rows, columns=names, use_threads=False)


def _arrow_batches(file: object) -> Iterator[pa.RecordBatch]:
    reader = pa.ipc.open_file(file)
    for index in range(reader.num_record_batches):
        try:
            batch = reader.get_batch(index)
        except MemoryError:  # older pyarrow asks for what a damaged batch claims to need
            raise FileFormatError(f"record batch {index} claims to need more memory than there is") from None
        # Offsets are taken on trust by everything that follows: a damaged one would read foreign memory.
        batch.validate(full=True)
        yield batch


def _cast(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, table.column(name).cast(kind))
