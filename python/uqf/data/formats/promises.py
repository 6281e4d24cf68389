"""What the metadata of a log promise, held against what its columns hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from uqf.data.formats.columns import Layout
from uqf.data.formats.values import values_of
from uqf.errors import FileFormatError

#: Symbols that any file may promise, and those for every step of a longer one.
MODEST_SYMBOLS = 2**20
SYMBOLS_PER_STEP = 2**10


def refuse_empty_promise(
    n_actions: int | None, n_observations: int | None, tables: Iterable[Any], layout: Layout
) -> None:
    """Refuses metadata that promise far more symbols than there are steps: memory would be taken for all of them."""
    promised = (n_actions or 1) * (n_observations or 1)
    if promised <= MODEST_SYMBOLS:
        return
    steps = sum(len(values_of(table, layout.names["action"])) for table in tables)
    if promised > SYMBOLS_PER_STEP * steps:
        raise FileFormatError(
            f"the metadata promise {n_actions} actions and {n_observations} observations for {steps} steps; say "
            "n_actions and n_observations if you mean it"
        )
