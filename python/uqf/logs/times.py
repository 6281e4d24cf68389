"""Times of a log, however they are written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.errors import FileFormatError

#: Ways to write a date beside 2024-05-17 12:30:00.
WRITTEN = tuple(
    f"{date}{clock}"
    for date in ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d")
    for clock in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
)

#: What says how far a clock is from that of Greenwich.
ZONE = r"[0-9](Z|[+-][0-9]{2}(:?[0-9]{2})?)$"


def times_of(text: pa.Array, name: str) -> pa.Array:
    """Dates of text, in one way of writing; with zones they are those of Greenwich."""
    coded = text.dictionary_encode()
    return _parsed(coded.dictionary.cast(pa.string()), name).take(coded.indices)


def _parsed(distinct: pa.Array, name: str) -> pa.Array:
    zoned = pc.sum(pc.match_substring_regex(pc.utf8_trim_whitespace(distinct), ZONE + "|^$")).as_py() or 0
    clocks = pc.sum(pc.match_substring(distinct, ":")).as_py() or 0
    try:
        if zoned and clocks:
            return distinct.cast(pa.timestamp("us", "UTC"))
        return distinct.cast(pa.timestamp("us"))
    except pa.ArrowInvalid as problem:
        if zoned and clocks and zoned < len(distinct):
            raise FileFormatError(
                f"column {name!r}: {zoned} of {len(distinct)} times have a zone and the others have none; write it "
                "with all of them, or with none"
            ) from None
        read = [
            times
            for form in WRITTEN
            if not (times := pc.strptime(distinct, form, "us", error_is_null=True)).null_count
        ]
        if len(read) == 1 or (read and all(one.equals(read[0]) for one in read)):
            return read[0]
        ways = "dates that can be read in two ways, day or month first" if read else f"no time ({problem})"
        raise FileFormatError(
            f"column {name!r} holds text that is {ways}: give numbers or dates such as 2024-05-17 12:30:00"
        ) from None


def ranks(times: pa.Array) -> NDArray[np.int64]:
    """The place of every time among the different ones, the earliest first; missing ones have −1."""
    coded = times.dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return np.asarray(rank[pc.fill_null(coded.indices.cast(pa.int64()), len(order)).to_numpy()])
