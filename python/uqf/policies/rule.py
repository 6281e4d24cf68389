"""An old rule as a policy: a function of what was seen last, or a table in a file."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Mapping

import numpy as np

from uqf.coding.cells import Cells
from uqf.coding.codebook import Codebook
from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError, kind_of
from uqf.files import read_ordinary
from uqf.policies.policy import ObservationPolicy
from uqf.types import AnyArray, Raw

#: Comparisons that a cell of a table may begin with.
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": lambda value, limit: value <= limit,
    ">=": lambda value, limit: value >= limit,
    "<": lambda value, limit: value < limit,
    ">": lambda value, limit: value > limit,
}


def rule(function: Callable[[Raw], Raw] | str | os.PathLike[str], *, start: Raw = None) -> Rule:
    """A rule that looks at the last observation, as a policy: it can be evaluated, compared, mixed and saved.

    Parameters
    ----------
    function : callable, or the path of a CSV file
        ``function(observation)`` gives the action. The observation is what the log shows: a name, a code, or for
        several columns a mapping such as ``{"temp": 81.5, "state": "on"}``. The action is a name, a number where
        actions are cells of numbers, or a code. A file has a column `action` and columns of the observation; a cell is
        a value, a comparison such as ``>= 80``, or empty for anything, and the first row that fits decides.
    start : action, optional
        What is done before anything was seen; by default ``function(None)`` says it.

    Returns
    -------
    Rule
        For `uqf.ope.evaluate`, `uqf.ope.compare`, `uqf.mix`, `uqf.rollout`. On a log with raw columns it is asked about
        every row as it stands; elsewhere about a point in the cell of the codebook.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    >>> listens = uqf.rule(lambda heard: 0)
    >>> uqf.estimate_return(uqf.make("tiger"), listens, episodes=10, horizon=20, discount=1.0).mean
    -20.0
    """
    if isinstance(function, (str, os.PathLike)):
        return Rule(_table(function), start)
    if not callable(function):
        raise TypeError(f"function is {kind_of(function)}: give a function of the observation, or a path")
    return Rule(function, start)


class Rule:
    """What `uqf.rule` gives: a policy whose memory is the last observation, None before there is one.

    On its own it takes and gives codes; `of` knows what they mean.
    """

    def __init__(self, function: Callable[[Raw], Raw], start: Raw = None) -> None:
        self.function, self.start = function, start

    def initial_state(self, first: int | None = None) -> Raw:
        return first

    def update(self, state: Raw, action: int, observation: int) -> int:
        return observation

    def action(self, state: Raw, rng: np.random.Generator | None = None) -> Raw:
        return _number(self._taken(state))

    def _taken(self, state: Raw) -> Raw:
        """The action as the function, or a cell of the table, has it."""
        if state is None and self.start is not None:
            return self.start
        try:
            return self.function(state)
        except (TypeError, LookupError, AttributeError) as error:
            way_out = "that is a code: give the learner, or the path of its file, which know what it means"
            if state is None:
                way_out = "that is what it is given before anything was seen: give start=ACTION"
            elif not isinstance(state, (int, np.integer)):
                way_out = "that is what was observed"
            kind = type(error).__name__
            raise ValueError(
                f"rule: given {state!r}, the function raised {kind}({error}); {way_out}"
            ) from error

    def of(
        self, codebook: Codebook | None, n_actions: int, n_observations: int, *, shown: bool = False
    ) -> ObservationPolicy:
        """The rule as a table of codes, which can be saved, exported and played in batches.

        With `shown` every episode shows something first, and the rule is not asked about nothing.
        """
        book = codebook or Codebook.named()
        seen = [_raw(book, code) for code in range(n_observations)] + ([] if shown else [None])
        taken = [_code(book, self._taken(one), n_actions) for one in seen]
        return ObservationPolicy(np.vstack([np.eye(n_actions)[taken], np.zeros((int(shown), n_actions))]))

    def probs_along(self, data: Trajectories) -> FloatArray:
        """1 for what the rule does before every logged step, (n_steps, n_actions), and 0 for the rest."""
        book = data.codebook or Codebook.named()
        if data.columns is None or not isinstance(book.coding_, Cells):
            shown = data.first_observations is not None
            return self.of(data.codebook, data.n_actions, data.n_observations, shown=shown).probs_along(data)
        rows = np.roll(data.columns, 1, axis=0)
        starts = data.offsets[:-1]
        if data.first_columns is not None:
            rows[starts] = data.first_columns
        different, place = np.unique(rows, axis=0, return_inverse=True)
        taken = np.array(
            [_code(book, self._taken(observed(book, row)), data.n_actions) for row in different]
        )[place]
        if data.first_columns is None:
            taken[starts] = _code(book, self._taken(None), data.n_actions)
        return np.asarray(np.eye(data.n_actions)[taken])


def bound(policy: Raw, codebook: Codebook | None, n_actions: int, n_observations: int) -> Raw:
    """A rule as a table of codes; any other policy as it is."""
    return policy.of(codebook, n_actions, n_observations) if isinstance(policy, Rule) else policy


def _raw(book: Codebook, code: int) -> Raw:
    """What a code stands for, as a log shows it."""
    if isinstance(book.coding_, Cells):
        return observed(book, book.columns_of([code])[0][0])
    return code if book.coding_ is None else book.describe(code)


def observed(book: Codebook, row: AnyArray) -> Raw:
    """A row of numbers as values of its columns: names by their code, None where a value is missing."""
    assert book.coding_ is not None
    values = {}
    for column, number in zip(book.coding_.columns, row.tolist(), strict=True):
        known = number == number
        if column.kind == "category":
            values[column.name] = column.names[int(number)] if known and number < len(column.names) else None
        else:
            values[column.name] = number if known else None
    return values if len(values) > 1 else next(iter(values.values()))


def _number(action: Raw) -> Raw:
    """A whole number where a text is one."""
    written = isinstance(action, str) and re.fullmatch("[0-9]{1,18}", action)
    return int(action) if written else action


def _code(book: Codebook, action: Raw, n_actions: int) -> int:
    """By its name or, where no action is called so, by its number."""
    named = isinstance(action, str) and action in (getattr(book.actions_, "names", None) or ())
    code = book.encode_action(action if named else _number(action))
    if not 0 <= code < n_actions:
        raise ValueError(f"rule: action {action!r} is none of {n_actions}")
    return code


def _table(path: str | os.PathLike[str]) -> Callable[[Raw], Raw]:
    """The function of a table: the first row that fits decides."""
    try:
        lines = io.StringIO(read_ordinary(path, 2**24, "table of a rule").decode("utf-8-sig"), newline="")
        dialect = csv.Sniffer().sniff(lines.readline(), ",;\t|")
        lines.seek(0)
        rows = list(csv.DictReader(lines, dialect=dialect))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{os.fspath(path)}: {error}") from None
    if not rows or "action" not in rows[0] or len(rows[0]) < 2:
        raise FileFormatError(f"{os.fspath(path)}: give a column 'action' and columns of the observation")

    def decide(observation: Raw) -> Raw:
        for row in rows:
            given = {name: cell or "" for name, cell in row.items() if name is not None}
            action = given.pop("action")
            if all(
                _fits(_value(observation, name, len(given)), cell.strip()) for name, cell in given.items()
            ):
                return action
        raise ValueError(f"{os.fspath(path)}: no row fits {observation!r}; end with a row of empty cells")

    return decide


def _value(observation: Raw, name: str, columns: int) -> Raw:
    if isinstance(observation, Mapping):
        if name not in observation:
            raise ValueError(f"the rule asks for {name!r}, which is not observed: {', '.join(observation)}")
        return observation[name]
    return observation


def _fits(value: Raw, cell: str) -> bool:
    if not cell or value is None:
        return not cell
    sign = next((sign for sign in COMPARISONS if cell.startswith(sign)), "")
    try:
        limit = float(cell.removeprefix(sign))
        return COMPARISONS[sign](float(value), limit) if sign else float(value) == limit
    except (TypeError, ValueError):
        return not sign and str(value) == cell
