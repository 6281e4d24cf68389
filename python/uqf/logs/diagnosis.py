"""Everything that is wrong with a log at once, and what the text of its columns stands for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from uqf.coding.codebook import Codebook
from uqf.errors import FileFormatError, shortened
from uqf.logs.layout import BY_BINS, LOOKS_LIKE, OPTIONAL, USUAL
from uqf.logs.notation import Mask, Text
from uqf.logs.problems import CLEANED, CUT, GAPS, NUMBERS, YES, LogProblem
from uqf.logs.rows import Rows, array, first_of_each, is_number, is_text
from uqf.logs.suspicions import suspicions
from uqf.logs.times import ranks

#: Characters of an example.
EXAMPLE = 60


class Diagnosis:
    """What is wrong with a log that has one row per step, and what the text of its columns stands for.

    `others` are the names of columns that are not read; `codebook` has the names that are wanted, if any.
    """

    def __init__(self, rows: Rows, others: list[str], codebook: Codebook | None = None) -> None:
        self.rows, self.layout, self.codebook, self._listed = rows, rows.layout, codebook, list[LogProblem]()
        self.unreadable: list[LogProblem] = []
        """Those of text that no cleaning can read."""
        self.columns = {name: rows.table.column(name).combine_chunks() for name in self.layout.columns}
        for name, values in self.columns.items():
            if pa.types.is_dictionary(values.type):
                self.columns[name] = values.dictionary_decode()
        identifying = (self.layout.names["episode"], self.layout.names.get("time"))
        measured = {*self.layout.seen, *([self.layout.names["action"]] if self.layout.action_bins else [])}
        self.text = {
            name: Text(values, measured=name in measured)
            for name, values in self.columns.items()
            if is_text(values.type) and name not in identifying
        }
        self.marks = self._decimal_marks()
        for name, values in self.columns.items():
            self._missing(name, values)
            self._numbers(name, values)
        for name, text in self.text.items():
            self._judge_text(name, text)
        self._order()
        self._look_around(others)
        self._listed += suspicions(rows, codebook)

    @property
    def problems(self) -> list[LogProblem]:
        """All of them, severe ones first."""
        return sorted(self._listed, key=lambda one: (not one.severe, one.column))

    def _add(
        self, column: str, what: str, wrong: Mask, remedy: str, *, severe: bool = True
    ) -> LogProblem | None:
        """Adds a problem of the rows where `wrong` is true, if there are any."""
        first = np.flatnonzero(wrong)
        if len(first) == 0:
            return None
        value = self.columns[column][int(first[0])].as_py()
        shown = str(value) if hasattr(value, "isoformat") else repr(value)
        example = "" if value is None or value != value else shortened(shown, EXAMPLE)
        places = tuple(self.rows.place(row) for row in first[:3])
        self._listed.append(LogProblem(column, what, len(first), places, example, remedy, severe))
        return self._listed[-1]

    # --- columns of any type ---

    def _missing(self, name: str, values: pa.Array) -> None:
        names, text = self.layout.names, self.text.get(name)
        missing = array(values.is_null(nan_is_null=True))
        nothing = missing if text is None else missing | text.rows(text.words["nothing"])
        if name in (names["reward"], names.get("behavior_prob")):
            self._add(name, "missing values", nothing, CUT)
        elif name == names["action"]:
            self._add(name, "missing values", missing if text and text.has_names else nothing, CUT)
        elif name in (names["episode"], names.get("time")):
            self._add(name, "missing values", missing, CLEANED + "these rows are left out")
        elif name in self.layout.seen:
            if text is None or text.has_names or not text.numbers.any() or not (nothing & ~missing).any():
                remedy = "missing is read as a value of its own"
                self._add(name, "missing values", missing, remedy, severe=False)
            else:
                self._add(name, "missing values", nothing, GAPS)

    def _numbers(self, name: str, values: pa.Array) -> None:
        names = self.layout.names
        if not is_number(values.type):
            return
        numbers = array(values.cast(pa.float64()))
        if name == names["reward"]:
            self._add(name, "infinite numbers", np.isinf(numbers), CUT)
        if name == names.get("behavior_prob"):
            outside = (numbers <= 0) | (numbers > 1)
            self._add(name, "numbers that are no probability", outside, "give numbers above 0 and up to 1")
        if name == names["action"] and self.layout.action_bins is None:
            odd = np.isfinite(numbers) & ((numbers != np.floor(numbers)) | (numbers < 0))
            remedy = f"cut them into cells with {BY_BINS}, or give whole numbers from 0 on or names"
            self._add(name, "numbers that are no codes", odd, remedy)
        elif name == names["action"]:
            self._add(name, "infinite numbers", np.isinf(numbers), CUT)

    def _order(self) -> None:
        names = self.layout.names
        ids = self.columns[names["episode"]]
        known = np.flatnonzero(~array(ids.is_null(nan_is_null=True)))
        numbers = array(ids.take(pa.array(known)).dictionary_encode().indices)
        wrong = np.zeros(len(ids), np.bool_)
        if "time" in names:
            times = ranks(self.columns[names["time"]])
            wrong[known] = ~first_of_each(numbers * np.int64(len(ids) + 1) + times[known])
            self._add(names["time"], "duplicate steps", wrong, CLEANED + "the first row of each is kept")
            return
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        wrong[known[starts]] = ~first_of_each(numbers[starts])
        remedy = "sort the log by episode, or name the column of the time (--columns time=…)"
        self._add(names["episode"], "episodes that come back", wrong, remedy)

    # --- columns of text ---

    def _decimal_marks(self) -> dict[str, str | None]:
        """The decimal mark of every column of numbers in text; None where its numbers do not say.

        What a column leaves open the others decide: whoever wrote decimal commas in one wrote them in all.
        """
        names, marks = self.layout.names, dict[str, str | None]()
        numeric = (names["reward"], names.get("behavior_prob"))
        for name, text in self.text.items():
            if name == names.get("terminated") or (text.has_names and name not in numeric):
                continue
            decided = [mark for mark, cells in text.decisive.items() if cells.any()]
            marks[name] = decided[0] if len(decided) == 1 else None
        evidence = {mark for mark in marks.values() if mark is not None}
        if any(_has_fractions(values) for values in self.columns.values()):
            evidence.add(".")
        for name, mark in marks.items():
            text = self.text[name]
            if mark is None and not all(cells.any() for cells in text.decisive.values()):
                open_case = "." if not text.doubtful.any() else None
                marks[name] = next(iter(evidence)) if len(evidence) == 1 else open_case
        return marks

    def _judge_text(self, name: str, text: Text) -> None:
        names, words = self.layout.names, text.words
        if name in (names["reward"], names.get("behavior_prob")):
            others = words["name"] | words["truth"] | words["yes or no"]
            self._unreadable(name, "values that are no numbers", text.rows(others), "give numbers")
            self._notation(name, text)
        elif name == names.get("terminated"):
            self._add(name, "answers of yes or no", text.rows(words["yes or no"]), YES)
            neither = words["name"] | (text.numbers & ~text.is_truth)
            what = "values that are neither true nor false"
            self._unreadable(name, what, text.rows(neither), "give true or false")
        elif text.has_names:
            remedy = CLEANED + "all are taken for names"
            self._add(name, "numbers among names", text.rows(text.numbers), remedy)
        else:
            remedy = CLEANED + "they are missing values"
            self._add(name, "words among numbers", text.rows(text.words["error"]), remedy)
            self._notation(name, text)

    def _unreadable(self, name: str, what: str, wrong: Mask, remedy: str) -> None:
        problem = self._add(name, what, wrong, remedy)
        self.unreadable += [problem] if problem else []

    def _notation(self, name: str, text: Text) -> None:
        """Numbers that are not written as programs write them."""
        point, comma = (text.rows(text.decisive[mark]) for mark in ".,")
        mark, remedy = self.marks[name], "write all numbers of the column in one notation"
        if point.any() and comma.any():
            fewer, most = (point, comma) if point.sum() < comma.sum() else (comma, point)
            other = self.columns[name][int(np.argmax(most))].as_py()
            what = f"numbers in another notation than {shortened(repr(other), EXAMPLE)}"
            self._unreadable(name, what, fewer, remedy)
            return
        if mark is None:
            remedy = "no other number of the log says whether the comma parts thousands: write it without"
            self._unreadable(name, "numbers that can be read in two ways", text.rows(text.doubtful), remedy)
            return
        if len(text.currencies) > 1:
            what = f"numbers in {' and '.join(sorted(text.currencies))}"
            self._unreadable(name, what, text.rows(text.currency & text.numbers), "give one currency")
        elif (
            text.percent.any()
            and (text.numbers & ~text.percent)[text.codes][text.as_numbers(mark) != 0].any()
        ):
            what = "numbers with a percent sign among others"
            self._unreadable(name, what, text.rows(text.percent), "write it with all of them, or with none")
        remedy = NUMBERS
        if name == self.layout.names["action"] and self.layout.action_bins is None:
            remedy += f", and with {BY_BINS} these are cut into cells"
        left = text.numbers & ~text.plain
        for what, cells in text.unusual(mark).items():
            self._add(name, what, text.rows(left & cells), remedy)
            left &= ~cells

    def _look_around(self, columns: list[str]) -> None:
        """Columns that nobody named but that look like something we know, or that cannot be used."""
        cut = self.layout.action_bins is not None
        dropped = [name for name in columns if cut and name in USUAL["behavior_prob"]]
        for name in dropped:
            what, remedy = (
                "propensities of numbers, not of cells",
                "they are not used; the behaviour is estimated",
            )
            self._listed.append(LogProblem(name, what, 0, (), "", remedy, False))
        for role in OPTIONAL:
            usual = LOOKS_LIKE[role]
            mapped = role in self.layout.names or (
                role == "first_observation" and self.layout.first_observation
            )
            alike = [
                name for name in columns if name.lower() in usual.split() and name not in self.layout.columns
            ]
            if alike and not mapped and not set(alike) & set(dropped):
                remedy = f"if it is, say --columns {role}={alike[0]} or LogColumns({role}={alike[0]!r})"
                what = f"looks like `{role}`, but is not used"
                self._listed.append(LogProblem(alike[0], what, 0, (), "", remedy, False))


def refuse_mixtures(rows: Rows) -> None:
    """Raises FileFormatError where actions or observations of a CSV file are neither plain numbers nor names.

    Only for CSV: a column of any other format has the type that its writer gave it.
    """
    for name in (rows.layout.names["action"], *rows.layout.seen):
        values = rows.table.column(name).combine_chunks()
        if not is_text(values.type):
            continue
        text = Text(values)
        others = np.append(~text.numbers[:-1], False)
        if not text.numbers.any():
            continue
        if others.any():
            first = sorted(int(np.argmax(text.rows(one))) for one in (text.numbers, others))
            one, other = (f"row {rows.place(row)} has {values[row].as_py()!r}" for row in first)
            raise FileFormatError(
                f"column {name!r} mixes numbers and names: {one}, {other}; name them all, or number them all"
            )
        row = int(np.argmax(text.rows(text.numbers & ~text.plain)))
        raise FileFormatError(
            f"column {name!r}, row {rows.place(row)}: {values[row].as_py()!r} is a number that is written with "
            "other marks, such as a decimal comma; give clean=True (--clean)"
        )


def _has_fractions(values: pa.Array) -> bool:
    if not pa.types.is_floating(values.type):
        return False
    numbers = array(values)
    numbers = numbers[np.isfinite(numbers)]
    return bool((numbers != np.floor(numbers)).any())
