"""Which actions and observations a log knows, and how they are coded: by names, numbers or a sample."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from uqf.coding.action_bins import ActionBins, Bins
from uqf.coding.codebook import Codebook
from uqf.coding.names import MAX_NAMES, MISSING
from uqf.episodes.checks import instance, positive
from uqf.errors import FileFormatError
from uqf.logs.layout import BY_BINS, Layout
from uqf.logs.rows import Rows, array, is_text

#: Sizes and names that were given: n_actions, n_observations, codebook.
Given = tuple[int | None, int | None, Codebook | None]

#: Steps that a codebook is learned from at most; of longer logs, episodes spread over the whole.
MAX_STEPS = 200_000


@dataclass(frozen=True)
class Alphabet:
    """Sizes of the alphabets, and what their codes mean if they are not the numbers of the log."""

    n_actions: int
    n_observations: int
    codebook: Codebook | None


@dataclass
class Stock:
    """What occurs in the columns of the action or of the observation."""

    role: str
    names: set[str] = field(default_factory=set)
    largest: int = -1
    measured: bool = False
    """Whether they are neither names nor codes, so that they must be cut into cells."""

    def take(self, values: pa.Array, column: str) -> None:
        """Adds the values of one column."""
        text, whole = is_text(values.type), pa.types.is_integer(values.type)
        seen = self.role == "observation"
        if self.measured:
            return
        if text and self.largest < 0:
            self.names.update(MISSING if name is None else name for name in pc.unique(values).to_pylist())
            if len(self.names) > MAX_NAMES:
                raise FileFormatError(
                    f"column {column!r} has more than {MAX_NAMES} distinct values: they look like identifiers "
                    "or measurements; group them into kinds first"
                )
        elif whole and not self.names:
            limits = pc.min_max(values)
            smallest, largest = limits["min"].as_py() or 0, limits["max"].as_py() or 0
            self.measured = seen and (values.null_count > 0 or smallest < 0 or largest >= MAX_NAMES)
            self.largest = max(self.largest, largest)
        elif seen and not self.names and not text:
            self.measured = True
        else:
            way_out = "give whole numbers or names, not both"
            if not seen and not self.names and not text:
                way_out = f"give whole numbers from 0 on or names, or cut numbers into cells with {BY_BINS}"
            raise FileFormatError(f"column {column!r} holds {values.type}: {way_out}")


def check_given(given: Given) -> None:
    """Refuses sizes and names that are none."""
    n_actions, n_observations, codebook = given
    for name, size in (("n_actions", n_actions), ("n_observations", n_observations)):
        if size is not None:
            positive(name, size)
    if codebook is not None:
        instance("codebook", codebook, Codebook, "uqf.Codebook, such as that of another log")


def refuse_bins_of_codes(layout: Layout, n_actions: int | None) -> None:
    """Raises FileFormatError if actions are to be cut into cells although they are known to be codes."""
    if layout.action_bins is not None and n_actions is not None:
        raise FileFormatError(
            f"action_bins = {layout.action_bins}, but the actions are {n_actions} codes already: leave out action_bins"
        )


def alphabet_of(rows: Rows, given: Given) -> Alphabet:
    """The alphabet of a log, given its rows in whole episodes.

    Actions are names or codes, or numbers to be cut into cells. One column of observations may be names or codes as
    well; any other observations are cut into the cells of a codebook.
    """
    layout = rows.layout
    n_actions, n_observations, codebook = given
    refuse_bins_of_codes(layout, n_actions)
    known = codebook or Codebook.named()
    n_actions, n_observations = n_actions or known.n_actions, n_observations or known.n_codes
    actions = Stock("action")
    observations = Stock("observation", measured=len(layout.observation) > 1)
    if n_actions is None and layout.action_bins is None:
        actions.take(rows.codes(layout.names["action"]), layout.names["action"])
        if max(len(actions.names), actions.largest + 1) > MAX_NAMES:
            raise FileFormatError(
                f"column {layout.names['action']!r} needs {actions.largest + 1} codes, at most {MAX_NAMES} are "
                "sensible: group rare values, number them 0, 1, 2, …, or say n_actions if you mean it"
            )
    if n_observations is None:
        for name in layout.seen:
            observations.take(rows.codes(name, may_miss=True), name)
    if codebook is None:
        codebook = _learned(rows, actions, observations, n_observations is None)
    known = codebook or Codebook.named()
    return Alphabet(
        n_actions or known.n_actions or max(actions.largest + 1, 1),
        known.n_codes or n_observations or max(observations.largest + 1, 1),
        codebook,
    )


def _learned(rows: Rows, actions: Stock, observations: Stock, open_codes: bool) -> Codebook | None:
    """The codebook of what is neither codes nor known; None if all are codes."""
    bins, codebook = None, None
    if rows.layout.action_bins is not None:
        name = rows.layout.names["action"]
        bins = ActionBins((Bins.learned(name, array(rows.actions()), rows.layout.action_bins),))
    if open_codes and observations.measured:
        codebook = _cells(rows, bins)
    elif observations.names:
        codebook = Codebook.named(None, tuple(sorted(observations.names)))
    names = bins or (tuple(sorted(actions.names)) if actions.names else None)
    if names is None and codebook is None:
        return None
    return (codebook or Codebook.named()).with_actions(names)


def _cells(rows: Rows, bins: ActionBins | None) -> Codebook:
    """The codebook of measurements, learned from every n-th episode."""
    lengths = np.diff(rows.offsets)
    chosen = np.arange(len(lengths)) % -(-int(rows.offsets[-1]) // MAX_STEPS) == 0
    steps = np.flatnonzero(np.repeat(chosen, lengths))
    taken, first = array(rows.actions())[steps], rows.measured_first
    return Codebook().fit(
        {name: values[steps] for name, values in rows.measured.items()},
        rows.rewards()[steps],
        np.concatenate([[0], np.cumsum(lengths[chosen])]),
        actions=(taken if bins is None else bins.encode(taken)).astype(str),
        first=None if first is None else {name: values[chosen] for name, values in first.items()},
        last_seen=not rows.layout.before,
    )
