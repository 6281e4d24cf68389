"""Rows of a log: values of its columns, one per step, and the episodes that they make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.errors import FileFormatError
from uqf.logs.layout import Layout, is_list
from uqf.logs.times import ranks, times_of
from uqf.types import AnyArray, Integers, Raw


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of Arrow holds names."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether a type of Arrow holds numbers."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def array(values: pa.Array) -> AnyArray:
    """As NumPy has it: None, NaN or NaT where a value is missing."""
    plain = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    if plain and isinstance(values, pa.Array) and values.null_count == 0:
        return np.from_dlpack(values)  # the other way loads pandas where there is one: 70 MB
    return np.asarray(values.to_numpy(zero_copy_only=False))


def whole_numbers(values: pa.Array) -> NDArray[np.int64]:
    """As NumPy has them, 0 where one is missing."""
    known = values.cast(pa.int64())
    return array(known.fill_null(0) if known.null_count else known)


@dataclass(frozen=True)
class Rows:
    """An Arrow table, which of its columns hold what, and where its rows stand in the log."""

    table: pa.Table
    layout: Layout
    first: int = 0
    """The place of the first row in the log."""
    places: NDArray[np.int64] | None = None
    """The place of every row, where rows were left out or sorted."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def place(self, row: Integers | int) -> int:
        """Where a row stands in the log, counted from 0."""
        return self.first + int(row if self.places is None else self.places[row])

    def take(self, rows: Integers) -> Rows:
        """Some of the rows, in this order."""
        places = np.asarray(rows, np.int64) if self.places is None else self.places[rows]
        return replace(self, table=self.table.take(pa.array(rows)), places=places)

    # --- values, one per step ---

    def values(self, name: str, *, may_miss: bool = False) -> pa.Array:
        """One value per step; without `may_miss` a missing one is refused."""
        column = self.table.column(name).combine_chunks()
        if column.null_count and (not may_miss or is_list(column.type)):
            row = self.place(int(np.argmax(array(column.is_null()))))
            raise FileFormatError(f"column {name!r}, row {row}: the value is missing")
        values = column.flatten() if is_list(column.type) else column
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if values.null_count and not may_miss:
            raise FileFormatError(f"column {name!r}: a value is missing inside a list")
        return values.cast(pa.string()) if is_text(values.type) else values

    def codes(self, name: str, *, may_miss: bool = False) -> pa.Array:
        """The same, with whole numbers as such if all are, also those that are written 0.0, 1.0."""
        values = self.values(name, may_miss=may_miss)
        if pa.types.is_floating(values.type) and not values.null_count:
            numbers = array(values)
            if (np.abs(numbers) < 2.0**53).all() and (numbers == np.floor(numbers)).all():
                return values.cast(pa.int64())
        return values

    def numbers(self, name: str) -> NDArray[np.float64]:
        """One number per step."""
        values = self.values(name)
        if not is_number(values.type):
            raise FileFormatError(f"column {name!r} holds {_shown(values)}: give numbers")
        return np.ascontiguousarray(array(values.cast(pa.float64())), np.float64)

    def rewards(self) -> NDArray[np.float64]:
        """One per step; costs count as negative ones."""
        numbers = self.numbers(self.layout.names["reward"])
        return 0.0 - numbers if self.layout.costs else numbers

    def actions(self) -> pa.Array:
        """The actions, one per step: names, codes, or finite numbers if these are cut into cells."""
        name = self.layout.names["action"]
        if self.layout.action_bins is None:
            return self.codes(name)
        values = self.values(name)
        if not is_number(values.type):
            raise FileFormatError(
                f"column {name!r} holds {_shown(values)}: only numbers are cut into cells; leave out action_bins, or "
                "give clean=True (--clean) if they are numbers written otherwise"
            )
        values = values.cast(pa.float64()) if pa.types.is_decimal(values.type) else values
        finite = np.isfinite(array(values).astype(np.float64))
        self.refuse(name, array(values), finite, "finite number")
        return values

    def seen(self, name: str, *, may_miss: bool = False) -> pa.Array:
        """What came back after every action, in one column of the observation."""
        values = self.codes(name, may_miss=may_miss)
        return values.take(pa.array(self._following)) if self.layout.before else values

    def seen_first(self, place: int, *, may_miss: bool = False) -> pa.Array | None:
        """What every episode showed before its first action, in a column of the observation; None if nothing."""
        layout = self.layout
        if layout.before:
            return self.codes(layout.observation[place], may_miss=may_miss).take(pa.array(self.offsets[:-1]))
        if not layout.first_observation:
            return None
        values = self.codes(layout.first_observation[place], may_miss=may_miss)
        return values.take(pa.array(self.starts)) if layout.per_step else values

    @cached_property
    def measured(self) -> dict[str, AnyArray]:
        """All columns of the observation as a codebook takes them, one row per step."""
        return {name: raw(self.seen(name, may_miss=True)) for name in self.layout.observation}

    @cached_property
    def measured_first(self) -> dict[str, AnyArray] | None:
        """The same of what every episode showed first; None if nothing."""
        named = enumerate(self.layout.observation)
        shown = {name: self.seen_first(place, may_miss=True) for place, name in named}
        return {name: raw(values) for name, values in shown.items() if values is not None} or None

    @cached_property
    def _following(self) -> NDArray[np.int64]:
        """The next step of the episode; the last one's own, where nothing follows."""
        last = np.repeat(self.offsets[1:] - 1, np.diff(self.offsets))
        return np.minimum(np.arange(len(last)) + 1, last)

    # --- episodes ---

    def ids(self) -> pa.Array:
        """One id of an episode per row; ids that may be the same by rounding are refused."""
        name = self.layout.names["episode"]
        values = self.values(name)
        if pa.types.is_floating(values.type):
            numbers = array(values)
            if np.isnan(numbers).any():
                row = self.place(int(np.argmax(np.isnan(numbers))))
                raise FileFormatError(f"column {name!r}, row {row}: the value is missing")
            if (np.abs(numbers) >= 2.0**53).any():
                raise FileFormatError(
                    f"column {name!r} holds {values.type} ids as large as {np.abs(numbers).max():.0f}, which cannot be "
                    "told apart: write them as whole numbers or as text"
                )
        return values

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The rows at which another episode begins; one row per step."""
        ids = self.ids()
        changes = array(pc.not_equal(ids[1:], ids[:-1]))
        return np.concatenate([[0], np.flatnonzero(changes) + 1])[: len(self)]

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Episode i is steps ``offsets[i]:offsets[i + 1]``, in rows that hold whole episodes."""
        if self.layout.per_step:
            return np.append(self.starts, len(self))
        return np.concatenate([[0], np.cumsum(self._list_lengths())])

    def _list_lengths(self) -> NDArray[np.int64]:
        names, lengths = self.layout.names, {}
        single = [names[role] for role in ("action", "reward", "behavior_prob") if role in names]
        extras = [name for name in self.layout.extras.names if not name.startswith("first_columns")]
        for name in [*single, *self.layout.observation, *extras]:
            lengths[name] = whole_numbers(pc.list_value_length(self.table.column(name).combine_chunks()))
        wanted = lengths[names["action"]]
        for name, given in lengths.items():
            wrong = (given != wanted) | (given == 0)
            if wrong.any():
                row = int(np.argmax(wrong))
                raise FileFormatError(
                    f"column {name!r}, row {self.place(row)}: {given[row]} entries, where column {names['action']!r} "
                    f"has {wanted[row]}; all must be equal and positive"
                )
        return wanted

    def where(self, step: int) -> str:
        """The place of a step in the log, in words."""
        if self.layout.per_step:
            return f"row {self.place(step)}"
        episode = int(np.searchsorted(self.offsets, step, side="right")) - 1
        return f"row {self.place(episode)}, entry {step - self.offsets[episode]}"

    def refuse(self, name: str, values: AnyArray, good: NDArray[np.bool_], wish: str) -> None:
        """Raises FileFormatError for the first step whose value is not good, if there is one."""
        if not good.all():
            step = int(np.argmin(good))
            raise FileFormatError(f"column {name!r}, {self.where(step)}: {values[step]} is no {wish}")

    def grouped(self) -> Rows:
        """The same rows with those of an episode together, sorted by time where a column has it.

        Without such a column an episode that comes back after another one is refused.
        """
        names = self.layout.names
        if len(self) == 0:
            raise FileFormatError("the log holds no episode")
        if not self.layout.per_step:
            return self
        if "time" in names:
            return self._by_time()
        ids = self.ids().take(pa.array(self.starts))
        back = ~first_of_each(array(ids.dictionary_encode().indices))
        if back.any():
            start = int(np.argmax(back))
            raise FileFormatError(
                f"column {names['episode']!r}, row {self.place(self.starts[start])}: episode {ids[start].as_py()!r} "
                "comes back after another one; sort the log by episode, or give every episode an id of its own"
            )
        return self

    def _by_time(self) -> Rows:
        """Episodes by their first time, those of the same one as they stand in the log."""
        episodes, times = array(self.ids().dictionary_encode().indices), ranks(self.times())
        began = np.full(int(episodes.max()) + 1, len(times), np.int64)
        np.minimum.at(began, episodes, times)
        order = np.lexsort((times, episodes, began[episodes]))
        same = (np.diff(episodes[order]) == 0) & (np.diff(times[order]) == 0)
        if same.any():
            pair = [self.place(row) for row in order[np.argmax(same) :][:2]]
            raise FileFormatError(
                f"column {self.layout.names['time']!r}: rows {pair[0]} and {pair[1]} are of the same episode and time, "
                f"and {int(same.sum())} rows in all repeat a step; remove them, or read with clean=True (--clean), "
                "which keeps the first of each"
            )
        return self.take(order)

    def dates(self) -> AnyArray | None:
        """When every episode began, (n_episodes,) datetime64; None if the times are no dates, or there are none."""
        times = self.times() if "time" in self.layout.names else pa.array([0])
        if not (pa.types.is_timestamp(times.type) or pa.types.is_date(times.type)):
            return None
        return array(times.take(pa.array(self.offsets[:-1])).cast(pa.timestamp("s"), safe=False))

    def times(self) -> pa.Array:
        """Times that can be sorted: numbers, or dates."""
        name = self.layout.names["time"]
        values = self.values(name)
        if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
            raise FileFormatError(f"column {name!r}: a time is missing")
        return times_of(values, name) if is_text(values.type) else values


def raw(values: pa.Array) -> AnyArray:
    """Values as a codebook takes them: an object for every name rather than for every row."""
    if not is_text(values.type):
        return array(values)
    coded = values.dictionary_encode()
    names = np.array([*coded.dictionary.to_pylist(), None], object)
    return names[array(pc.fill_null(coded.indices, len(names) - 1))]


def first_of_each(numbers: AnyArray) -> NDArray[np.bool_]:
    """Whether an entry is the first of its value."""
    first = np.zeros(len(numbers), np.bool_)
    first[np.unique(numbers, return_index=True)[1]] = True
    return first


def _shown(values: pa.Array) -> str:
    example: Raw = values[0].as_py() if len(values) else None
    return f"{values.type}, such as {example!r}"
