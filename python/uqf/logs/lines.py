"""Text, read in blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa

from uqf.errors import FileFormatError

#: Bytes read at a time.
BLOCK = 2**18

#: A line, such as a long episode, must fit into this many bytes more.
LONGEST_LINE = 2**27

#: Bytes within which a quotation that goes on over lines must end; a quote that does not is a mark like others.
LONGEST_QUOTATION = 2**20


def blocks_of_lines(file: BinaryIO, quote: bytes | None = None) -> Iterator[bytes]:
    """Blocks that end where a line ends, and outside of quotes where there are any.

    Everything is read here, in the thread that asks. Arrow's own readers of blocks read ahead in other threads, and
    one that is dropped half-way, as by an error, can wait for itself when the process ends (apache/arrow#43604,
    apache/arrow#50482).
    """
    while block := file.read(BLOCK):
        if not block.endswith(b"\n"):
            block += _line(file)
        yield block if quote is None else block + _rest_of_quotation(file, block, quote)


def _line(file: BinaryIO) -> bytes:
    """The rest of a line."""
    line = file.readline(LONGEST_LINE)
    if len(line) == LONGEST_LINE:
        raise FileFormatError(f"a line is longer than {LONGEST_LINE} bytes")
    return line


def _rest_of_quotation(file: BinaryIO, block: bytes, quote: bytes) -> bytes:
    """The lines up to the end of a quotation that `block` leaves open."""
    rest, quotes = bytearray(), block.count(quote)
    while quotes % 2 and len(rest) < LONGEST_QUOTATION and (line := _line(file)):
        rest += line
        quotes += line.count(quote)
    return bytes(rest)


@contextmanager
def counting_from(row: int) -> Iterator[None]:
    """Tells what Arrow finds wrong in a block whose first row is `row`."""
    try:
        yield
    except pa.ArrowInvalid as error:
        raise FileFormatError(f"{error}" + (f", counted from row {row} on" if row else "")) from error
