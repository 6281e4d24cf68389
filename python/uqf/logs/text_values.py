"""What text stands for: numbers plain and messy, truth, nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

_PLAIN = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
_COMMA = r"[-+]?[0-9]+(\.[0-9]{3})*,[0-9]+"
_THOUSANDS = r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?"
_SIGN = r"[$€£¥₹₽]|USD|EUR|GBP|CHF|JPY"
_ANY = rf"({_PLAIN}|{_COMMA}|{_THOUSANDS})"

#: Kinds of text, of which a value has the first that fits.
KINDS = {
    "whole": r"^\s*[-+]?[0-9]{1,18}\s*$",
    "number": rf"^\s*({_PLAIN}|[-+]?(?i:nan|inf|infinity))\s*$",
    "thousands": rf"^\s*{_THOUSANDS}\s*$",
    "decimal comma": rf"^\s*{_COMMA}\s*$",
    "currency": rf"^\s*[-+(]?\s*(({_SIGN})\s*{_ANY}|{_ANY}\s*({_SIGN}))\s*\)?\s*$",
    "truth": r"^\s*(?i:true|false)\s*$",
    "yes or no": r"^\s*(?i:yes|no|y|n|t|f|on|off)\s*$",
    "nothing": r"^\s*(?i:|na|n/a|null|none|missing|-|\?)\s*$",
}

#: A comma that cannot stand between thousands, and one that must.
DECIMAL_COMMA = r"^[^0-9]*0[0-9]*,|,([0-9]{1,2}|[0-9]{4,})[^0-9]*$"
THOUSANDS_COMMA = r",[0-9]{3}(,[0-9]{3}|\.)"

#: Kinds that are numbers, the plain ones first.
NUMBERS = ("whole", "number", "thousands", "decimal comma", "currency")
MESSY = ("thousands", "decimal comma", "currency")


@dataclass
class TextColumn:
    """How often every kind of text occurs in a column, and where it begins to."""

    counts: Counter[str] = field(default_factory=Counter)
    rows: dict[str, list[int]] = field(default_factory=dict)
    """The first rows of every kind."""
    examples: dict[str, str] = field(default_factory=dict)
    comma_is_decimal: bool = False
    """Whether 1,234 is a bit more than one: other values have other than three digits there."""
    comma_is_thousands: bool = False
    """Whether 1,234 is more than a thousand: other values have a second comma, or a point behind."""

    def take(self, values: pa.ChunkedArray, first_row: int) -> None:
        """Adds the text of one table."""
        left = pc.is_valid(values)
        self._add("missing", pc.invert(left), values, first_row)
        for kind, pattern in KINDS.items():
            fits = pc.and_(left, pc.fill_null(pc.match_substring_regex(values, pattern), False))
            self._add(kind, fits, values, first_row)
            if kind in MESSY:
                fitting = pc.filter(values, fits)
                decimal = pc.match_substring_regex(fitting, DECIMAL_COMMA)
                thousands = pc.match_substring_regex(fitting, THOUSANDS_COMMA)
                self.comma_is_decimal |= kind != "thousands" and bool(pc.any(decimal).as_py())
                self.comma_is_thousands |= bool(pc.any(thousands).as_py())
            left = pc.and_not(left, fits)
        self._add("name", left, values, first_row)

    def _add(self, kind: str, fits: pa.ChunkedArray, values: pa.ChunkedArray, first_row: int) -> None:
        count = pc.sum(fits).as_py() or 0
        if count:
            places = pc.indices_nonzero(fits)[:3].to_pylist()
            self.counts[kind] += count
            self.examples.setdefault(kind, values[places[0]].as_py())
            known = self.rows.setdefault(kind, [])
            known += [first_row + place for place in places][: 3 - len(known)]

    def among(self, *kinds: str) -> bool:
        """Whether every value that is there is of one of these kinds, and there is one."""
        found = {kind for kind in self.counts if kind != "missing"}
        return bool(found) and found <= set(kinds)

    def type_of(self) -> pa.DataType:
        """The type of Arrow that the text can be read as, without guessing."""
        if self.among("whole"):
            return pa.int64()
        if self.among("whole", "number"):
            return pa.float64()
        return pa.bool_() if self.among("truth") else pa.string()


def numbers_from_text(values: pa.ChunkedArray, comma_is_decimal: bool) -> pa.ChunkedArray:
    """Numbers, however they were written; missing where there is none."""
    text = pc.utf8_trim_whitespace(values)
    negative = pc.starts_with(text, "(")
    text = pc.replace_substring_regex(text, rf"({_SIGN}|[()\s])", "")
    if comma_is_decimal:
        text = pc.replace_substring(pc.replace_substring(text, ".", ""), ",", ".")
    else:
        text = pc.replace_substring(text, ",", "")
    fits = pc.match_substring_regex(text, KINDS["number"])
    numbers = pc.if_else(fits, text, None).cast(pa.float64())
    return pc.if_else(negative, pc.negate(numbers), numbers)


def truth_from_text(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """True and false, however they were written; missing where there is neither."""
    text = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    true = pc.is_in(text, value_set=pa.array(["true", "yes", "y", "t", "on", "1"]))
    false = pc.is_in(text, value_set=pa.array(["false", "no", "n", "f", "off", "0"]))
    return pc.if_else(pc.or_(true, false), true, None)
