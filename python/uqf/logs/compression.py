"""Files as they are, and files that were compressed."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from uqf.files import open_ordinary

#: Compression by the last suffix of a name.
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}


def plain_suffix(path: Path) -> str:
    """The suffix that tells the format: ".csv" of "log.csv.gz"."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join((suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSED else suffixes)[-1:])


@contextmanager
def open_plain(path: Path) -> Iterator[BinaryIO]:
    """An ordinary file to read, decompressed if its name says so."""
    with open_ordinary(path) as file:
        match COMPRESSED.get(path.suffix.lower()):
            case "gzip":
                with gzip.GzipFile(fileobj=file) as plain:
                    yield cast(BinaryIO, plain)
            case "zstd":
                with pa.CompressedInputStream(file, "zstd") as stream:
                    yield cast(BinaryIO, io.BufferedReader(stream))
            case _:
                yield file
