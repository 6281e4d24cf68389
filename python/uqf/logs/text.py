"""Text logs: CSV and JSON Lines, compressed or not, read whole into one Arrow table."""

from __future__ import annotations

import gzip
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from pyarrow import json as jsonl

from uqf.errors import FileFormatError
from uqf.files import open_ordinary
from uqf.logs.columns import LogColumns
from uqf.logs.layout import layout_of
from uqf.logs.tables import cast, changed

#: Compression by the last suffix of a name.
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}

#: What may stand between values.
SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class Limits:
    """What a text log may ask for before it is refused."""

    expansion: int = 100
    """A compressed file may expand to so many times its size, …"""
    modest: int = 2**26
    """… or to so many bytes, whichever is more."""
    memory: int = 12
    """Reading takes up to so many times the bytes of the text; a log that needs more memory than the machine has is
    refused."""
    header: int = 2**20
    """Bytes within which the header of a CSV file must end."""
    block: int = 2**31 - 1
    """Bytes that Arrow can parse in one piece. In one piece nothing is read ahead by other threads: a reader that is
    dropped half-way, as by an error, could wait for itself when the process ends (apache/arrow#43604)."""


LIMITS = Limits()


def plain_suffix(path: Path) -> str:
    """The suffix that says which format it is: ".csv" of "log.csv.gz"."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join((suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes)[-1:])


def plain_text(path: Path) -> bytes:
    """The content of an ordinary file, decompressed if its name says so; bounded before anything is allocated."""
    with open_ordinary(path) as file:
        size, kind = os.fstat(file.fileno()).st_size, COMPRESSED.get(path.suffix.lower())
        _refuse_beyond_memory(size)
        if kind is None:
            return file.read(size)
        limit, pieces, expanded = max(LIMITS.modest, LIMITS.expansion * size), [], 0
        with gzip.GzipFile(fileobj=file) if kind == "gzip" else pa.CompressedInputStream(file, kind) as plain:
            while piece := plain.read(2**20):
                pieces.append(piece)
                expanded += len(piece)
                _refuse_beyond_memory(expanded)
                if expanded > limit:
                    raise FileFormatError(
                        f"{size} compressed bytes expand to more than {limit}: expand the file first if you trust it"
                    )
        return b"".join(pieces)


def _refuse_beyond_memory(size: int) -> None:
    try:
        memory: float = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover
        memory = math.inf  # Windows does not say
    if LIMITS.memory * size > memory:
        raise FileFormatError(
            f"{size} bytes of text: reading takes up to {LIMITS.memory} times as much, and the machine has "
            f"{memory:.0f}; cut the log into parts, and convert each with the codebook of the first (uqf.convert)"
        )


def read_csv(path: Path, columns: LogColumns) -> tuple[pa.Table, list[str]]:
    """(the columns that a log needs, the names of all) of a CSV file with a header and one row per step.

    A column has the narrowest type that holds every cell: whole numbers, numbers, true and false, else text. Ids of
    episodes are text as they stand; so are dates, but for the time of a step, and hexadecimal numbers.
    """
    text = plain_text(path).lstrip(b"\r\n")
    end = 0
    while True:  # a quotation in the header may go on over lines
        end = text.find(b"\n", end) + 1 or len(text)
        if end >= min(LIMITS.header, len(text)) or text.count(b'"', 0, end) % 2 == 0:
            break
    first = text[:end].decode("utf-8", "replace")
    separator = max(SEPARATORS, key=lambda mark: (first.count(mark), -SEPARATORS.index(mark)))
    names = _parsed(text[:end], separator).column_names
    layout = layout_of(pa.schema([(name, pa.string()) for name in names]), columns)
    table = _parsed(text, separator, layout.columns, [layout.names["episode"]])
    # Looking for one byte takes a tenth of the time.
    hexadecimal = (b"x" in text and b"0x" in text) or (b"X" in text and b"0X" in text)
    doubtful = [
        field.name
        for field in table.schema
        if field.name != layout.names.get("time")
        and (pa.types.is_temporal(field.type) or (hexadecimal and pa.types.is_integer(field.type)))
    ]
    if doubtful:
        for name, values in zip(doubtful, _parsed(text, separator, doubtful, doubtful), strict=True):
            number = pa.types.is_integer(table.schema.field(name).type)
            if not number or pc.any(pc.match_substring(values, "0x", ignore_case=True)).as_py():
                table = changed(table, name, values)
    for name in table.column_names:
        if pa.types.is_null(table.schema.field(name).type):
            table = cast(table, name, pa.string())
    return table, names


def _parsed(text: bytes, separator: str, names: Iterable[str] = (), texts: Iterable[str] = ()) -> pa.Table:
    """The named columns, all if none is; those of `texts` as text."""
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(texts, pa.string()),
        include_columns=list(names),
        null_values=[""],
        strings_can_be_null=True,
        true_values=["true", "True", "TRUE"],
        false_values=["false", "False", "FALSE"],
    )
    block = min(len(text) + 1, LIMITS.block)
    parse = csv.ParseOptions(delimiter=separator, newlines_in_values=len(text) >= block)
    read = csv.ReadOptions(use_threads=False, block_size=block)
    return csv.read_csv(pa.BufferReader(text), read, parse, convert)


def read_json_lines(path: Path, columns: LogColumns) -> tuple[pa.Table, list[str]]:
    """(the columns that a log needs, the names of all) of a JSON Lines file: an object per step, or per episode."""
    text = plain_text(path).strip()
    if not text:
        raise FileFormatError("the file is empty")
    # pyarrow crashes where the first value is null (apache/arrow#47409), and makes lists that reach beyond their
    # values where the first of them is (apache/arrow#51305).
    if not text.removeprefix(b"\xef\xbb\xbf").startswith(b"{"):
        raise FileFormatError(f"{text[:20]!r} begins no JSON object; every line is one")
    options = jsonl.ReadOptions(use_threads=False, block_size=min(len(text) + 1, LIMITS.block))
    table = jsonl.read_json(pa.BufferReader(text), read_options=options)
    table.validate(full=True)
    return table.select(layout_of(table.schema, columns).columns), table.column_names
