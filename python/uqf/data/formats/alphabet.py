"""Which actions and observations a log knows, and how their codes are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from uqf.data.codebook import Codebook
from uqf.data.formats.columns import Layout
from uqf.data.formats.sample import RawEpisodes, sample_of
from uqf.data.formats.values import is_text, values_of
from uqf.data.names import MAX_NAMES, MISSING
from uqf.errors import FileFormatError


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
    """Whether observations are neither names nor codes, so that they must be cut into cells."""

    def take(self, values: Any, column: str) -> None:
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
            raise FileFormatError(
                f"column {column!r} holds {values.type}: give whole numbers or names, not both"
            )


def alphabet_of(
    read: Callable[[list[str]], Iterable[Any]],
    layout: Layout,
    n_actions: int | None,
    n_observations: int | None,
    codebook: Codebook | None,
    sample_steps: int | None = None,
) -> tuple[Alphabet, RawEpisodes | None]:
    """(alphabet, sample of episodes if observations must be cut into cells); holds one table at a time.

    ``read(columns)`` gives the tables of the log from its beginning. Actions are names or codes. One column of
    observations may be either as well; any other observations are cut into the cells of a codebook. With
    `sample_steps` so many steps are only sampled, for a codebook that is learned from the samples of several logs.
    """
    known = codebook or Codebook.named()
    sizes = {"action": n_actions or known.n_actions, "observation": n_observations or known.n_codes}
    actions, observations = Stock("action", set()), Stock("observation", set())
    observations.measured = len(layout.observation) > 1
    wanted = {
        stock.role: (stock, columns)
        for stock, columns in (
            (actions, [layout.names["action"]]),
            (observations, [*layout.observation, *layout.first_observation]),
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
        if sizes["observation"] is None and observations.measured:
            sample = sample_of(read, layout, sample_steps)
            codebook = sample.codebook() if sample_steps is None else None
        elif observations.names:
            codebook = Codebook.named(None, tuple(sorted(observations.names)))
        if actions.names or codebook is not None:
            names = tuple(sorted(actions.names)) if actions.names else None
            codebook = (codebook or Codebook.named()).with_actions(names)
    known = codebook or Codebook.named()
    alphabet = Alphabet(
        sizes["action"] or known.n_actions or max(actions.largest + 1, 1),
        known.n_codes or sizes["observation"] or max(observations.largest + 1, 1),
        codebook,
    )
    return alphabet, sample
