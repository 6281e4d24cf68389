"""The paper's two experiments, `uqf demo` and `uqf reproduce`: finished cells are kept on disk and never run again."""

from uqf.paper.cells import Cell as Cell
from uqf.paper.cells import Store as Store
