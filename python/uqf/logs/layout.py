"""The columns of a particular log, by their roles."""

from __future__ import annotations

import difflib
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from uqf.coding.codebook import Codebook
from uqf.episodes.parquet_file import NO_EXTRAS, Extras, extras_of
from uqf.errors import FileFormatError
from uqf.logs.columns import ROLES, LogColumns

#: What a damaged or hostile log may raise on its way to episodes.
DAMAGE = (ValueError, TypeError, LookupError, OverflowError, RecursionError, EOFError, zlib.error)


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
    before: bool = False
    """Whether the observation of a row was seen before its action."""
    costs: bool = False
    """Whether the column of the reward holds costs."""
    extras: Extras = NO_EXTRAS
    """Raw columns and allowed actions of our own files."""

    @property
    def seen(self) -> tuple[str, ...]:
        """The columns of all that is seen."""
        return (*self.observation, *self.first_observation)

    @property
    def columns(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys([*self.names.values(), *self.seen, *self.extras.names]))

    def known_names(self, codebook: Codebook | None) -> dict[str, tuple[str, ...]]:
        """By column of actions or observations, the names that a codebook has for it, if any."""
        book, known = codebook or Codebook.named(), dict[str, tuple[str, ...]]()
        if book.action_names is not None:
            known[self.names["action"]] = book.action_names
        if book.observation_names is not None:
            known |= dict.fromkeys(self.seen, book.observation_names)
        elif book.coding_ is not None:
            known |= {column.name: column.names for column in book.coding_.columns if column.names}
        return known


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
    "allowed": ("allowed_actions",),
}

#: Names under which others keep what we look for, by role; suggested, never taken.
LOOKS_LIKE = {
    "episode": "episode episodes run run_id trajectory traj session user patient machine unit id",
    "action": "action actions act decision choice treatment what do",
    "observation": "observation observations obs state sensor",
    "reward": "reward rewards gain return payoff profit score cost costs loss",
    "terminated": "done dones terminal terminals is_terminal is_last ended finished end",
    "behavior_prob": "propensity propensities pscore prob action_prob probability",
    "time": "time timestamp ts datetime date step t",
    "first_observation": "reset_observation initial_observation",
    "allowed": "allowed legal legal_actions valid_actions available_actions action_mask",
}


#: Roles without which a log can be read.
OPTIONAL = ("terminated", "behavior_prob", "time", "first_observation", "allowed")


def is_list(kind: pa.DataType) -> bool:
    """Whether a column holds a list in every row."""
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def layout_of(schema: pa.Schema, wanted: LogColumns) -> Layout:
    """Finds the columns of a log by their names."""
    by_role, missing, costs = dict[str, tuple[str, ...]](), dict[str, list[str]](), False
    for role in ROLES:
        named = getattr(wanted, role)
        listed = [named] if isinstance(named, str) else list(named or ())
        if role == "reward" and listed and listed[0].startswith("-") and listed[0] not in schema.names:
            listed, costs = [listed[0][1:].strip()], True
        usual = [name for name in USUAL.get(role, ()) if name in schema.names and not listed]
        if not set(listed) <= set(schema.names):
            missing[role] = listed
        elif listed or usual:
            by_role[role] = tuple(listed or usual[:1])
        elif role in ("action", "observation", "reward"):
            missing[role] = []
    action = by_role.get("action")
    per_step = action is None or not is_list(schema.field(action[0]).type)
    if per_step and "episode" not in by_role:
        missing.setdefault("episode", [])
    if missing:
        used = {name for names in by_role.values() for name in names}
        raise FileFormatError(_what_is_missing(schema.names, missing, used, costs))
    twice = sorted({name for names in by_role.values() for name in names if schema.names.count(name) > 1})
    if twice:
        raise FileFormatError(f"several columns are called {twice[0]!r}; rename all but one")
    observation, first = by_role.pop("observation"), by_role.pop("first_observation", ())
    if first and len(first) != len(observation):
        raise FileFormatError(
            f"first_observation has the columns {list(first)}, observation {list(observation)}: give one for each"
        )
    before = wanted.observed == "before"
    if wanted.action_bins is not None:
        _drop_propensities(wanted, by_role)
    names = {role: name for role, (name,) in by_role.items()}
    _refuse_kinds(schema, names, observation, per_step)
    if not per_step:
        names.pop("episode", None)
    first = () if before else first
    return Layout(per_step, names, observation, first, wanted.action_bins, before, costs, extras_of(schema))


def _what_is_missing(names: list[str], missing: dict[str, list[str]], used: set[str], costs: bool) -> str:
    """All roles without a column, with those that look like them, and the line to type.

    `missing` has the columns that were asked for, some of which may exist.
    """
    parts, typed, left = [], dict[str, list[str]](), [name for name in names if name not in used]
    for role, listed in missing.items():
        near = {name: name if name in names else _alike([name], left) for name in listed}
        if not listed:
            near[role] = _alike([role, *USUAL.get(role, ()), *LOOKS_LIKE[role].split()], left)
        found = [one for name, one in near.items() if one != name and one]
        left = [name for name in left if name not in near.values()]
        absent = [repr(name) for name in listed if name not in names]
        wanted = ", ".join(absent) or " or ".join(map(repr, USUAL.get(role, (role,))))
        guess = f" (is it {' and '.join(map(repr, found))}?)" if found else ""
        purpose = (
            ", which numbers the episodes where one row is one step" if near.keys() == {"episode"} else ""
        )
        parts.append(f"no column {wanted} for the {role}{guess}{purpose}")
        typed[role] = [one or "…" for one in near.values()]
        if role == "reward" and (costs or is_cost(typed[role][0])):
            typed[role][0] = f"-{typed[role][0]}"
    options = ",".join(f"{role}={'+'.join(listed)}" for role, listed in typed.items())
    given = ", ".join(
        f"{role}={listed if len(listed) > 1 else listed[0]!r}" for role, listed in typed.items()
    )
    return f"{'; '.join(parts)}, among {names[:20]}; type --columns {options} or LogColumns({given})"


def is_cost(name: str) -> bool:
    """Whether a column is called after what is paid, not earned."""
    return bool(re.search(r"cost|loss|penalt|expense", name.casefold()))


def _alike(wanted: list[str], names: list[str]) -> str | None:
    """The first name that is one of those wanted but for case, spaces and underscores, or nearly."""
    by_plain = {re.sub(r"[\s_-]+", "", name).casefold(): name for name in reversed(names)}
    for one in wanted:
        plain = re.sub(r"[\s_-]+", "", one).casefold()
        near = difflib.get_close_matches(plain, by_plain, n=1, cutoff=0.8 if len(one) > 3 else 1.0)
        if near:
            return by_plain[near[0]]
    return None


def _drop_propensities(wanted: LogColumns, by_role: dict[str, tuple[str, ...]]) -> None:
    """Takes the propensities out of the roles: they are those of numbers, not of the cells these lie in."""
    if wanted.behavior_prob is not None:
        raise FileFormatError(
            f"column {wanted.behavior_prob!r} says how probable a logged number was, which says nothing about its "
            "cell: leave out behavior_prob, and the behaviour is estimated; or leave out action_bins"
        )
    by_role.pop("behavior_prob", None)


def _refuse_kinds(
    schema: pa.Schema, names: dict[str, str], observation: tuple[str, ...], per_step: bool
) -> None:
    """Refuses lists beside single values, and rows that cannot be put together to episodes."""
    for name in [*(names[role] for role in ("reward", "behavior_prob") if role in names), *observation]:
        if is_list(schema.field(name).type) == per_step:
            raise FileFormatError(
                f"column {names['action']!r} holds {schema.field(names['action']).type} and column "
                f"{name!r} holds {schema.field(name).type}: all hold lists, or none does"
            )
    if not per_step and "time" in names:
        raise FileFormatError(
            f"column {names['time']!r} for the time: a row is a whole episode, in its own order"
        )
    for role in ("episode", "time") if per_step else ():
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
