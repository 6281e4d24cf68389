"""Arrow tables as episodes: types, codes, cuts, and everything that can be wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.data.codebook import Codebook
from uqf.data.formats.columns import Layout
from uqf.data.formats.values import codes_of, is_text, numbers_of, values_of
from uqf.data.trajectories import Trajectories
from uqf.errors import FileFormatError

#: More distinct actions or observations than this are taken for identifiers or measurements.
MAX_NAMES = 100_000


@dataclass(frozen=True)
class Alphabet:
    """Sizes of the alphabets, and the names if there are any."""

    n_actions: int
    n_observations: int
    codebook: Codebook | None


def alphabet_of(
    tables: Iterable[Any],
    layout: Layout,
    n_actions: int | None,
    n_observations: int | None,
    codebook: Codebook | None,
) -> Alphabet:
    """Names, or largest numbers, of the actions and observations in all tables; holds one table at a time."""
    known = codebook or Codebook.named()
    sizes = {"action": n_actions or known.n_actions, "observation": n_observations or known.n_codes}
    names: dict[str, set[str]] = {"action": set(), "observation": set()}
    largest = {"action": -1, "observation": -1}
    if sizes["action"] is None or sizes["observation"] is None:
        row = 0
        for table in tables:
            for role in (role for role, size in sizes.items() if size is None):
                for column in (role, f"first_{role}"):
                    if column in layout.names:
                        values = values_of(table, layout, column, row)
                        _take_stock(values, layout.names[column], names[role], largest, role)
            row += table.num_rows
    for role, listed in names.items():
        size = sizes[role] or max(len(listed), largest[role] + 1)
        if sizes[role] is None and size > MAX_NAMES:
            raise FileFormatError(
                f"column {layout.names[role]!r} needs {size} codes, at most {MAX_NAMES} are sensible: group "
                f"rare values, number them 0, 1, 2, …, or say n_{role}s if you mean it"
            )
    if codebook is None and any(names.values()):
        codebook = Codebook.named(
            *(tuple(sorted(names[role])) if names[role] else None for role in ("action", "observation"))
        )
    known = codebook or Codebook.named()
    return Alphabet(
        sizes["action"] or known.n_actions or max(largest["action"] + 1, 1),
        sizes["observation"] or known.n_codes or max(largest["observation"] + 1, 1),
        codebook,
    )


def _take_stock(values: Any, column: str, names: set[str], largest: dict[str, int], role: str) -> None:
    """Adds the names, or the largest number, of one table."""
    if is_text(values.type) and largest[role] < 0:
        names.update(pc.unique(values).to_pylist())
        if len(names) > MAX_NAMES:
            raise FileFormatError(
                f"column {column!r} has more than {MAX_NAMES} distinct values: they look like identifiers "
                "or measurements; group them into kinds first"
            )
    elif pa.types.is_integer(values.type) and not names:
        if len(values):
            largest[role] = max(largest[role], pc.max(values).as_py())
    else:
        raise FileFormatError(f"column {column!r} holds {values.type}: give whole numbers or names, not both")


def trajectories_of(table: Any, layout: Layout, alphabet: Alphabet, first_row: int = 0) -> Trajectories:
    """The episodes of a table that holds whole ones only; row numbers in errors count from `first_row`."""
    if table.num_rows == 0:
        raise FileFormatError("the log holds no episode")
    lengths = _run_lengths(table, layout) if layout.per_step else _list_lengths(table, layout, first_row)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    codebook = alphabet.codebook or Codebook.named()
    unknown = None if codebook.observation_names is None else len(codebook.observation_names)
    names = layout.names
    probs = numbers_of(table, layout, "behavior_prob", first_row) if "behavior_prob" in names else None
    rewards = numbers_of(table, layout, "reward", first_row)
    actions = codes_of(
        values_of(table, layout, "action", first_row), codebook.action_names, names["action"], None
    )
    seen = codes_of(
        values_of(table, layout, "observation", first_row),
        codebook.observation_names,
        names["observation"],
        unknown,
    )

    first = None
    if "first_observation" in names:
        listed = values_of(table, layout, "first_observation", first_row)
        shown = listed.take(pa.array(offsets[:-1])) if layout.per_step else listed
        first = codes_of(shown, codebook.observation_names, names["first_observation"], unknown)

    def refuse(role: str, values: NDArray[Any], good: NDArray[np.bool_], wish: str) -> None:
        if not good.all():
            step = int(np.argmin(good))
            episode = int(np.searchsorted(offsets, step, side="right")) - 1
            row = first_row + (step if layout.per_step else episode)
            place = "" if layout.per_step else f", entry {step - offsets[episode]}"
            raise FileFormatError(f"column {names[role]!r}, row {row}{place}: {values[step]} is no {wish}")

    refuse("reward", rewards, np.isfinite(rewards), "finite number")
    if probs is not None:
        refuse("behavior_prob", probs, (probs > 0.0) & (probs <= 1.0), "probability above 0 and up to 1")
    refuse(
        "action", actions, (actions >= 0) & (actions < alphabet.n_actions), f"code below {alphabet.n_actions}"
    )
    limit = alphabet.n_observations
    refuse("observation", seen, (seen >= 0) & (seen < limit), f"code below {limit}")
    return Trajectories(
        actions,
        seen,
        rewards,
        offsets,
        n_actions=alphabet.n_actions,
        n_observations=alphabet.n_observations,
        behavior_probs=probs,
        terminated=_terminated(table, layout, offsets, first_row),
        codebook=alphabet.codebook,
        first_observations=first,
    )


def _list_lengths(table: Any, layout: Layout, first_row: int) -> NDArray[np.int64]:
    lengths = {}
    for role in ("action", "observation", "reward", "behavior_prob"):
        if role in layout.names:
            column = table.column(layout.names[role]).combine_chunks()
            lengths[role] = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    wanted: NDArray[np.int64] = lengths["action"].astype(np.int64)
    for role, given in lengths.items():
        wrong = (given != wanted) | (given == 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise FileFormatError(
                f"column {layout.names[role]!r}, row {first_row + row}: {given[row]} entries, where column "
                f"{layout.names['action']!r} has {wanted[row]}; all must be equal and positive"
            )
    return wanted


def _starts(table: Any, layout: Layout) -> NDArray[np.int64]:
    """Rows at which the episode id changes, the first row among them."""
    ids = values_of(table, layout, "episode")
    changes = pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def _run_lengths(table: Any, layout: Layout) -> NDArray[np.int64]:
    return np.diff(np.append(_starts(table, layout), table.num_rows))


def _terminated(table: Any, layout: Layout, offsets: NDArray[np.int64], first_row: int) -> Any:
    if "terminated" not in layout.names:
        return None
    name = layout.names["terminated"]
    values = values_of(table, layout, "terminated", first_row)
    if (
        not (pa.types.is_boolean(values.type) or pa.types.is_integer(values.type))
        or len(values) != table.num_rows
    ):
        raise FileFormatError(
            f"column {name!r} holds {table.column(name).type}: give true or false in every row"
        )
    flags = np.asarray(values.to_numpy(zero_copy_only=False))
    if not np.isin(flags, (0, 1)).all():
        raise FileFormatError(f"column {name!r} holds {flags.max()}: give true or false (1 or 0)")
    flags = flags.astype(np.bool_)
    if not layout.per_step:
        return flags
    last = offsets[1:] - 1
    early = flags.copy()
    early[last] = False
    if early.any():
        row = first_row + int(np.argmax(early))
        raise FileFormatError(f"column {name!r}, row {row}: true before the last step of its episode")
    return flags[last]


def whole_episodes(tables: Iterable[Any], layout: Layout) -> Iterator[tuple[int, Any]]:
    """(first row, table) with whole episodes only: an episode that goes on in the next table waits for it.

    With one row per step, an id that comes back after another episode is refused; for that, ids that do not
    count 0, 1, 2, … are remembered, which is the only thing that grows with the data.
    """
    if not layout.per_step:
        row = 0
        for table in tables:
            yield row, table
            row += table.num_rows
        return
    finished = _Finished()
    waiting, row = None, 0
    for part in tables:
        table = part if waiting is None else pa.concat_tables([waiting, part])
        if table.num_rows == 0:
            continue
        starts = _starts(table, layout)
        cut = int(starts[-1])
        _finish(table, layout, starts[:-1], row, finished)
        if cut:
            yield row, table.slice(0, cut)
        waiting, row = table.slice(cut), row + cut
    if waiting is not None:
        _finish(waiting, layout, np.zeros(1, np.int64), row, finished)
        yield row, waiting


class _Finished:
    """Ids of finished episodes. Those that count 0, 1, 2, … take no memory."""

    def __init__(self) -> None:
        self.counted = 0
        self.others: set[Any] = set()

    def adds(self, identity: Any) -> bool:
        """Whether the id is new; it is finished from now on."""
        if identity == self.counted or identity == str(self.counted):
            self.counted += 1
            return True
        try:
            number = int(identity)
        except (TypeError, ValueError, OverflowError):
            number = -1
        if (0 <= number < self.counted and identity in (number, str(number))) or identity in self.others:
            return False
        self.others.add(identity)
        return True


def _finish(table: Any, layout: Layout, starts: NDArray[np.int64], row: int, finished: _Finished) -> None:
    ids = values_of(table, layout, "episode").take(pa.array(starts)).to_pylist()
    for start, identity in zip(starts, ids, strict=True):
        if not finished.adds(identity):
            raise FileFormatError(
                f"column {layout.names['episode']!r}, row {row + start}: episode {identity!r} comes back "
                "after another one; sort the log by episode, or give every episode an id of its own"
            )
