"""A log with what can be repaired without guessing repaired."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.errors import FileFormatError
from uqf.logs.columns import Layout, Source
from uqf.logs.grouping import in_order
from uqf.logs.problems import Diagnosis
from uqf.logs.text_values import MESSY, NUMBERS, numbers_from_text, truth_from_text
from uqf.logs.values import is_text


class CleanSource:
    """What another source gives, repaired; one row per step.

    Numbers and truth are read however they were written. Rows without an episode or a time are left out, and so is
    every further row of the same episode and time. An episode ends before its first step without action or reward.
    """

    def __init__(self, source: Source, layout: Layout) -> None:
        if not layout.per_step:
            raise FileFormatError("clean: only logs with one row per step can be cleaned")
        self.source, self.layout = source, layout
        self.text = Diagnosis.of(source, layout).text

    @property
    def schema(self) -> pa.Schema:
        """Columns and types after the repair."""
        kinds = [(name, pa.array([], self.source.schema.field(name).type)) for name in self.layout.columns]
        return pa.schema([(name, self._repaired(values, name).type) for name, values in kinds])

    def tables(self, rows: int, names: list[str]) -> Iterator[pa.Table]:
        """The named columns, at most `rows` rows at a time."""
        tables: Iterator[pa.Table] = (
            self._readable(table) for table in self.source.tables(rows, self.layout.columns)
        )
        if "time" in self.layout.names:
            tables = iter([in_order(self._without_duplicates(pa.concat_tables(tables)), self.layout)])
        last, cut = None, False
        for table in tables:
            if table.num_rows == 0:
                continue
            keep, last, cut = self._before_gaps(table, last, cut)
            kept = table.filter(pa.array(keep)).select(names)
            for first in range(0, kept.num_rows, rows):
                yield kept.slice(first, rows)

    def _repaired(self, values: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """One column as it should have been written."""
        names, text = self.layout.names, self.text.get(name)
        if not is_text(values.type) or text is None:
            return values
        if name in (names["reward"], names.get("behavior_prob")):
            return numbers_from_text(values, text.comma_is_decimal)
        if name == names.get("terminated"):
            return truth_from_text(values)
        action = name == names["action"]
        messy = any(text.counts[kind] for kind in (*MESSY, "nothing"))
        if (
            (action or name in self.layout.observed)
            and messy
            and text.among(*NUMBERS, "nothing")
            and not text.among("nothing")
        ):
            numbers = numbers_from_text(values, text.comma_is_decimal)
            # Codes of actions stay codes.
            return numbers.cast(pa.int64()) if action and text.among("whole", "nothing") else numbers
        return values

    def _readable(self, table: pa.Table) -> pa.Table:
        columns = [self._repaired(table.column(name).combine_chunks(), name) for name in table.column_names]
        table = pa.table(columns, names=table.column_names)
        for role in ("episode", "time"):
            if role in self.layout.names:
                gone = table.column(self.layout.names[role]).combine_chunks().is_null(nan_is_null=True)
                table = table.filter(pc.invert(gone))
        return table

    def _without_duplicates(self, table: pa.Table) -> pa.Table:
        names = self.layout.names
        steps = zip(*(table.column(names[role]).to_pylist() for role in ("episode", "time")), strict=True)
        first: dict[object, int] = {}
        for place, step in enumerate(steps):
            first.setdefault(step, place)
        return table.take(pa.array(list(first.values()), pa.int64()))

    def _before_gaps(
        self, table: pa.Table, last: object, cut: bool
    ) -> tuple[NDArray[np.bool_], object, bool]:
        """(rows to keep, the last episode, whether it was cut); given the last episode of the table before."""
        names = self.layout.names
        gap = np.zeros(table.num_rows, np.bool_)
        for role in ("action", "reward", "behavior_prob"):
            if role in names:
                values = table.column(names[role]).combine_chunks()
                gap |= values.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
                if pa.types.is_floating(values.type):
                    gap |= np.isinf(values.to_numpy(zero_copy_only=False))
        ids = table.column(names["episode"]).combine_chunks()
        if cut and ids[0].as_py() == last:
            gap[0] = True
        begins = np.concatenate([[True], pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)])
        gaps = np.cumsum(gap)
        before = gaps - gap
        since = gaps - before[np.maximum.accumulate(np.where(begins, np.arange(len(gap)), 0))]
        return since == 0, ids[-1].as_py(), bool(since[-1] > 0)
