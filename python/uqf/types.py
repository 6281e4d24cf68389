"""Names for values that have no narrower type, each with the reason. Elsewhere `Any` needs a comment that says why."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Memory = Any
"""What a policy remembers of an episode: every policy has a type of its own and is given back only what it returned."""

Raw = Any
"""One value of a user's log or world: number, name, date, array, dictionary. It is looked at when it comes."""

Record = dict[str, Any]
"""Names with values of several types: JSON, settings, the parts of a policy, diagnostics."""

AnyArray = NDArray[Any]
"""NumPy arrays of several types: the element type is known only when the program runs."""

Integers = NDArray[np.integer[Any]]
"""Whole numbers of any width; NumPy's own annotations ask for `Any` here."""

Floats = NDArray[np.float64]
"""Numbers in double precision."""

TableLike = Any
"""A user's table: columns by name, a data frame of pandas or polars, an Arrow table, records, an array."""

Matrix = Any
"""A sparse or dense matrix: scipy brings no annotations."""

Tree = Any
"""A tree of scikit-learn, which brings no annotations."""
