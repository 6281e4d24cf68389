"""What text stands for: numbers in any notation, truth, nothing, names. A column has one notation, or is refused."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.logs.rows import array

Mask = NDArray[np.bool_]

_SPACE = "[\\s\u00a0\u202f]*"
_CURRENCY = "[$€£¥₹₽]|USD|EUR|GBP|CHF|JPY"
_SIGN = "[-+\N{MINUS SIGN}]?"

#: A number with everything that may stand around it; accountants write losses in parentheses.
NUMBER = (
    rf"^{_SPACE}(?P<open>\(?){_SPACE}(?P<sign>{_SIGN}){_SPACE}(?P<before>(?:{_CURRENCY})?){_SPACE}(?P<inner>{_SIGN})"
    r"(?P<body>[0-9][0-9.,]*|[.,][0-9]+|(?i:nan|inf|infinity))(?P<exponent>(?:[eE][-+]?[0-9]+)?)"
    rf"{_SPACE}(?P<after>(?:{_CURRENCY}|%)?){_SPACE}(?P<close>\)?){_SPACE}$"
)

#: The body of a number by its decimal mark; the other mark parts thousands.
BODY = {
    ".": r"^([0-9]+(\.[0-9]*)?|\.[0-9]+|[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?|(?i:nan|inf|infinity))$",
    ",": r"^([0-9]+(,[0-9]*)?|,[0-9]+|[1-9][0-9]{0,2}(\.[0-9]{3})+(,[0-9]*)?|(?i:nan|inf|infinity))$",
}

#: Kinds of text that are no numbers; a value has the first that fits, and is a name if none does.
WORDS = {
    "truth": r"^\s*(?i:true|false)\s*$",
    "yes or no": r"^\s*(?i:yes|no|y|n|t|f|on|off)\s*$",
    "nothing": r"^\s*(?i:|na|n/a|null|none|missing|-|\?)\s*$",
}

#: Where words are so small a share of the cells of an observed column, its numbers are measurements and not names.
FEW_WORDS = 0.01

TRUE, FALSE = ("true", "yes", "y", "t", "on", "1"), ("false", "no", "n", "f", "off", "0")


class Text:
    """A column of text. What is computed is computed once for every distinct value, not for every row.

    Masks have an entry for every distinct value and a last one for missing; `rows` spreads one over the rows.
    In a column that may be `measured`, a few words among numbers are no names but errors, and stand for nothing.
    """

    def __init__(self, values: pa.Array, *, measured: bool = False) -> None:
        self.measured = measured
        coded = values.dictionary_encode()
        self.distinct = coded.dictionary.cast(pa.string())
        self.codes: NDArray[np.int64] = array(
            pc.fill_null(coded.indices.cast(pa.int64()), len(self.distinct))
        )
        self.counts = np.bincount(self.codes, minlength=len(self.distinct) + 1)

    def rows(self, mask: Mask) -> Mask:
        """The rows of some distinct values."""
        return np.asarray(mask[self.codes])

    def _mask(self, values: pa.Array) -> Mask:
        """Truth of distinct values; False where it is missing, and for what is missing."""
        return np.append(array(pc.fill_null(values, False)).astype(np.bool_), False)

    def _matches(self, pattern: str, values: pa.Array | None = None) -> Mask:
        given = self.distinct if values is None else values
        return self._mask(pc.match_substring_regex(given, pattern))

    @cached_property
    def _parts(self) -> dict[str, pa.Array]:
        """What a number is made of, by the names of `NUMBER`; missing where there is none."""
        parts = pc.extract_regex(self.distinct, NUMBER)
        return {field.name: pc.struct_field(parts, field.name) for field in parts.type}

    def _has(self, part: str, *wanted: str) -> Mask:
        return self._mask(pc.is_in(self._parts[part], value_set=pa.array(wanted)))

    @cached_property
    def fits(self) -> dict[str, Mask]:
        """Which values are numbers, by the decimal mark of the notation."""
        once = [
            self._has(one, "") | self._has(other, "")
            for one, other in (("sign", "inner"), ("before", "after"))
        ]
        alone = self._has("open", "") & self._has("close", "")
        enclosed = self._has("open", "(") & self._has("close", ")") & self.currency
        sound = once[0] & once[1] & (alone | enclosed)
        return {mark: sound & self._matches(pattern, self._parts["body"]) for mark, pattern in BODY.items()}

    @cached_property
    def currency(self) -> Mask:
        """Which values have the sign of a currency."""
        bare = self._has("before", "") & self._has("after", "", "%")
        return self._mask(pc.is_valid(self._parts["body"])) & ~bare

    @property
    def currencies(self) -> set[str]:
        """The signs that occur."""
        listed = [
            self._parts[part].filter(pa.array(self.numbers[:-1])).to_pylist() for part in ("before", "after")
        ]
        return {sign for signs in listed for sign in signs} - {"", "%"}

    @cached_property
    def percent(self) -> Mask:
        """Which values are numbers with a percent sign."""
        return self.numbers & self._has("after", "%")

    @cached_property
    def numbers(self) -> Mask:
        """Which values are numbers in some notation."""
        return np.asarray(self.fits["."] | self.fits[","])

    @cached_property
    def plain(self) -> Mask:
        """Which values are numbers as programs write them."""
        bare = self._has("open", "") & self._has("before", "") & self._has("after", "")
        ascii_sign = ~(self._has("sign", "\N{MINUS SIGN}") | self._has("inner", "\N{MINUS SIGN}"))
        return self.fits["."] & bare & ascii_sign & ~self._matches(",", self._parts["body"])

    @cached_property
    def words(self) -> dict[str, Mask]:
        """Which values are of which kind that is no number."""
        left, kinds = np.append(~self.numbers[:-1], False), {}
        for kind, pattern in WORDS.items():
            kinds[kind] = left & self._matches(pattern)
            left = left & ~kinds[kind]
        kinds["name"] = left
        strange = kinds["name"] | kinds["truth"] | kinds["yes or no"]
        few = self.counts[strange].sum() <= FEW_WORDS * self.counts[self.numbers].sum()
        if not (self.measured and few):
            return kinds | {"error": np.zeros_like(left)}
        none = np.zeros_like(left)
        return {"truth": none, "yes or no": none, "nothing": kinds["nothing"], "error": strange, "name": none}

    @cached_property
    def has_names(self) -> bool:
        """Whether a value is neither a number, nor nothing, nor an error among numbers."""
        return any(self.words[kind].any() for kind in ("name", "truth", "yes or no"))

    @property
    def decisive(self) -> dict[str, Mask]:
        """By decimal mark, the numbers that can be read in no other notation."""
        point, comma = self.fits["."], self.fits[","]
        return {".": point & ~comma, ",": comma & ~point}

    @property
    def doubtful(self) -> Mask:
        """Numbers with a comma that are other numbers in the other notation, as 1,234 is."""
        both = self.fits["."] & self.fits[","]
        return np.asarray(both & self._matches(",", self._parts["body"]))

    def unusual(self, mark: str) -> dict[str, Mask]:
        """In words what keeps numbers with this decimal mark from being plain, most telling first."""
        comma, point = (self._matches(sign, self._parts["body"]) for sign in (",", r"\."))
        return {
            "currency signs": self.currency,
            "percent signs": self.percent,
            "decimal commas" if mark == "," else "commas in thousands": comma,
            **({"points in thousands": point} if mark == "," else {}),
            "minus signs that are no hyphens": np.ones(len(comma), np.bool_),
        }

    def as_numbers(self, mark: str) -> NDArray[np.float64]:
        """One number per row, read with this decimal mark; NaN where there is none."""
        body = pc.replace_substring(self._parts["body"], "," if mark == "." else ".", "")
        body = pc.binary_join_element_wise(pc.replace_substring(body, ",", "."), self._parts["exponent"], "")
        fits = self.fits[mark]
        written = pc.if_else(pa.array(fits[:-1]), body, None).cast(pa.float64())
        numbers = np.append(array(pc.fill_null(written, np.nan)).astype(np.float64), np.nan)
        negative = self._has("open", "(")
        for part in ("sign", "inner"):
            negative ^= self._has(part, "-", "\N{MINUS SIGN}")
        numbers = np.where(negative, -numbers, numbers)
        return np.asarray(np.where(self.percent, numbers / 100.0, numbers)[self.codes])

    def whole(self) -> bool:
        """Whether all numbers are whole ones without thousands, as codes are."""
        return not (self.numbers & ~self._matches(r"^\s*[-+]?[0-9]{1,18}\s*$")).any()

    def _among(self, words: tuple[str, ...]) -> Mask:
        text = pc.utf8_lower(pc.utf8_trim_whitespace(self.distinct))
        return self._mask(pc.is_in(text, value_set=pa.array(words)))

    @property
    def is_truth(self) -> Mask:
        """Which values are true or false, however they are written."""
        return self._among(TRUE + FALSE)

    def as_truth(self) -> pa.Array:
        """True and false, one per row; missing where there is neither."""
        return pa.array(self.rows(self._among(TRUE)), mask=~self.rows(self.is_truth))
