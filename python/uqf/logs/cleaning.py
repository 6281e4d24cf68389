"""Repairs of a log that need no guessing, and what they cost."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.errors import FileFormatError
from uqf.logs.diagnosis import Diagnosis
from uqf.logs.rows import Rows, array, first_of_each, is_text
from uqf.logs.suspicions import spellings
from uqf.logs.tables import changed
from uqf.logs.times import ranks


def cleaned(diagnosis: Diagnosis) -> tuple[Rows, list[str]]:
    """(the rows of a log as they should have been written, what was left out, cut or merged, in words).

    Numbers and truth are read however they were written, each column in one notation. Rows without an episode or a
    time are left out, and so is every further row of the same episode and time. An episode ends before its first step
    without action, reward or probability.
    """
    if diagnosis.unreadable:
        raise FileFormatError(str(diagnosis.unreadable[0]))
    rows, names, repairs = _readable(diagnosis), diagnosis.layout.names, list[str]()
    missing = np.zeros(len(rows), np.bool_)
    for role in ("episode", "time"):
        if role in names:
            missing |= _is_missing(rows, role)
    if missing.any():
        repairs.append(f"{_count(missing.sum(), 'row')} without episode or time left out")
        rows = rows.take(np.flatnonzero(~missing))
    if "time" in names and len(rows):
        steps = array(rows.ids().dictionary_encode().indices) * np.int64(len(rows) + 1)
        first = first_of_each(steps + ranks(rows.times()))
        if not first.all():
            repairs.append(f"{_count((~first).sum(), 'duplicate step')} left out")
            rows = rows.take(np.flatnonzero(first))
        rows = rows.grouped()
    kept, cut = _before_gaps(rows)
    repairs += cut
    kept, merged = _in_one_spelling(kept, kept.layout.known_names(diagnosis.codebook))
    repairs += merged
    for name in (names["action"], *diagnosis.layout.seen):
        text = diagnosis.text.get(name)
        if text is not None and text.has_names and text.numbers.any():
            count = int(text.counts[text.numbers].sum())
            repairs.append(f"{_count(count, 'number')} in column {name!r} taken for names")
        elif text is not None and text.words["error"].any():
            count = int(text.counts[text.words["error"]].sum())
            repairs.append(f"{_count(count, 'word')} among the numbers of column {name!r} taken for missing")
    return kept, repairs


def _readable(diagnosis: Diagnosis) -> Rows:
    """The rows with numbers and truth as such."""
    table, names = diagnosis.rows.table, diagnosis.layout.names
    for name, text in diagnosis.text.items():
        if name == names.get("terminated"):
            values = text.as_truth()
        elif name in (names["reward"], names.get("behavior_prob")) or (
            not text.has_names and text.numbers.any() and not text.plain[:-1].all()
        ):
            numbers = text.as_numbers(diagnosis.marks[name] or ".")
            gone = np.isnan(numbers) & ~text.rows(text.numbers)
            # Codes of actions stay codes.
            whole = name == names["action"] and text.whole()
            values = pa.array(np.where(gone, 0, numbers).astype(np.int64) if whole else numbers, mask=gone)
        else:
            continue
        table = changed(table, name, values)
    return Rows(table, diagnosis.layout, diagnosis.rows.first, diagnosis.rows.places)


def _is_missing(rows: Rows, role: str) -> NDArray[np.bool_]:
    column = rows.table.column(rows.layout.names[role]).combine_chunks()
    return array(column.is_null(nan_is_null=True)).astype(np.bool_)


def _before_gaps(rows: Rows) -> tuple[Rows, list[str]]:
    """The steps before the first gap of their episode."""
    names, gap = rows.layout.names, np.zeros(len(rows), np.bool_)
    for role in ("action", "reward", "behavior_prob"):
        if role in names:
            gap |= _is_missing(rows, role)
            values = rows.table.column(names[role]).combine_chunks()
            if pa.types.is_floating(values.type):
                gap |= np.isinf(array(values))
    if not gap.any():
        return rows, []
    starts = rows.starts
    gaps = np.cumsum(gap)
    lengths = np.diff(np.append(starts, len(rows)))
    keep: NDArray[np.bool_] = gaps - np.repeat(gaps[starts] - gap[starts], lengths) == 0
    left = np.add.reduceat(keep.astype(np.int64), starts)
    cut, gone = (left < lengths).sum(), (left == 0).sum()
    wholly = f", {gone} of them wholly" if gone else ""
    return rows.take(np.flatnonzero(keep)), [
        f"{_count(cut, 'episode')} of {len(starts)} cut before a step without action, reward or probability"
        f"{wholly}: {_count((~keep).sum(), 'step')} lost"
    ]


def _in_one_spelling(rows: Rows, known: dict[str, tuple[str, ...]]) -> tuple[Rows, list[str]]:
    """The rows with every name in the known or the commonest of its spellings."""
    table, merged = rows.table, list[str]()
    for name in dict.fromkeys((rows.layout.names["action"], *rows.layout.seen)):
        values = rows.values(name, may_miss=True)
        others = spellings(values, known.get(name, ())) if is_text(values.type) else {}
        if others:
            places = pc.index_in(values, value_set=pa.array(list(others), pa.string()))
            common = pa.array(list(others.values()), pa.string()).take(places)
            table = changed(table, name, pc.coalesce(common, values))
            count = len(values) - places.null_count
            merged.append(f"{_count(count, 'name')} in column {name!r} in another spelling")
    return Rows(table, rows.layout, rows.first, rows.places), merged


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
