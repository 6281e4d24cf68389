"""Arrow tables as episodes: types, codes, cuts, and everything that can be wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.coding.cells import Cells
from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.logs.alphabet import Alphabet, Asked, first_columns
from uqf.logs.columns import BY_BINS, Layout
from uqf.logs.grouping import lengths_of, whole_episodes
from uqf.logs.values import action_values, codes_of, numbers_of, raw_values, values_of
from uqf.types import AnyArray


def episodes_of(tables: Iterable[pa.Table], layout: Layout, alphabet: Alphabet) -> Iterator[Trajectories]:
    """Whole episodes as they come."""
    for row, table in whole_episodes(tables, layout):
        if table.num_rows:
            yield trajectories_of(table, layout, alphabet, row)


def trajectories_of(table: pa.Table, layout: Layout, alphabet: Alphabet, first_row: int = 0) -> Trajectories:
    """The episodes of a table that holds whole ones only; row numbers in errors count from `first_row`."""
    if table.num_rows == 0:
        raise FileFormatError("the log holds no episode")
    lengths = lengths_of(table, layout, first_row)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    codebook, names = alphabet.codebook or Codebook.named(), layout.names
    probs = numbers_of(table, names["behavior_prob"], first_row) if "behavior_prob" in names else None
    rewards = numbers_of(table, names["reward"], first_row)
    actions = _actions(table, layout, codebook, first_row)
    seen, first = _observed(table, layout, codebook, lengths, first_row)

    def refuse(role: str, values: AnyArray, good: NDArray[np.bool_], wish: str) -> None:
        if not good.all():
            step = int(np.argmin(good))
            episode = int(np.searchsorted(offsets, step, side="right")) - 1
            row = first_row + (step if layout.per_step else episode)
            place = "" if layout.per_step else f", entry {step - offsets[episode]}"
            name = names.get(role, layout.observation[0])
            raise FileFormatError(f"column {name!r}, row {row}{place}: {values[step]} is no {wish}")

    refuse("reward", rewards, np.isfinite(rewards), "finite number")
    if probs is not None:
        refuse("behavior_prob", probs, (probs > 0.0) & (probs <= 1.0), "probability above 0 and up to 1")
    known = f"code below {alphabet.n_actions}"
    if actions.min() < 0:
        known += f": number the actions 0, 1, 2, …, name them, or cut them into cells with {BY_BINS}"
    refuse("action", actions, (actions >= 0) & (actions < alphabet.n_actions), known)
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


def _actions(table: pa.Table, layout: Layout, codebook: Codebook, first_row: int) -> NDArray[np.int64]:
    """Codes of the actions."""
    if codebook.action_bins is not None:
        taken = action_values(table, replace(layout, action_bins=codebook.action_bins.n), first_row)
        return codebook.action_bins.encode(taken.to_numpy(zero_copy_only=False))
    taken = action_values(table, layout, first_row)
    return codes_of(taken, codebook.action_names, layout.names["action"], None)


def _observed(
    table: pa.Table, layout: Layout, codebook: Codebook, lengths: NDArray[np.int64], first_row: int
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Codes of the observations, and of what every episode showed first."""
    if isinstance(codebook.coding_, Cells):
        shown = first_columns(table, layout, lengths)
        seen = codebook.encode({name: raw_values(table, name) for name in layout.observation})
        return seen, None if shown is None else codebook.encode(shown)
    if len(layout.observation) > 1:
        raise FileFormatError(
            f"the columns {list(layout.observation)} are observed, but the codebook knows one"
        )
    names, (column,) = codebook.observation_names, layout.observation
    unknown = None if names is None else len(names)
    listed = values_of(table, column, first_row, may_miss=names is not None)
    seen = codes_of(listed, names, column, unknown)
    if not layout.first_observation:
        return seen, None
    (opening,) = layout.first_observation
    begun = values_of(table, opening, first_row, may_miss=names is not None)
    begun = begun.take(pa.array(np.cumsum(lengths) - lengths)) if layout.per_step else begun
    return seen, codes_of(begun, names, opening, unknown)


def _terminated(
    table: pa.Table, layout: Layout, offsets: NDArray[np.int64], first_row: int
) -> NDArray[np.bool_] | None:
    if "terminated" not in layout.names:
        return None
    name = layout.names["terminated"]
    values = values_of(table, name, first_row, may_miss=True)
    if pa.types.is_null(values.type):
        values = values.cast(pa.bool_())
    if (
        not (pa.types.is_boolean(values.type) or pa.types.is_integer(values.type))
        or len(values) != table.num_rows
    ):
        raise FileFormatError(
            f"column {name!r} holds {table.column(name).type}: give true or false in every row"
        )
    # Whoever does not say that an episode ended does not say that it did.
    flags = np.asarray(pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False))
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
        raise FileFormatError(
            f"column {name!r}, row {row}: true before the last step of its episode; give the steps that follow another "
            "episode, or leave out terminated"
        )
    return flags[last]


def recoded(data: Trajectories, written: Codebook | None, asked: Asked) -> Trajectories:
    """Episodes whose codes mean the names of `written`, in the codes of `codebook` and with the sizes asked for.

    An observation that `codebook` does not know becomes its last code; such an action is refused.
    """
    n_actions, n_observations, codebook = asked
    old, new = written or Codebook.named(), codebook or written or Codebook.named()
    actions, observations, first = data.actions, data.observations, data.first_observations
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
            actions = _translated(actions, [new.encode_action(name) for name in old.action_names])
        if old.observation_names is not None and new.n_codes is not None:
            codes = [new.encode_one(name) for name in old.observation_names]
            table = [*codes, new.n_codes - 1]
            observations = _translated(observations, table)
            first = None if first is None else _translated(first, table)
    return Trajectories(
        actions,
        observations,
        data.rewards,
        data.offsets,
        n_actions=new.n_actions or n_actions or data.n_actions,
        n_observations=new.n_codes or n_observations or data.n_observations,
        behavior_probs=data.behavior_probs,
        terminated=data.terminated,
        codebook=None if new == Codebook.named() else new,
        first_observations=first,
    )


def _translated(codes: NDArray[np.int32], table: list[int]) -> NDArray[np.int32]:
    return np.asarray(table, np.int32)[codes]
