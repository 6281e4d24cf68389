"""Which columns of a log hold what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from uqf.errors import FileFormatError

#: What a damaged or hostile log may raise on its way to episodes.
DAMAGE = (ValueError, TypeError, LookupError, OverflowError, RecursionError)


@dataclass(frozen=True)
class LogColumns:
    """Column names of a log; None looks for the usual name, such as "reward" or "rewards".

    A log has one row per episode, with lists in its columns and perhaps a `terminated` flag; or one row per
    step, with an `episode` column whose value is the same in all rows of an episode.

    Parameters
    ----------
    episode, action, observation, reward : str, optional
        What every log has; `episode` only where there is one row per step.
    behavior_prob : str, optional
        The probability with which the logged action was taken.
    terminated : str, optional
        Whether the system ended the episode.
    first_observation : str, optional
        What was seen before the first action; the first row of an episode counts.

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
    observation: str | None = None
    reward: str | None = None
    behavior_prob: str | None = None
    terminated: str | None = None
    first_observation: str | None = None


@dataclass(frozen=True)
class Layout:
    """The columns that a particular log has."""

    per_step: bool
    names: dict[str, str]
    """Column by role: the fields of `LogColumns`."""

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        return list(self.names.values())


USUAL = {
    "episode": ("episode", "episode_id"),
    "action": ("action", "actions"),
    "observation": ("observation", "observations"),
    "reward": ("reward", "rewards"),
    "behavior_prob": ("behavior_prob", "behavior_probs"),
    "terminated": ("terminated",),
    "first_observation": ("first_observation",),
}


def is_list(kind: Any) -> bool:
    """Whether a column holds a list in every row."""
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def layout_of(schema: Any, wanted: LogColumns) -> Layout:
    """Finds the columns of a log by their names."""
    names = {}
    for role in (field.name for field in fields(wanted)):
        asked = getattr(wanted, role)
        candidates = USUAL[role] if asked is None else (asked,)
        found = [name for name in candidates if name in schema.names]
        if found:
            names[role] = found[0]
            if schema.names.count(found[0]) > 1:
                raise FileFormatError(f"several columns are called {found[0]!r}; rename all but one")
        elif asked is not None or role in ("action", "observation", "reward"):
            raise FileFormatError(
                f"no column {' or '.join(map(repr, candidates))} for the {role} among {schema.names[:20]}; "
                f"give its name, as in LogColumns({role}=…) or --columns {role}=…"
            )
    per_step = not is_list(schema.field(names["action"]).type)
    if per_step and "episode" not in names:
        raise FileFormatError(
            f"one row per step needs a column that numbers the episodes, among {schema.names[:20]}; give its "
            "name, as in LogColumns(episode=…) or --columns episode=…"
        )
    if not per_step:
        names.pop("episode", None)
    for role in {"observation", "reward", "behavior_prob"} & names.keys():
        if is_list(schema.field(names[role]).type) == per_step:
            raise FileFormatError(
                f"column {names['action']!r} holds {schema.field(names['action']).type} and column "
                f"{names[role]!r} holds {schema.field(names[role]).type}: all hold lists, or none does"
            )
    return Layout(per_step, names)


@contextmanager
def naming(source: Any) -> Iterator[None]:
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
