"""Words and symbols of `.pomdp` text."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from uqf.printable import printable

#: Rows may be off by this much, as in `TabularPOMDP`.
ROW_TOLERANCE = 1e-5

#: No kind of symbol may have more members: a count costs a few bytes in the file, and much memory as names.
MAX_SYMBOLS = 2**20

SECTIONS = ("discount", "values", "states", "actions", "observations", "start", "T", "O", "R")

#: Words with a meaning of their own; none can be a name.
RESERVED = {*SECTIONS, "include", "exclude", "uniform", "identity", "reset", "reward", "cost"}

# White space only separates; `#` hides the rest of a line. A word ends at white space, a colon, a star or a comment.
_SPACE = r"(?:[ \t-\r]++|#[^\n\r]*+)*+"
_TOKEN = re.compile(_SPACE + r"([:*]|[^ \t-\r:*#]*+)")
_COLON = re.compile(_SPACE + ":")
_NUMBER = r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_NUMBERS = re.compile(rf"(?:{_NUMBER}(?![^ \t-\r:*#])[ \t-\r]*+)++")
_HALF = re.compile("[\ud800-\udfff]")


def excerpt(word: str) -> str:
    """The beginning of a word, for messages: a hostile file may have one of any length and of any characters."""
    return f"`{printable(word[:40])}{'…' if len(word) > 40 else ''}`"


def numeric(word: str) -> bool:
    """True of what can only be meant as a number; names begin otherwise."""
    return word != "" and word[0] in "0123456789+-."


def fault(name: str) -> str | None:
    """Why the format cannot express this name, if it cannot.

    Cassandra's reader takes letters, digits, `_` and `-`; files in the wild use more. Brackets, commas and quotes
    belong to dialects that mean something else by them.
    """
    if name in RESERVED:
        return "is a word of the format, not a name"
    if name == "" or numeric(name):
        return "begins like a number; a name begins with a letter"
    for letter in name:
        if not (letter.isalnum() or letter in "_-.+/'@$%&=<>!?~^|" or unicodedata.category(letter)[0] == "M"):
            shown = printable(letter)
            return f"holds '{shown}'; symbolic and many-dimensional dialects are not part of the format"
    return None


def _count(word: str) -> int | None:
    """A whole number; None if it is none. One of very many digits is larger than anything it is compared with."""
    if not (word.isascii() and word.isdigit()):
        return None
    return int(word) if len(word) < 19 else 2**63


class Text:
    """The text, and the word under the reader: "" at the end, else a name, a number, a keyword, ``:`` or ``*``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.move(1 if text.startswith("\ufeff") else 0)

    def move(self, place: int) -> None:
        """To the word that stands at a place or after it."""
        match = _TOKEN.match(self.text, place)
        assert match is not None
        self.word, self.place, self.end = match[1], match.start(1), match.end()
        if not self.word.isascii() and _HALF.search(self.word):
            raise self.error("this word is not UTF-8 text")

    def advance(self) -> None:
        self.move(self.end)

    def error(self, problem: str, place: int | None = None) -> ValueError:
        """With line and column, which are counted only now, so that reading does not pay for them."""
        lines = re.split("\r\n?|\n", self.text[: self.place if place is None else place].lstrip("\ufeff"))
        return ValueError(f"line {len(lines)}, column {len(lines[-1]) + 1}: {problem}")

    def expected(self, what: str) -> ValueError:
        found = excerpt(self.word) if self.word else "the end of the file"
        return self.error(f"expected {what}, found {found}")

    def unknown_section(self) -> ValueError:
        if self.word in ("", ":", "*") or not self.before_colon():
            return self.expected("the beginning of a section, such as `T:`")
        known = " ".join(f"`{section}:`" for section in SECTIONS)
        shown = excerpt(self.word)
        return self.error(
            f"unknown section {shown}; the format has {known}, and this dialect is not part of it"
        )

    def before_colon(self) -> bool:
        return _COLON.match(self.text, self.end) is not None

    def skips(self, word: str) -> bool:
        """True, and moves on, if this word stands here."""
        if self.word != word:
            return False
        self.advance()
        return True

    def colon(self, after: str) -> None:
        if not self.skips(":"):
            raise self.expected(f"`:` after {after}")

    def number(self) -> float:
        """A finite number; its sign may stand apart, as in ``- 5``."""
        place, apart = self.place, self.word in ("+", "-")
        sign = -1.0 if self.word == "-" else 1.0
        if apart:
            self.advance()
        if not numeric(self.word) or (apart and self.word[0] in "+-"):
            raise self.expected("a number")
        if not re.fullmatch(_NUMBER, self.word):
            raise self.error(f"{excerpt(self.word)} is not a number")
        value = float(self.word)
        if not math.isfinite(value):
            raise self.error(f"{excerpt(self.word)} is not a finite number", place)
        self.advance()
        # Adding zero turns −0 into 0, which are one number in the format.
        return sign * value + 0.0

    def numbers(self, most: int, *, probabilities: bool) -> NDArray[np.float64]:
        """All numbers up to something else; more than `most` are refused where they stand."""
        low, high = (0.0, 1.0 + ROW_TOLERANCE) if probabilities else (-np.inf, np.inf)
        parts: list[NDArray[np.float64]] = []
        # Many at once are read by NumPy, which takes longer to begin than a single number takes.
        count, whole_runs = 0, most > 1
        while numeric(self.word):
            if whole_runs and (run := _NUMBERS.match(self.text, self.place)):
                values = np.fromstring(run[0], sep=" ") + 0.0
                if (
                    count + len(values) <= most
                    and ((values >= low) & (values <= high) & np.isfinite(values)).all()
                ):
                    parts.append(values)
                    count += len(values)
                    self.move(run.end())
                    continue
                whole_runs = False  # One of them is wrong: one by one, the first to be so is refused.
            if count == most:
                raise self.error(f"too many numbers: at most {most} belong here")
            place, value = self.place, self.number()
            if not low <= value <= high:
                raise self.error(f"{value:g} is not a probability", place)
            parts.append(np.array([value]))
            count += 1
        return np.concatenate(parts) if parts else np.empty(0)


@dataclass
class Symbols:
    """The states, actions or observations of a file: a count, or names."""

    kind: str
    count: int = 0
    numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, kind: str, text: Text) -> Symbols:
        """From what follows ``states:``, ``actions:`` or ``observations:``."""
        symbols = cls(kind)
        if numeric(text.word):
            symbols.count = _count(text.word) or 0
            if symbols.count == 0:
                raise text.expected(f"a whole number of {kind}s, at least 1, or their names")
            symbols.refuse_too_many(text)
            text.advance()
            if text.word not in (*RESERVED, "", ":", "*") and not text.before_colon():
                raise text.error(
                    f"{excerpt(text.word)} after the number of {kind}s: give one number or only names; "
                    f"many-dimensional {kind}s are not part of the format"
                )
            return symbols
        while text.word not in ("", ":", "*") and text.word not in RESERVED:
            if text.before_colon():
                raise text.error(f"unknown section {excerpt(text.word)}")
            if problem := fault(text.word):
                raise text.error(f"{kind} {excerpt(text.word)} {problem}")
            if text.word in symbols.numbers:
                raise text.error(f"{kind} {excerpt(text.word)} is listed twice")
            symbols.numbers[text.word] = len(symbols.numbers)
            text.advance()
        symbols.count = len(symbols.numbers)
        if symbols.count == 0:
            raise text.expected(f"the number of {kind}s or their names")
        symbols.refuse_too_many(text)
        return symbols

    def refuse_too_many(self, text: Text) -> None:
        if self.count > MAX_SYMBOLS:
            raise text.error(f"more than {MAX_SYMBOLS} {self.kind}s; dense tables cannot hold them")

    def reference(self, text: Text) -> slice:
        """A name, a number counted from zero, or ``*`` for all."""
        word, kind = text.word, self.kind
        if word == "*":
            text.advance()
            return slice(0, self.count)
        number = self.numbers.get(word, _count(word))
        if word in ("", ":"):
            raise text.expected(f"the {kind}: a name, a number or `*`")
        if number is None and word in RESERVED:
            raise text.expected(f"the {kind}")
        if number is None or number >= self.count:
            more = f": they count from 0 to {self.count - 1}" if numeric(word) else ""
            raise text.error(f"there is no {kind} {excerpt(word)}{more}")
        text.advance()
        return slice(number, number + 1)

    def label(self, number: int) -> str:
        names = list(self.numbers)
        return f"{self.kind} {excerpt(names[number]) if names else number}"
