"""What the compressed parts of an Arrow file say that they expand to, before anything is expanded."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from uqf.errors import FileFormatError

DAMAGED = "the file is damaged: its own list of parts points beyond its end"

#: Fields of the tables of Arrow's format, by their place: see format/File.fbs, Message.fbs of Apache Arrow.
DICTIONARIES, BATCHES = 2, 3
HEADER_TYPE, HEADER = 1, 2
DICTIONARY_BATCH, DATA = 2, 1
BUFFERS, COMPRESSION = 2, 3

#: Bytes of a Block (offset, length of the metadata, length of the body) and of a Buffer (offset, length).
BLOCK, BUFFER = 24, 16


class Table:
    """A table of a flatbuffer: fields are found by their places, and may be missing."""

    def __init__(self, content: bytes, place: int) -> None:
        self.content, self.place = content, place

    @classmethod
    def root(cls, content: bytes) -> Table:
        return cls(content, _number("<I", content, 0))

    def field(self, index: int) -> int | None:
        """Where a field lies."""
        fields = self.place - _number("<i", self.content, self.place)
        if 4 + 2 * index >= _number("<H", self.content, fields):
            return None
        offset = _number("<H", self.content, fields + 4 + 2 * index)
        return self.place + offset if offset else None

    def table(self, index: int) -> Table | None:
        """A field that is a table."""
        place = self.field(index)
        return None if place is None else Table(self.content, place + _number("<I", self.content, place))

    def structs(self, index: int, size: int) -> Iterator[int]:
        """Where the structs of a field lie that is a list of them."""
        place = self.field(index)
        if place is not None:
            begin = place + _number("<I", self.content, place)
            count = _number("<I", self.content, begin)
            if count * size > len(self.content):
                raise FileFormatError(f"a list of {count} entries, more than its bytes")
            yield from range(begin + 4, begin + 4 + count * size, size)


def declared_bytes(file: BinaryIO) -> int:
    """What all buffers of the file expand to, those of dictionaries included."""
    # At the end stand the footer, its length, and six bytes of magic.
    end = file.seek(0, 2) - 10
    length = _number("<i", _bytes(file, end, 4), 0)
    footer = Table.root(_bytes(file, end - length, length))
    blocks = (place for index in (DICTIONARIES, BATCHES) for place in footer.structs(index, BLOCK))
    return sum(_expanded(file, *_numbers("<qi4xq", footer.content, place)) for place in blocks)


def _expanded(file: BinaryIO, offset: int, metadata: int, body: int) -> int:
    """What the buffers of a batch expand to."""
    # Older files have no mark before the length of the metadata.
    begins = offset + (8 if _bytes(file, offset, 4) == b"\xff\xff\xff\xff" else 4)
    message = Table.root(_bytes(file, begins, metadata))
    batch, kind = message.table(HEADER), message.field(HEADER_TYPE)
    if batch is not None and kind is not None and _number("<B", message.content, kind) == DICTIONARY_BATCH:
        batch = batch.table(DATA)
    if batch is None or batch.field(COMPRESSION) is None:
        return max(0, body)
    total = 0
    for place in batch.structs(BUFFERS, BUFFER):
        begin, length = _numbers("<qq", batch.content, place)
        if length > 0:
            # A buffer begins with its length once expanded, −1 if it is not compressed.
            stated = _number("<q", _bytes(file, offset + metadata + begin, 8), 0)
            total += length if stated < 0 else stated
    return total


def _bytes(file: BinaryIO, place: int, count: int) -> bytes:
    if not 0 <= place <= file.seek(0, 2) or count < 0:
        raise FileFormatError(DAMAGED)
    file.seek(place)
    return file.read(count)


def _numbers(kind: str, content: bytes, place: int) -> tuple[int, ...]:
    try:
        return struct.unpack_from(kind, content, place)
    except struct.error:
        raise FileFormatError(DAMAGED) from None


def _number(kind: str, content: bytes, place: int) -> int:
    return _numbers(kind, content, place)[0]
