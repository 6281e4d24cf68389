"""Parquet and Arrow files: their columns, a table at a time, and the tables of a log as one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from uqf.errors import FileFormatError
from uqf.files import open_ordinary
from uqf.logs.arrow_sizes import declared_bytes
from uqf.logs.layout import naming
from uqf.logs.parquet_sizes import chunks_of

#: Bytes of a column that are read ahead, and rows that are read at a time where all are wanted.
BUFFER, ROWS = 1 << 20, 1 << 20

#: A file may stand for so many times its bytes, or for so many bytes, whichever is more.
EXPANSION, MODEST = 100, 1 << 30


def files_of(path: Path) -> list[Path]:
    """The file itself, or the Parquet files of a folder in the order of their names."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FileFormatError(f"{path}: the folder holds no .parquet file")
    return files


def schema_of(path: Path, arrow: bool = False) -> pa.Schema:
    """Columns and types of a Parquet file, or of an Arrow file (also known as Feather, version 2)."""
    with naming(path), open_ordinary(path) as file:
        return pa.ipc.open_file(file).schema if arrow else pq.read_schema(file)


def tables_of(path: Path, rows: int, names: list[str], arrow: bool = False) -> Iterator[pa.Table]:
    """The named columns, at most `rows` rows at a time; columns are not held whole either."""
    with naming(path), open_ordinary(path) as file:
        for batch in _arrow_batches(file) if arrow else _parquet_batches(file, rows, names):
            for first in range(0, batch.num_rows, rows):
                yield pa.Table.from_batches([batch.slice(first, rows)]).select(names)


def _refuse_more(file: BinaryIO, expanded: int) -> None:
    """Refuses a file that stands for much more than its bytes.

    A few bytes of a dictionary, of a repeated value or of a compressed block may stand for any number of long values.
    """
    size = os.fstat(file.fileno()).st_size
    limit = max(MODEST, EXPANSION * size)
    if expanded > limit:
        raise FileFormatError(
            f"{size} bytes expand to more than {limit}: write the file with plain values first if you trust it"
        )


def whole_table(path: Path, schema: pa.Schema, names: list[str], arrow: bool = False) -> pa.Table:
    """The named columns of a file, unless they are much more than its bytes."""
    with naming(path), open_ordinary(path) as file:
        tables, expanded = [], 0
        for table in tables_of(path, ROWS, names, arrow):
            expanded += sum(_plain_bytes(chunk) for column in table.columns for chunk in column.chunks)
            _refuse_more(file, expanded)
            tables.append(table)
    return (
        pa.concat_tables(tables)
        if tables
        else pa.schema([schema.field(name) for name in names]).empty_table()
    )


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the same values without dictionaries."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.list_(plain_type(kind.value_type)) if pa.types.is_dictionary(_leaf(kind)) else kind


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _plain_bytes(values: pa.Array) -> int:
    """What values take one by one, at least as much as numbers do."""
    kind, least = values.type, 8 * len(values)
    if pa.types.is_dictionary(kind):
        return max(least, pc.sum(pc.take(pa.array(_lengths(values.dictionary)), values.indices)).as_py() or 0)
    return least + _plain_bytes(values.flatten()) if _is_list(kind) else max(least, int(values.nbytes))


def _lengths(values: pa.Array) -> NDArray[np.int64]:
    """Bytes of every text; of other values none, which are counted as numbers are."""
    types, kind = pa.types, values.type
    texts = (types.is_string, types.is_binary, types.is_large_string, types.is_large_binary)
    if not any(is_text(kind) for is_text in texts):
        return np.zeros(len(values), np.int64)
    return np.asarray(pc.fill_null(pc.binary_length(values), 0), np.int64)


def joined(parts: Sequence[tuple[object, pa.Table]], identifying: Sequence[str]) -> pa.Table:
    """The tables of all parts, each with its name, with types that are wide enough for all.

    Whole numbers here and fractions there are numbers; `identifying` columns (ids, and all columns of text files) that
    are text somewhere are text. A column that a part lacks is missing there.
    """
    tables = [table for _, table in parts]
    for name in dict.fromkeys(name for table in tables for name in table.column_names):
        kinds = {table.schema.field(name).type for table in tables if name in table.column_names}
        if len(kinds) > 1 and name in identifying:
            tables = [
                cast(table, name, pa.string()) if name in table.column_names else table for table in tables
            ]
    try:
        return pa.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        for name in tables[0].column_names:
            held = {
                table.schema.field(name).type: part for part, table in parts if name in table.column_names
            }
            if f"Field {name} " in str(error):
                listed = "; ".join(f"{kind} in {part}" for kind, part in held.items())
                raise FileFormatError(f"column {name!r} holds {listed}: give one kind of values") from None
        raise


def changed(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """The same table with other values of one column."""
    return table.set_column(table.column_names.index(name), name, values)


def cast(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """The same table with another type of one column."""
    return changed(table, name, table.column(name).cast(kind))


def _parquet_batches(file: BinaryIO, rows: int, names: list[str]) -> Iterator[pa.RecordBatch]:
    _refuse_more(file, 8 * sum(chunk.values for chunk in chunks_of(file) if chunk.column in names))
    # Text stays in its dictionary until its size is known.
    footer = pq.ParquetFile(file)
    schema, paths = footer.schema_arrow, [column.path for column in footer.schema]
    single = [name for name in names if schema.names.count(name) == 1]
    texts = {name for name in single if pa.types.is_string(_leaf(schema.field(name).type))}
    listed = [path for path in paths if path.split(".")[0] in texts]
    parquet = pq.ParquetFile(
        file, page_checksum_verification=True, buffer_size=BUFFER, read_dictionary=listed
    )
    yield from parquet.iter_batches(rows, columns=names, use_threads=False)


def _leaf(kind: pa.DataType) -> pa.DataType:
    return _leaf(kind.value_type) if _is_list(kind) else kind


def _arrow_batches(file: BinaryIO) -> Iterator[pa.RecordBatch]:
    reader = pa.ipc.open_file(file)
    _refuse_more(file, declared_bytes(file))
    for index in range(reader.num_record_batches):
        try:
            batch = reader.get_batch(index)
        except MemoryError:  # older pyarrow asks for what a damaged batch claims to need
            raise FileFormatError(f"record batch {index} claims to need more memory than there is") from None
        # Offsets are taken on trust by everything that follows: a damaged one would read foreign memory.
        batch.validate(full=True)
        yield batch
