"""Rows of a log put together to whole episodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.errors import FileFormatError
from uqf.logs.columns import Layout
from uqf.logs.values import ids_of, is_text, values_of
from uqf.types import Raw


def lengths_of(table: pa.Table, layout: Layout, first_row: int = 0) -> NDArray[np.int64]:
    """Number of steps of every episode of a table that holds whole ones only."""
    if layout.per_step:
        return np.diff(np.append(_starts(table, layout), table.num_rows))
    return _list_lengths(table, layout, first_row)


def _list_lengths(table: pa.Table, layout: Layout, first_row: int) -> NDArray[np.int64]:
    lengths = {}
    single = [layout.names[role] for role in ("action", "reward", "behavior_prob") if role in layout.names]
    for name in [*single, *layout.observation]:
        column = table.column(name).combine_chunks()
        lengths[name] = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    wanted: NDArray[np.int64] = lengths[layout.names["action"]].astype(np.int64)
    for name, given in lengths.items():
        wrong = (given != wanted) | (given == 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise FileFormatError(
                f"column {name!r}, row {first_row + row}: {given[row]} entries, where column "
                f"{layout.names['action']!r} has {wanted[row]}; all must be equal and positive"
            )
    return wanted


def _starts(table: pa.Table, layout: Layout) -> NDArray[np.int64]:
    """Rows at which the episode id changes, the first row among them."""
    ids = ids_of(table, layout.names["episode"])
    changes = pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def whole_episodes(tables: Iterable[pa.Table], layout: Layout) -> Iterator[tuple[int, pa.Table]]:
    """(first row, table) with whole episodes only: an episode that goes on in the next table waits for it.

    With a column for the time, all rows are held and sorted. Otherwise an id that comes back after another episode
    is refused; for that, ids that do not count 0, 1, 2, … are remembered, the only thing that grows with the data.
    """
    if not layout.per_step:
        row = 0
        for table in tables:
            yield row, table
            row += table.num_rows
        return
    if "time" in layout.names:
        tables = [in_order(pa.concat_tables(tables), layout)]
    finished = _Finished()
    waiting, row = None, 0
    for part in tables:
        table = part if waiting is None else pa.concat_tables([waiting, part])
        if table.num_rows == 0:
            continue
        starts = _starts(table, layout)
        cut = int(starts[-1])
        _finish(table, layout, starts[:-1], row, finished)
        if cut:
            yield row, table.slice(0, cut)
        waiting, row = table.slice(cut), row + cut
    if waiting is not None:
        _finish(waiting, layout, np.zeros(1, np.int64), row, finished)
        yield row, waiting


def in_order(table: pa.Table, layout: Layout) -> pa.Table:
    """The rows by episode, in the order in which episodes begin to appear, and by time within each."""
    if table.num_rows == 0:
        return table
    name = layout.names["time"]
    keys = pa.table({"episode": episode_numbers(table, layout), "time": times_of(table, name)})
    places = pc.sort_indices(keys, sort_keys=[("episode", "ascending"), ("time", "ascending")])
    ordered = keys.take(places)
    same = np.ones(table.num_rows - 1, np.bool_)
    for key in ("episode", "time"):
        values = ordered.column(key).combine_chunks()
        same &= pc.equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    if same.any():
        first, second = places[int(np.argmax(same))], places[int(np.argmax(same)) + 1]
        raise FileFormatError(
            f"column {name!r}: rows {first} and {second} are of the same episode and time, and {int(same.sum())} rows "
            "in all repeat a step; remove them, or read with clean=True (--clean), which keeps the first of each"
        )
    return table.take(places)


def episode_numbers(table: pa.Table, layout: Layout) -> pa.Array:
    """The number of the episode of every row, in the order in which they begin to appear."""
    return ids_of(table, layout.names["episode"]).dictionary_encode().indices


def times_of(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Times that can be sorted."""
    values = values_of(table, name)
    if is_text(values.type):
        try:
            return values.cast(pa.timestamp("us"))
        except pa.ArrowInvalid as problem:
            raise FileFormatError(
                f"column {name!r} holds text that is no time ({problem}): give numbers or dates such as "
                "2024-05-17 12:30:00"
            ) from None
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        raise FileFormatError(f"column {name!r}: a time is missing")
    return values


class _Finished:
    """Ids of finished episodes. Those that count 0, 1, 2, … take no memory."""

    def __init__(self) -> None:
        self.counted = 0
        self.others: set[object] = set()

    def adds(self, identity: Raw) -> bool:
        """Whether the id is new; it is finished from now on."""
        if identity == self.counted or identity == str(self.counted):
            self.counted += 1
            return True
        try:
            number = int(identity)
        except (TypeError, ValueError, OverflowError):
            number = -1
        if (0 <= number < self.counted and identity in (number, str(number))) or identity in self.others:
            return False
        self.others.add(identity)
        return True


def _finish(
    table: pa.Table, layout: Layout, starts: NDArray[np.int64], row: int, finished: _Finished
) -> None:
    ids = values_of(table, layout.names["episode"]).take(pa.array(starts)).to_pylist()
    for start, identity in zip(starts, ids, strict=True):
        if not finished.adds(identity):
            raise FileFormatError(
                f"column {layout.names['episode']!r}, row {row + start}: episode {identity!r} comes back "
                "after another one; sort the log by episode, or give every episode an id of its own"
            )
