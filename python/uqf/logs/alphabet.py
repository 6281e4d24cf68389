"""Which actions and observations a log knows, and how their codes are found: from names, numbers or a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from uqf.coding.action_bins import ActionBins, Bins
from uqf.coding.codebook import Codebook
from uqf.coding.names import MAX_NAMES, MISSING
from uqf.errors import FileFormatError
from uqf.logs.columns import BY_BINS, Layout
from uqf.logs.grouping import lengths_of, whole_episodes
from uqf.logs.values import action_values, is_text, numbers_of, raw_values, values_of
from uqf.types import AnyArray

#: Sizes and names that were asked for: n_actions, n_observations, codebook.
Asked = tuple[int | None, int | None, Codebook | None]

#: Steps that a codebook is learned from; up to twice as many are held.
MAX_STEPS = 100_000


@dataclass(frozen=True)
class Alphabet:
    """Sizes of the alphabets, and what their codes mean if they are not the numbers of the log."""

    n_actions: int
    n_observations: int
    codebook: Codebook | None


@dataclass
class Stock:
    """What occurs in a column of actions or observations, one table at a time."""

    role: str
    names: set[str]
    largest: int = -1
    measured: bool = False
    """Whether they are neither names nor codes, so that they must be cut into cells."""

    def take(self, values: pa.ChunkedArray, column: str) -> None:
        """Adds the values of one table."""
        if self.measured:
            return
        if is_text(values.type) and self.largest < 0:
            self.names.update(MISSING if name is None else name for name in pc.unique(values).to_pylist())
            if len(self.names) > MAX_NAMES:
                raise FileFormatError(
                    f"column {column!r} has more than {MAX_NAMES} distinct values: they look like identifiers "
                    "or measurements; group them into kinds first"
                )
        elif pa.types.is_integer(values.type) and not self.names:
            if len(values):
                limits = pc.min_max(values)
                smallest, largest = limits["min"].as_py(), limits["max"].as_py()
                codes = not values.null_count and smallest >= 0 and largest < MAX_NAMES
                if self.role == "observation" and not codes:
                    self.measured = True
                self.largest = max(self.largest, largest or 0)
        elif self.role == "observation" and not self.names and not is_text(values.type):
            self.measured = True
        else:
            way_out = "give whole numbers or names, not both"
            if self.role == "action" and not self.names and not is_text(values.type):
                way_out = f"give whole numbers from 0 on or names, or cut numbers into cells with {BY_BINS}"
            raise FileFormatError(f"column {column!r} holds {values.type}: {way_out}")


def refuse_bins_of_codes(layout: Layout, n_actions: int | None) -> None:
    """Raises FileFormatError if actions are to be cut into cells although they are known to be codes."""
    if layout.action_bins is not None and n_actions is not None:
        raise FileFormatError(
            f"action_bins = {layout.action_bins}, but the actions are {n_actions} codes already: leave out action_bins"
        )


@dataclass(frozen=True)
class RawEpisodes:
    """Some episodes as they stand in the log."""

    columns: dict[str, AnyArray]
    first: dict[str, AnyArray] | None
    actions: AnyArray
    rewards: NDArray[np.float64]
    lengths: NDArray[np.int64]
    layout: Layout

    @classmethod
    def of(cls, table: pa.Table, layout: Layout, first_row: int = 0) -> RawEpisodes:
        """The episodes of a table that holds whole ones only."""
        lengths = lengths_of(table, layout, first_row)
        actions = action_values(table, layout, first_row)
        return cls(
            {name: raw_values(table, name) for name in layout.observation},
            first_columns(table, layout, lengths),
            np.asarray(actions.to_numpy(zero_copy_only=False)),
            numbers_of(table, layout.names["reward"], first_row),
            lengths,
            layout,
        )

    def take(self, episodes: NDArray[np.int64]) -> RawEpisodes:
        """Some of the episodes."""
        chosen = np.zeros(len(self.lengths), np.bool_)
        chosen[episodes] = True
        steps = np.repeat(chosen, self.lengths)
        return RawEpisodes(
            {name: values[steps] for name, values in self.columns.items()},
            None if self.first is None else {name: values[chosen] for name, values in self.first.items()},
            self.actions[steps],
            self.rewards[steps],
            self.lengths[chosen],
            self.layout,
        )

    @classmethod
    def joined(cls, parts: list[RawEpisodes]) -> RawEpisodes:
        """All episodes of several parts."""

        def join(arrays: list[AnyArray]) -> AnyArray:
            alike = len({array.dtype.kind for array in arrays} - {"i", "u", "f"}) == 0
            return np.concatenate(arrays if alike else [array.astype(object) for array in arrays])

        return cls(
            {name: join([part.columns[name] for part in parts]) for name in parts[0].columns},
            None
            if parts[0].first is None
            else {name: join([(part.first or {})[name] for part in parts]) for name in parts[0].first},
            join([part.actions for part in parts]),
            np.concatenate([part.rewards for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            parts[0].layout,
        )

    def action_bins(self) -> ActionBins | None:
        """The cells of numeric actions, if they were asked for."""
        count = self.layout.action_bins
        if count is None:
            return None
        return ActionBins((Bins.learned(self.layout.names["action"], self.actions, count),))

    def codebook(self) -> Codebook:
        """The codebook learned from these episodes, without names of actions."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        bins = self.action_bins()
        taken = self.actions if bins is None else bins.encode(self.actions)
        return Codebook().fit(
            self.columns, self.rewards, offsets, actions=taken.astype(str), first=self.first
        )


def first_columns(table: pa.Table, layout: Layout, lengths: NDArray[np.int64]) -> dict[str, AnyArray] | None:
    """What every episode showed first, under the names of the observation's columns."""
    if not layout.first_observation:
        return None
    rows = pa.array(np.cumsum(lengths) - lengths) if layout.per_step else None
    pairs = zip(layout.observation, layout.first_observation, strict=True)
    return {name: raw_values(table, first, rows) for name, first in pairs}


def sample_of(
    read: Callable[[list[str]], Iterable[pa.Table]], layout: Layout, max_steps: int | None = None
) -> RawEpisodes:
    """Every n-th episode of a log, n growing with it; or, with `max_steps`, the first so many steps only."""
    kept: list[RawEpisodes] = []
    episodes, every = 0, 1
    for row, table in whole_episodes(read(layout.columns), layout):
        if table.num_rows == 0:
            continue
        part = RawEpisodes.of(table, layout, row)
        kept.append(part.take(np.flatnonzero((episodes + np.arange(len(part.lengths))) % every == 0)))
        episodes += len(part.lengths)
        steps = sum(len(part.rewards) for part in kept)
        if max_steps is not None and steps >= max_steps:
            break
        if steps > 2 * MAX_STEPS:
            whole = RawEpisodes.joined(kept)
            kept, every = [whole.take(np.arange(0, len(whole.lengths), 2))], 2 * every
    return RawEpisodes.joined(kept)


def alphabet_of(
    read: Callable[[list[str]], Iterable[pa.Table]],
    layout: Layout,
    asked: Asked,
    sample_steps: int | None = None,
) -> tuple[Alphabet, RawEpisodes | None]:
    """(alphabet, sample of episodes if a codebook must be learned); holds one table at a time.

    ``read(columns)`` gives the tables of the log from its beginning. Actions are names or codes, or numbers to be cut
    into cells. One column of observations may be names or codes as well; any other observations are cut into the cells
    of a codebook. With `sample_steps` so many steps are only sampled, for a codebook that is learned from the samples
    of several logs.
    """
    n_actions, n_observations, codebook = asked
    refuse_bins_of_codes(layout, n_actions)
    known = codebook or Codebook.named()
    sizes = {"action": n_actions or known.n_actions, "observation": n_observations or known.n_codes}
    actions, observations = Stock("action", set()), Stock("observation", set())
    observations.measured = len(layout.observation) > 1
    actions.measured = layout.action_bins is not None
    wanted = {
        stock.role: (stock, columns)
        for stock, columns in (
            (actions, [layout.names["action"]]),
            (observations, layout.observed),
        )
        if sizes[stock.role] is None and not stock.measured
    }
    if wanted:
        row = 0
        for table in read([name for _, columns in wanted.values() for name in columns]):
            for role, (stock, columns) in wanted.items():
                for name in columns:
                    stock.take(values_of(table, name, row, may_miss=role == "observation"), name)
            row += table.num_rows
    if sizes["action"] is None and max(len(actions.names), actions.largest + 1) > MAX_NAMES:
        raise FileFormatError(
            f"column {layout.names['action']!r} needs {actions.largest + 1} codes, at most {MAX_NAMES} are "
            "sensible: group rare values, number them 0, 1, 2, …, or say n_actions if you mean it"
        )
    sample = None
    if codebook is None:
        cells = sizes["observation"] is None and observations.measured
        if cells or actions.measured:
            sampled = layout if cells else replace(layout, observation=(), first_observation=())
            sample = sample_of(read, sampled, sample_steps)
        known_actions = sample.action_bins() if sample is not None and sample_steps is None else None
        if cells and sample is not None and sample_steps is None:
            codebook = sample.codebook()
        elif observations.names:
            codebook = Codebook.named(None, tuple(sorted(observations.names)))
        if known_actions is not None or actions.names or codebook is not None:
            names = known_actions or (tuple(sorted(actions.names)) if actions.names else None)
            codebook = (codebook or Codebook.named()).with_actions(names)
    known = codebook or Codebook.named()
    alphabet = Alphabet(
        sizes["action"] or known.n_actions or max(actions.largest + 1, 1),
        known.n_codes or sizes["observation"] or max(observations.largest + 1, 1),
        codebook,
    )
    return alphabet, sample
