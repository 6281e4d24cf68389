"""Everything that is wrong with a log at once, with the way out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from uqf.errors import shortened
from uqf.logs.columns import BY_BINS, Layout, Source
from uqf.logs.text_values import MESSY, NUMBERS, TextColumn
from uqf.logs.values import is_text
from uqf.types import Raw

#: Names under which others keep what we look for, by role.
LOOKS_LIKE = {
    "terminated": "done dones terminal terminals is_terminal is_last ended finished end",
    "behavior_prob": "propensity propensities pscore prob action_prob probability",
    "time": "time timestamp ts datetime step t",
    "first_observation": "reset_observation initial_observation",
}

#: Characters of an example.
EXAMPLE = 60

#: Rows that are looked at together.
ROWS = 100_000

CLEANED = "with clean=True (--clean) "
CUT = CLEANED + "episodes are cut before the first of them"


@dataclass(frozen=True)
class LogProblem:
    r"""Something in a log that hinders reading it, or that a careful reader would ask about.

    Attributes
    ----------
    column : str
        Where it is.
    what : str
        What it is, such as "decimal commas".
    example : str
        The first such value, if there is one to show.
    remedy : str
        The way out.

    Examples
    --------
    >>> import uqf
    >>> with open("messy.csv", "w") as file:
    ...     _ = file.write("episode;action;observation;reward\n0;go;3;1,5\n0;go;4;2,5\n")
    >>> for problem in uqf.log_problems("messy.csv"):
    ...     print(problem.column, problem.what, problem.count, problem.severe)
    reward decimal commas 2 True
    """

    column: str
    what: str
    count: int
    """How many rows have it."""
    rows: tuple[int, ...]
    """The first of them, counted from 0."""
    example: str
    remedy: str
    severe: bool
    """Whether the log cannot be read with it."""

    def __str__(self) -> str:
        where = f"row {self.rows[0]}" if len(self.rows) == 1 else f"rows {', '.join(map(str, self.rows))}"
        more = ", …" if self.count > len(self.rows) else ""
        example = f", such as {self.example}" if self.example else ""
        place = f" ({where}{more}{example})" if self.rows else ""
        count = f"{self.count} " if self.count else ""
        return f"column {self.column!r}: {count}{self.what}{place}; {self.remedy}"


@dataclass
class Diagnosis:
    """What one reading of a log with one row per step finds."""

    layout: Layout
    found: dict[tuple[str, str], LogProblem] = field(default_factory=dict)
    text: dict[str, TextColumn] = field(default_factory=dict)
    seen: dict[object, int] = field(default_factory=dict)
    """Number of the episode by id."""
    steps: set[tuple[object, object]] = field(default_factory=set)
    """Episode and time of every step, if a column tells the time."""
    last: object = None
    row: int = 0

    @classmethod
    def of(cls, source: Source, layout: Layout) -> Diagnosis:
        """Of a whole log."""
        made = cls(layout)
        for table in source.tables(ROWS, layout.columns):
            made._take(table)
            made.row += table.num_rows
        # Whoever wrote decimal commas in one column wrote them in the others.
        if any(text.comma_is_decimal for text in made.text.values()):
            for text in made.text.values():
                text.comma_is_decimal = not text.comma_is_thousands
        made._judge_text()
        made._look_around(source.schema.names)
        return made

    @property
    def problems(self) -> list[LogProblem]:
        """All of them, severe ones first."""
        return sorted(self.found.values(), key=lambda one: (not one.severe, one.column))

    def _add(
        self,
        column: str,
        what: str,
        wrong: NDArray[np.bool_],
        values: pa.ChunkedArray,
        remedy: str,
        severe: bool = True,
    ) -> None:
        places = np.flatnonzero(wrong)
        if len(places) == 0:
            return
        rows = tuple(int(self.row + place) for place in places[:3])
        example = values[int(places[0])].as_py() if values is not None else None
        known = self.found.get((column, what))
        if known is None:
            told = "" if example is None else _quoted(example)
            self.found[column, what] = LogProblem(column, what, len(places), rows, told, remedy, severe)
        else:
            count, rows = known.count + len(places), (known.rows + rows)[:3]
            self.found[column, what] = replace(known, count=count, rows=rows)

    def _take(self, table: pa.Table) -> None:
        names = self.layout.names
        for name in table.column_names:
            values = table.column(name).combine_chunks()
            if pa.types.is_dictionary(values.type):
                values = values.dictionary_decode()
            missing = values.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
            if is_text(values.type):
                self.text.setdefault(name, TextColumn()).take(values, self.row)
            if name in (names["action"], names["reward"], names.get("behavior_prob")):
                self._add(name, "missing values", missing, None, CUT)
            elif name in (names["episode"], names.get("time")):
                self._add(name, "missing values", missing, None, CLEANED + "these rows are left out")
            elif name in self.layout.observed:
                remedy = "missing is read as a value of its own"
                self._add(name, "missing values", missing, None, remedy, severe=False)
            self._numbers(name, values)
        self._order(table)

    def _numbers(self, name: str, values: pa.ChunkedArray) -> None:
        names = self.layout.names
        if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)):
            return
        numbers = np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False))
        if name == names["reward"]:
            self._add(name, "infinite numbers", np.isinf(numbers), values, CUT)
        if name == names.get("behavior_prob"):
            outside = (numbers <= 0) | (numbers > 1)
            remedy = "give numbers above 0 and up to 1"
            self._add(name, "numbers that are no probability", outside, values, remedy)
        if name == names["action"] and self.layout.action_bins is None:
            odd = np.isfinite(numbers) & ((numbers != np.floor(numbers)) | (numbers < 0))
            remedy = f"cut them into cells with {BY_BINS}, or give whole numbers from 0 on or names"
            self._add(name, "numbers that are no codes", odd, values, remedy)
        elif name == names["action"]:
            self._add(name, "infinite numbers", np.isinf(numbers), values, CUT)

    def _order(self, table: pa.Table) -> None:
        names = self.layout.names
        ids = table.column(names["episode"]).to_pylist()
        times = table.column(names["time"]).to_pylist() if "time" in names else None
        returning, repeated = np.zeros((2, len(ids)), np.bool_)
        for place, identity in enumerate(ids):
            if identity is None or identity != identity:
                continue
            if times is not None:
                step = (identity, times[place])
                repeated[place] = step in self.steps
                self.steps.add(step)
            elif identity != self.last:
                returning[place] = identity in self.seen
                self.seen.setdefault(identity, len(self.seen))
            self.last = identity
        remedy = "sort the log by episode, or name the column that tells the time (--columns time=…)"
        identities = table.column(names["episode"])
        self._add(names["episode"], "episodes that come back", returning, identities, remedy)
        if times is not None:
            remedy = CLEANED + "the first row of each is kept"
            self._add(names["time"], "duplicate steps", repeated, table.column(names["time"]), remedy)

    def _judge_text(self) -> None:
        names = self.layout.names
        for name, text in self.text.items():
            if name in (names["reward"], names.get("behavior_prob")):
                self._messy_numbers(name, text)
                for kind in ("name", "truth", "yes or no"):
                    self._text(name, kind, "values that are no numbers", "give numbers")
                self._text(name, "nothing", "missing values", CUT)
            elif name == names.get("terminated"):
                self._text(name, "yes or no", "answers of yes or no", CLEANED + "yes is true")
                for kind in ("name", *NUMBERS[1:]):
                    self._text(name, kind, "values that are neither true nor false", "give true or false")
            elif name == names["action"] or name in self.layout.observed:
                others = any(text.counts[kind] for kind in ("name", "truth", "yes or no"))
                if others and any(text.counts[kind] for kind in NUMBERS):
                    for kind in NUMBERS:
                        self._text(name, kind, "numbers among names", CLEANED + "all are taken for names")
                elif not others:
                    self._messy_numbers(name, text)
                    if any(text.counts[kind] for kind in NUMBERS):
                        own = CLEANED + "missing is a value of its own"
                        remedy = CUT if name == names["action"] else own
                        self._text(name, "nothing", "missing values", remedy)

    def _messy_numbers(self, name: str, text: TextColumn) -> None:
        words = ("commas in thousands", "decimal commas", "currency signs")
        for kind, what in zip(MESSY, words, strict=True):
            if kind == "thousands" and text.comma_is_decimal:
                what = "decimal commas"
            remedy = CLEANED + "they are read as numbers"
            if name == self.layout.names["action"] and self.layout.action_bins is None:
                remedy += f", and with {BY_BINS} these are cut into cells"
            self._text(name, kind, what, remedy)

    def _text(self, name: str, kind: str, what: str, remedy: str) -> None:
        text = self.text[name]
        if text.counts[kind]:
            known = self.found.get((name, what))
            count = text.counts[kind] + (known.count if known else 0)
            rows = tuple(sorted((*text.rows[kind], *(known.rows if known else ())))[:3])
            example = known.example if known and known.example else _quoted(text.examples[kind])
            self.found[name, what] = LogProblem(name, what, count, rows, example, remedy, True)

    def _look_around(self, columns: list[str]) -> None:
        """Columns that nobody named but that look like something we know, or that cannot be used."""
        for name in self.layout.dropped:
            what, remedy = (
                "propensities of numbers, not of cells",
                "they are not used; the behaviour is estimated",
            )
            self.found[name, what] = LogProblem(name, what, 0, (), "", remedy, False)
        for role, usual in LOOKS_LIKE.items():
            mapped = role in self.layout.names or (
                role == "first_observation" and self.layout.first_observation
            )
            alike = [
                name for name in columns if name.lower() in usual.split() and name not in self.layout.columns
            ]
            if alike and not mapped and not set(alike) & set(self.layout.dropped):
                remedy = f"if it is, say --columns {role}={alike[0]} or LogColumns({role}={alike[0]!r})"
                what = f"looks like `{role}`, but is not used"
                self.found[alike[0], what] = LogProblem(alike[0], what, 0, (), "", remedy, False)


def _quoted(value: Raw) -> str:
    """A value as it would be written, as far as a line holds it."""
    return shortened(repr(value), EXAMPLE)
