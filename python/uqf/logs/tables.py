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
        parts = {}
        for path in self.files:
            schema = self._schema(path)
            with naming(path):
                names = layout_of(schema, columns).columns
            one = TableFiles([path], self.arrow)
            tables = list(one.tables(max(1, 2**20), names))
            empty = pa.schema([schema.field(name) for name in names]).empty_table()
            parts[path] = pa.concat_tables(tables) if tables else empty
        if len(parts) == 1:
            return next(iter(parts.values()))
        episode = layout_of(self.schema, columns).names.get("episode")
        found: dict[str, dict[pa.DataType, object]] = {}
        for path, table in parts.items():
            for field in table.schema:
                kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
                found.setdefault(field.name, {}).setdefault(kind, path)
        types = [(name, _widest(name, kinds, name == episode)) for name, kinds in found.items()]
        return pa.concat_tables([_with_types(table, pa.schema(types)) for table in parts.values()])


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


def _widest(name: str, kinds: dict[pa.DataType, object], identifies: bool) -> pa.DataType:
    """A type that holds the values of all kinds, given where each of them was found."""
    if identifies and len(kinds) > 1:
        return pa.string()
    try:
        schemas = [pa.schema([(name, kind)]) for kind in kinds]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        listed = "; ".join(f"{kind} in {place}" for kind, place in kinds.items())
        raise FileFormatError(f"column {name!r} holds {listed}: give one kind of values") from None


def _with_types(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
