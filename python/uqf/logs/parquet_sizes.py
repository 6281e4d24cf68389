"""How many values the columns of a Parquet file have and between which limits, by its footer.

pyarrow's own reader of the metadata of a column ends the process where they are damaged.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from uqf.errors import FileFormatError

#: Fields of the structs of a footer: see parquet.thrift of Apache Parquet.
GROUPS, COLUMNS, METADATA = 4, 1, 3
TYPE, PATH, VALUES, STATISTICS = 1, 3, 5, 12
NULLS, HIGHEST, LOWEST = 3, 5, 6

#: How numbers are written, by the type of a column.
NUMBERS = {1: "<i", 2: "<q", 4: "<f", 5: "<d"}

#: Kinds of values in Thrift's compact protocol.
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12

#: Structs within structs, which footers have few of.
MAX_DEPTH = 30


class Chunk(NamedTuple):
    """A column in a group of rows: values in it, and their limits where these are numbers and none is missing."""

    column: str
    values: int
    limits: tuple[float, float] | None


def chunks_of(file: BinaryIO) -> Iterator[Chunk]:
    """Every column of every group of rows; a list is stored under the name of its column."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    length = int.from_bytes(file.read(4), "little")
    file.seek(max(0, size - 8 - length))
    try:
        for group in _Thrift(file.read(length)).struct()[GROUPS]:
            for column in group[COLUMNS]:
                known = column[METADATA]
                yield Chunk(known[PATH][0].decode(), int(known[VALUES]), _limits(known))
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError, struct.error):
        raise FileFormatError("the footer of the file is damaged") from None


def _limits(known: dict[int, Any]) -> tuple[float, float] | None:  # Any: whatever a field holds
    kind, said = NUMBERS.get(known[TYPE]), known.get(STATISTICS, {})
    if kind is None or said.get(NULLS) != 0 or LOWEST not in said or HIGHEST not in said:
        return None
    low, high = (float(struct.unpack(kind, said[field])[0]) for field in (LOWEST, HIGHEST))
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


class _Thrift:
    """Bytes of Thrift's compact protocol, read from the beginning."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:  # Any: whatever a field holds
        """Values by the number of their field."""
        if depth > MAX_DEPTH:
            raise IndexError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:  # Any: as above
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind in (I16, I32, I64):
            return self._whole()
        if kind in (DOUBLE, BINARY):
            size = 8 if kind == DOUBLE else self._unsigned()
            self.place += size
            return self.content[self.place - size : self.place]
        if kind in (LIST, SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            if count > len(self.content) - self.place:
                raise IndexError
            return [self._value(head & 15, depth) for _ in range(count)]
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise IndexError

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _unsigned(self) -> int:
        number = 0
        for shift in range(0, 64, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise IndexError

    def _whole(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
