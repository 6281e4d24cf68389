"""What the answers on the way to a cell say about a column: in words, and as a point in the cell."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from uqf.coding.column_numbers import known_names, number
from uqf.coding.raw_columns import OTHER, Column


@dataclass(frozen=True)
class Answers:
    """About one column: below `high`, not below `low`, equal to `name` or to none of `others`, missing or present."""

    column: Column
    low: float = -math.inf
    high: float = math.inf
    name: str | None = None
    others: frozenset[str] = frozenset()
    missing: bool = False
    present: bool = False

    def after(self, cut: float | str | None, yes: bool, missing_is_yes: bool) -> Answers:
        """The same after one more answer, of the parts of a question."""
        if cut is None:
            return replace(self, missing=self.missing or yes, present=self.present or not yes)
        known = replace(self, present=self.present or yes != missing_is_yes)
        if isinstance(cut, str):
            return replace(known, name=cut) if yes else replace(known, others=self.others | {cut})
        return replace(known, high=min(self.high, cut)) if yes else replace(known, low=max(self.low, cut))

    def __str__(self) -> str:
        name, low, high = self.column.name, self._shown(self.low), self._shown(self.high)
        if self.missing:
            return f"{name} missing"
        if self.name is not None:
            return f"{name} = {self.name}"
        if self.others:
            left = [one for one in self.column.names if one not in self.others]
            short = 1 <= len(left) <= len(self.others)
            text = f"{name} = {' or '.join(left)}" if short else f"{name} ≠ {', '.join(sorted(self.others))}"
        elif self.low > -math.inf:
            text = f"{low} ≤ {name} < {high}" if self.high < math.inf else f"{name} ≥ {low}"
        elif self.high < math.inf:
            text = f"{name} < {high}"
        else:
            return f"{name} not missing" if self.present else ""
        return text if self.present or not self.column.has_missing else f"{text} or missing"

    def _shown(self, limit: float) -> str:
        if self.column.kind == "date" and math.isfinite(limit):
            return datetime.fromtimestamp(limit, UTC).strftime("%Y-%m-%d %H:%M:%S")
        return f"{limit:.6g}"

    def point(self, spread: float) -> float:
        """The middle of the cell, or `spread` beyond its cut where it has no other end; NaN where it is missing."""
        if self.missing or self.low >= self.high:
            return math.nan
        if self.column.kind == "category":
            left = [name for name in known_names(self.column) if name not in self.others]
            return number(self.column, self.name or (left[0] if left else OTHER))
        ends = [end for end in (self.low + spread, self.high - spread) if math.isfinite(end)]
        return sum(ends) / len(ends) if ends else 0.0
