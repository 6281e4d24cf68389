"""The settings of cells that are learned from a log; docs/notebook.md has the evidence for some of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CellSettings:
    """How cells are grown, and how many."""

    occurrences_per_name: int = 20
    """Combinations of names that occur so often on average get a cell each, …"""
    combinations: int = 32
    """… and so many combinations do however short the log is."""
    steps_per_cell: int = 200
    """At most one cell for so many steps."""
    steps_in_cell: int = 5
    """At least so many steps in a cell."""
    cuts: int = 254
    """Cuts of a number that the tree chooses from."""
    observation_weight: float = 0.1
    """Weight of predicting the next observation, where predicting returns has 1. Returns alone leave one large cell far
    away from rewards: in a maze with a goal in its corner 0.63 to 0.86 of the goals were reached, with it all."""
    explained: float = 0.9
    """Cells are many enough if they explain this share of what any number of them explains: more cells leave every
    learner fewer steps for each."""
    explained_returns: float = 0.95
    """The same for returns."""
    noise: float = 0.01
    """A smaller share of the variance is taken for noise."""
    blocks: int = 20
    """Fewer episodes than this are cut into so many blocks for validation."""
    rows: int = 100_000
    """Rows that cells are learned from; of longer logs, episodes spread over the whole."""
    discount: float = 0.95
    """Of the returns that cells predict."""
    actions: int = 16
    """The rarest of more actions than this are taken together."""
    names: int = 16
    """Names of a category that are predicted one by one."""


SETTINGS = CellSettings()
