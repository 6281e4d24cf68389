"""Which columns of a log hold what."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace

import pyarrow as pa

from uqf.coding.action_bins import checked_bins
from uqf.coding.codebook import Codebook
from uqf.episodes.checks import instance
from uqf.errors import FileFormatError

#: What a damaged or hostile log may raise on its way to episodes.
DAMAGE = (ValueError, TypeError, LookupError, OverflowError, RecursionError, EOFError, zlib.error)


@dataclass(frozen=True)
class LogColumns:
    """Column names of a log, and what its numbers stand for; None looks for the usual name, such as "reward".

    A log has one row per episode, with lists in its columns and perhaps a `terminated` flag; or one row per
    step, with an `episode` column whose value is the same in all rows of an episode.

    Parameters
    ----------
    episode, action, observation, reward : str, optional
        What every log has; `episode` only where there is one row per step. An observation may have several columns,
        as in ``observation=["temp", "pressure", "state"]``.
    behavior_prob : str, optional
        The probability with which the logged action was taken.
    terminated : str, optional
        Whether the system ended the episode.
    first_observation : str, optional
        What was seen before the first action; the first row of an episode counts. As many columns as `observation`.
    time : str, optional
        With it rows of an episode may lie anywhere in the log: they are sorted by this column.
    action_bins : int, optional
        Numeric actions are cut into so many cells of about equally many steps, or fewer if there are fewer different
        numbers; for each of them an agent does the median of the cell. Without it numeric actions are codes, and
        measurements are refused.

    Examples
    --------
    >>> import polars, uqf
    >>> table = polars.DataFrame({"run": [0, 0, 1], "do": [1, 0, 0], "see": [2, 0, 1], "pay": [0.0, 1.0, 0.5]})
    >>> columns = uqf.LogColumns(episode="run", action="do", observation="see", reward="pay")
    >>> len(uqf.from_arrow(table, columns=columns))
    2
    """

    episode: str | None = None
    action: str | None = None
    observation: str | Sequence[str] | None = None
    reward: str | None = None
    behavior_prob: str | None = None
    terminated: str | None = None
    first_observation: str | Sequence[str] | None = None
    time: str | None = None
    action_bins: int | None = None

    def __post_init__(self) -> None:
        if self.action_bins is not None:
            checked_bins(self.action_bins)
        for role in SEVERAL:
            given = getattr(self, role)
            if given is not None and not isinstance(given, str):
                instance(role, given, Sequence, "the name of a column, or several")
                if (
                    not given
                    or not all(isinstance(name, str) for name in given)
                    or len(set(given)) != len(given)
                ):
                    raise ValueError(
                        f"{role} = {given!r}: give the names of one or several different columns"
                    )
                object.__setattr__(self, role, tuple(given))

    def of(self, codebook: Codebook | None) -> LogColumns:
        """The same, with the columns of a codebook where nothing was said about the observation."""
        if codebook is not None:
            instance("codebook", codebook, Codebook, "a uqf.Codebook")
        if codebook is not None and self.action_bins is not None:
            raise ValueError(
                f"action_bins = {self.action_bins}, but the codebook says what actions are: leave out one of both"
            )
        cells = codebook is not None and codebook.observation_names is None and codebook.columns_
        return replace(self, observation=cells) if cells and self.observation is None else self


@dataclass(frozen=True)
class Layout:
    """The columns that a particular log has."""

    per_step: bool
    names: dict[str, str]
    """Column by role, for roles of one column: the fields of `LogColumns`."""
    observation: tuple[str, ...]
    first_observation: tuple[str, ...] = ()
    action_bins: int | None = None
    """Cells into which numeric actions are cut."""
    dropped: tuple[str, ...] = ()
    """Columns of the usual names that cannot be used."""

    @property
    def observed(self) -> tuple[str, ...]:
        """The columns of all that is seen."""
        return (*self.observation, *self.first_observation)

    @property
    def columns(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys([*self.names.values(), *self.observed]))


#: What columns are for.
ROLES = tuple(field.name for field in fields(LogColumns) if field.name != "action_bins")

#: Roles that several columns may share.
SEVERAL = ("observation", "first_observation")

#: How to ask for cells of numeric actions.
BY_BINS = "LogColumns(action_bins=8) or --action-bins 8"

USUAL = {
    "episode": ("episode", "episode_id"),
    "action": ("action", "actions"),
    "observation": ("observation", "observations"),
    "reward": ("reward", "rewards"),
    "behavior_prob": ("behavior_prob", "behavior_probs"),
    "terminated": ("terminated",),
    "first_observation": ("first_observation",),
}


def is_list(kind: pa.DataType) -> bool:
    """Whether a column holds a list in every row."""
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def layout_of(schema: pa.Schema, wanted: LogColumns) -> Layout:
    """Finds the columns of a log by their names."""
    by_role: dict[str, tuple[str, ...]] = {}
    for role in ROLES:
        named = getattr(wanted, role)
        listed = (named,) if isinstance(named, str) else named or ()
        usual = [name for name in USUAL.get(role, ()) if name in schema.names]
        absent = [name for name in listed if name not in schema.names]
        if listed and not absent:
            by_role[role] = tuple(listed)
        elif not listed and usual:
            by_role[role] = (usual[0],)
        elif listed or role in ("action", "observation", "reward"):
            candidates = absent[:1] or USUAL[role]
            raise FileFormatError(
                f"no column {' or '.join(map(repr, candidates))} for the {role} among {schema.names[:20]}; "
                f"give its name, as in LogColumns({role}=…) or --columns {role}=…"
            )
    twice = [
        name
        for name in {name for names in by_role.values() for name in names}
        if schema.names.count(name) > 1
    ]
    if twice:
        raise FileFormatError(f"several columns are called {sorted(twice)[0]!r}; rename all but one")
    observation, first = by_role.pop("observation"), by_role.pop("first_observation", ())
    if first and len(first) != len(observation):
        raise FileFormatError(
            f"first_observation has the columns {list(first)}, observation {list(observation)}: give one for each"
        )
    dropped = _without_propensities(wanted, by_role) if wanted.action_bins is not None else ()
    names = {role: name for role, (name,) in by_role.items()}
    per_step = not is_list(schema.field(names["action"]).type)
    _refuse_ids(schema, names, per_step)
    for name in [*(names[role] for role in ("reward", "behavior_prob") if role in names), *observation]:
        if is_list(schema.field(name).type) == per_step:
            raise FileFormatError(
                f"column {names['action']!r} holds {schema.field(names['action']).type} and column "
                f"{name!r} holds {schema.field(name).type}: all hold lists, or none does"
            )
    if not per_step:
        names.pop("episode", None)
    return Layout(per_step, names, observation, first, wanted.action_bins, dropped)


def _without_propensities(wanted: LogColumns, by_role: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Takes the propensities out of the roles: they are those of numbers, not of the cells these lie in."""
    if wanted.behavior_prob is not None:
        raise FileFormatError(
            f"column {wanted.behavior_prob!r} says how probable a logged number was, which says nothing about its "
            "cell: leave out behavior_prob, and the behaviour is estimated; or leave out action_bins"
        )
    return by_role.pop("behavior_prob", ())


def _refuse_ids(schema: pa.Schema, names: dict[str, str], per_step: bool) -> None:
    """Refuses a log whose rows cannot be put together to episodes."""
    if not per_step:
        if "time" in names:
            raise FileFormatError(
                f"column {names['time']!r} for the time: a row is a whole episode, in its own order"
            )
        return
    if "episode" not in names:
        raise FileFormatError(
            f"one row per step needs a column that numbers the episodes, among {schema.names[:20]}; give its "
            "name, as in LogColumns(episode=…) or --columns episode=…"
        )
    for role in ("episode", "time"):
        kind = schema.field(names[role]).type if role in names else pa.int64()
        if pa.types.is_nested(kind):
            raise FileFormatError(f"column {names[role]!r} for the {role} holds {kind}: give one value a row")


@contextmanager
def naming(source: object) -> Iterator[None]:
    """Turns whatever is wrong with a log into a `FileFormatError` that names it."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise  # the system's own: no such file, no permission, …
        raise FileFormatError(f"{source}: {error}") from error
    except (pa.ArrowException, FileFormatError, *DAMAGE) as error:
        if str(error).startswith(str(source)):
            raise  # named already, by the file in the folder
        raise FileFormatError(f"{source}: {error}") from error
