"""What the compressed parts of an Arrow file say that they expand to, before anything is expanded."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from uqf.errors import FileFormatError

#: At the end of a file: its footer, the footer's length, and these bytes.
MAGIC = b"ARROW1"

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
    size = file.seek(0, 2)
    file.seek(size - 10)
    length = _number("<i", file.read(4), 0)
    file.seek(max(0, size - 10 - length))
    footer = Table.root(file.read(length))
    blocks = (place for index in (DICTIONARIES, BATCHES) for place in footer.structs(index, BLOCK))
    return sum(_expanded(file, *struct.unpack_from("<qi4xq", footer.content, place)) for place in blocks)


def _expanded(file: BinaryIO, offset: int, metadata: int, body: int) -> int:
    """What the buffers of a batch expand to."""
    file.seek(max(0, offset))
    prefix = file.read(8)
    # Older files have no mark before the length of the metadata.
    marked = prefix[:4] == b"\xff\xff\xff\xff"
    file.seek(max(0, offset) + (8 if marked else 4))
    message = Table.root(file.read(max(0, metadata)))
    batch, kind = message.table(HEADER), message.field(HEADER_TYPE)
    if batch is not None and kind is not None and message.content[kind] == DICTIONARY_BATCH:
        batch = batch.table(DATA)
    if batch is None or batch.field(COMPRESSION) is None:
        return max(0, body)
    total = 0
    for place in batch.structs(BUFFERS, BUFFER):
        begin, length = struct.unpack_from("<qq", batch.content, place)
        if length > 0:
            file.seek(max(0, offset + metadata + begin))
            # A buffer begins with its length once expanded, −1 if it is not compressed.
            stated = _number("<q", file.read(8), 0)
            total += length if stated < 0 else stated
    return total


def _number(kind: str, content: bytes, place: int) -> int:
    try:
        return int(struct.unpack_from(kind, content, place)[0])
    except struct.error:
        raise FileFormatError("the file is damaged: its own list of parts points beyond its end") from None
