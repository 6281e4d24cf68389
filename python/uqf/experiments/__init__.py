"""Experiments: each has an id, a seed, and a command that repeats it; finished cells are kept on disk."""

from uqf.experiments.cells import Cell as Cell
from uqf.experiments.cells import Store as Store
