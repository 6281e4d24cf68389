"""The sums of one list of words on another list."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf import _core

Places = NDArray[np.int64]


def relabelled(
    sums: _core.HankelStatistics,
    rows: Places,
    columns: Places,
    shape: tuple[int, int],
    *,
    symbols: Collection[int],
    factor: float = 1.0,
) -> _core.HankelStatistics:
    """A copy in which row i is row ``rows[i]`` and column j is column ``columns[j]``; −1 leaves it out.

    Only the blocks of `symbols` are kept, and all sums are multiplied by `factor`. Cells that are zero, such
    as those of forgotten data, are dropped.
    """
    state = sums.__getstate__()
    width = state["shape"][1]

    def moved_cells(stored: tuple[NDArray[np.uint64], NDArray[np.float64]]) -> Any:
        keys, parts = stored[0].astype(np.int64), stored[1].reshape(-1, 2)
        row, column = rows[keys // width], columns[keys % width]
        kept = (row >= 0) & (column >= 0) & (parts != 0.0).any(axis=1)
        return (row * shape[1] + column)[kept].astype(np.uint64), factor * parts[kept].ravel()

    def moved(parts: NDArray[np.float64], places: Places, length: int) -> NDArray[np.float64]:
        out, kept = np.zeros((length, 2)), places >= 0
        out[places[kept]] = factor * parts.reshape(-1, 2)[kept]
        return out.ravel()

    state["block"] = moved_cells(state["block"])
    blocks = state["symbol_blocks"]
    state["symbol_blocks"] = {symbol: moved_cells(blocks[symbol]) for symbol in blocks if symbol in symbols}
    state["column"] = moved(state["column"], rows, shape[0])
    state["start"] = moved(state["start"], columns, shape[1])
    state["average"] = moved(state["average"], columns, shape[1])
    state["shape"] = shape
    return _core.HankelStatistics.from_state(state)
