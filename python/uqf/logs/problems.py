"""Something that is wrong with a log, with the way out."""

from __future__ import annotations

from dataclasses import dataclass, replace

CLEANED = "with clean=True (--clean) "
CUT = CLEANED + "episodes are cut before the first of them"

#: Nothing is lost by these, so reading does not speak of them; who asks for everything that was mended hears them too.
NUMBERS = CLEANED + "they are read as numbers"
GAPS = CLEANED + "missing is a value of its own"
YES = CLEANED + "yes is true"


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
        where = f"{self.count:,} {'rows' if self.rows else 'steps'}"
        places = [*map(str, self.rows), *["…"] * (self.count > len(self.rows) > 0)]
        places += [f"such as {self.example}"] if self.example else []
        if self.count == 1:
            where, places = (
                f"row {self.rows[0]}" if self.rows else "1 step",
                [self.example] * bool(self.example),
            )
        place = f" in {where}" if self.count else ""
        place += f" ({', '.join(places)})" if places else ""
        return f"column {self.column!r}: {self.what}{place}; {self.remedy}"


def once_cleaned(problems: list[LogProblem]) -> list[LogProblem]:
    """What is left to say of them where `clean` was given: what was left out, cut or merged is counted elsewhere."""
    return [
        replace(one, remedy=one.remedy.removeprefix(CLEANED))
        for one in problems
        if not one.remedy.startswith(CLEANED) or one.remedy.startswith((NUMBERS, GAPS, YES))
    ]
