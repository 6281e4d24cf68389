"""Rows of a log as episodes: types, codes, cuts, and everything that can be wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.coding.cells import Cells
from uqf.coding.codebook import Codebook
from uqf.coding.names import MISSING
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.logs.alphabet import Alphabet, Given
from uqf.logs.layout import BY_BINS, is_list
from uqf.logs.rows import Rows, array, is_text, whole_numbers
from uqf.logs.suspicions import spellings
from uqf.types import Record

#: Symbols that the metadata of any file may promise, and those for every step of a longer one.
MODEST_SYMBOLS = 2**20
SYMBOLS_PER_STEP = 2**10

#: What stands between the allowed actions of a cell.
BETWEEN = "|"


def refuse_empty_promise(written: tuple[int, int, Codebook | None], count: Callable[[], int]) -> None:
    """Refuses metadata with far more symbols than there are steps: memory would be taken for all of them."""
    n_actions, n_observations, _ = written
    if (
        n_actions * n_observations > MODEST_SYMBOLS
        and n_actions * n_observations > SYMBOLS_PER_STEP * count()
    ):
        raise FileFormatError(
            f"the metadata claim {n_actions} actions and {n_observations} observations for {count()} steps; say "
            "n_actions and n_observations if you mean it"
        )


def trajectories_of(rows: Rows, alphabet: Alphabet) -> Trajectories:
    """The episodes of rows that are whole episodes, one after the other."""
    codebook, names = alphabet.codebook or Codebook.named(), rows.layout.names
    probs = rows.numbers(names["behavior_prob"]) if "behavior_prob" in names else None
    rewards = rows.rewards()
    actions = _actions(rows, codebook)
    seen, first = _observed(rows, codebook)
    rows.refuse(names["reward"], rewards, np.isfinite(rewards), "finite number")
    if probs is not None:
        good = (probs > 0.0) & (probs <= 1.0)
        rows.refuse(names["behavior_prob"], probs, good, "probability above 0 and up to 1")
    for name, codes, limit in (
        (names["action"], actions, alphabet.n_actions),
        (rows.layout.observation[0], seen, alphabet.n_observations),
    ):
        if codes.min() < 0 or codes.max() >= limit:
            wish = f"code below {limit}"
            if codes is actions and codes.min() < 0:
                wish += f": number the actions 0, 1, 2, …, name them, or cut them into cells with {BY_BINS}"
            rows.refuse(name, codes, (codes >= 0) & (codes < limit), wish)
    return Trajectories(
        actions,
        seen,
        rewards,
        rows.offsets,
        n_actions=alphabet.n_actions,
        n_observations=alphabet.n_observations,
        behavior_probs=probs,
        terminated=_terminated(rows),
        codebook=alphabet.codebook,
        first_observations=first,
        **_extras(rows, alphabet),
    )


def _actions(rows: Rows, codebook: Codebook) -> NDArray[np.int64]:
    """Codes of the actions."""
    if codebook.action_bins is not None:
        rows = replace(rows, layout=replace(rows.layout, action_bins=codebook.action_bins.n))
        return codebook.action_bins.encode(array(rows.actions()))
    return _codes(rows.actions(), codebook.action_names, rows.layout.names["action"], None)


def _observed(rows: Rows, codebook: Codebook) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Codes of the observations, and of what every episode showed first."""
    layout = rows.layout
    if isinstance(codebook.coding_, Cells):
        shown = rows.measured_first
        return codebook.encode(rows.measured), None if shown is None else codebook.encode(shown)
    if len(layout.observation) > 1:
        raise FileFormatError(
            f"the columns {list(layout.observation)} are observed, but the codebook knows one"
        )
    names, (column,) = codebook.observation_names, layout.observation
    unknown = None if names is None else len(names)
    seen = _codes(rows.seen(column, may_miss=names is not None), names, column, unknown)
    first = rows.seen_first(0, may_miss=names is not None)
    return seen, None if first is None else _codes(first, names, layout.seen[-1], unknown)


def _codes(
    values: pa.Array, names: tuple[str, ...] | None, column: str, unknown: int | None
) -> NDArray[np.int64]:
    """Codes of names or numbers; `unknown` is the code of a name that is not listed, None refuses it."""
    if is_text(values.type) != (names is not None):
        kinds = "names" if names is not None else "numbers"
        raise FileFormatError(f"column {column!r} holds {values.type}, but the codebook has {kinds}")
    if names is None:
        return array(values.cast(pa.int64()))
    values = pc.fill_null(values, MISSING)
    places = pc.index_in(values, value_set=pa.array(names, pa.string()))
    if places.null_count and unknown is None:
        row = int(np.argmax(array(places.is_null())))
        name = values[row].as_py()
        near = spellings(pa.array([name]), names).get(name)
        hint = f", which has {near!r}: read with clean=True (--clean)" if near else ""
        raise FileFormatError(f"column {column!r}: {name!r} is not in the codebook{hint}")
    return array(pc.fill_null(places.cast(pa.int64()), unknown))


def _terminated(rows: Rows) -> NDArray[np.bool_] | None:
    if "terminated" not in rows.layout.names:
        return None
    name = rows.layout.names["terminated"]
    values = rows.values(name, may_miss=True)
    if pa.types.is_null(values.type):
        values = values.cast(pa.bool_())
    if not (pa.types.is_boolean(values.type) or pa.types.is_integer(values.type)) or len(values) != len(rows):
        raise FileFormatError(
            f"column {name!r} holds {rows.table.column(name).type}: give true or false in every row"
        )
    # Whoever does not say that an episode ended does not say that it did.
    numbers = whole_numbers(values)
    if ((numbers != 0) & (numbers != 1)).any():
        raise FileFormatError(f"column {name!r} holds {numbers.max()}: give true or false (1 or 0)")
    flags = numbers.astype(np.bool_)
    if not rows.layout.per_step:
        return flags
    last = rows.offsets[1:] - 1
    early = flags.copy()
    early[last] = False
    if early.any():
        raise FileFormatError(
            f"column {name!r}, {rows.where(int(np.argmax(early)))}: true before the last step of its episode; give the "
            "steps that follow another episode, or leave out terminated"
        )
    return flags[last]


def _extras(rows: Rows, alphabet: Alphabet) -> Record:
    """Columns, first columns, their sizes and allowed actions, as far as a log has them.

    Our own files keep them. Of another log columns are kept where observations are cut into cells: one column of names
    or codes is its code.
    """
    extras, codebook = rows.layout.extras, alphabet.codebook or Codebook.named()
    if extras.names:
        own: Record = {
            part: np.stack([array(rows.values(f"{part}.{place}")) for place in range(width)], axis=1)
            for part, width in extras.widths.items()
        }
        return own | ({"column_sizes": extras.column_sizes} if extras.column_sizes else {})
    kept: Record = {}
    if isinstance(codebook.coding_, Cells):
        shown = rows.measured_first
        kept["columns"] = codebook.raw_columns(rows.measured)
        kept["first_columns"] = None if shown is None else codebook.raw_columns(shown)
        kept["column_sizes"] = codebook.column_sizes
    if "allowed" in rows.layout.names:
        kept["allowed"] = _allowed(rows, codebook, alphabet.n_actions)
    return kept


def _allowed(rows: Rows, codebook: Codebook, n_actions: int) -> NDArray[np.bool_]:
    """The actions that every row allowed, (n_steps, n_actions)."""
    name = rows.layout.names["allowed"]
    if codebook.action_bins is not None:
        raise FileFormatError(
            f"column {name!r} lists allowed actions, but the actions are cut into cells: leave out one of both"
        )
    names = [str(codebook.decode_action(code)) for code in range(n_actions)]
    # Actions may have been cleaned of spellings that the cells still have.
    known = {one: code for form in (str.casefold, str) for code, one in enumerate(map(form, names))}
    masks: dict[tuple[str, ...], NDArray[np.bool_]] = {(): np.ones(n_actions, np.bool_)}
    cells = _cells(rows, name)
    for step, cell in enumerate(cells):
        if cell not in masks:
            if unknown := [one for one in cell if one not in known and one.casefold() not in known]:
                raise FileFormatError(
                    f"column {name!r}, {rows.where(step)}: {unknown[0]!r} is no action; the actions are "
                    f"{', '.join(names[:20])}, with {BETWEEN} between those that are allowed"
                )
            masks[cell] = np.zeros(n_actions, np.bool_)
            masks[cell][[known[one if one in known else one.casefold()] for one in cell]] = True
    return np.stack([masks[cell] for cell in cells])


def _cells(rows: Rows, name: str) -> list[tuple[str, ...]]:
    """What the cells list, one per step; nothing for an empty one."""
    column = rows.table.column(name).combine_chunks()
    if rows.layout.per_step and is_list(column.type):
        listed = column.to_pylist()
        return [tuple(str(one).strip() for one in cell or ()) for cell in listed]
    values = rows.values(name, may_miss=True)
    if pa.types.is_nested(values.type):
        raise FileFormatError(f"column {name!r} holds {values.type}: give names with {BETWEEN} between them")
    texts = (values if is_text(values.type) else values.cast(pa.string())).to_pylist()
    split = {
        text: tuple(one.strip() for one in text.split(BETWEEN))
        for text in set(texts)
        if text and text.strip()
    }
    return [split.get(text, ()) for text in texts]


def recoded(data: Trajectories, written: Codebook | None, given: Given) -> Trajectories:
    """Episodes whose codes mean the names of `written`, in the codes of `codebook` and with the sizes that were given.

    An observation that `codebook` does not know becomes its last code; such an action is refused.
    """
    n_actions, n_observations, codebook = given
    old, new = written or Codebook.named(), codebook or written or Codebook.named()
    actions, observations, first = data.actions, data.observations, data.first_observations
    places = list(range(data.n_actions))
    if isinstance(new.coding_, Cells) != isinstance(old.coding_, Cells) or (
        isinstance(old.coding_, Cells) and new.coding_ != old.coding_
    ):
        raise FileFormatError(
            "the observations of this file have the codes of another codebook, and what they were is not in it; give "
            "the log that it was made from"
        )
    if new.action_bins != old.action_bins:
        raise FileFormatError(
            "the actions of this file are other cells of numbers than those of the codebook, and which numbers they "
            "were is not in it; give the log that it was made from"
        )
    if new != old:
        for role in ("action_names", "observation_names"):
            if (getattr(old, role) is None) != (getattr(new, role) is None):
                kinds = ["numbers" if getattr(one, role) is None else "names" for one in (old, new)]
                raise FileFormatError(
                    f"the {role.split('_')[0]}s of the log are {kinds[0]}, those of the codebook {kinds[1]}"
                )
        if old.action_names is not None:
            places = [new.encode_action(name) for name in old.action_names]
            actions = _translated(actions, places)
        if old.observation_names is not None and new.n_codes is not None:
            codes = [new.encode_one(name) for name in old.observation_names]
            table = [*codes, new.n_codes - 1]
            observations = _translated(observations, table)
            first = None if first is None else _translated(first, table)
    n_actions = new.n_actions or n_actions or data.n_actions
    changed: Record = {
        "actions": actions,
        "observations": observations,
        "n_actions": n_actions,
        "n_observations": new.n_codes or n_observations or data.n_observations,
        "codebook": None if new == Codebook.named() else new,
        "first_observations": first,
    }
    if data.allowed is not None:
        # Actions that the file does not know were not offered.
        changed["allowed"] = np.zeros((data.n_steps, max(n_actions, data.n_actions)), np.bool_)
        changed["allowed"][:, places] = data.allowed
    return Trajectories(**data.__getstate__() | changed)


def _translated(codes: NDArray[np.int32], table: list[int]) -> NDArray[np.int32]:
    return np.asarray(table, np.int32)[codes]
