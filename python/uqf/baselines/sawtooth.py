"""An upper bound of the optimal value from values at belief points (Hauskrecht 2000; Smith & Simmons 2005)."""

from __future__ import annotations

import numpy as np

from uqf.baselines.belief import Floats

#: Pairs of belief and point compared at a time; bounds the memory.
BLOCK = 1 << 20


class Sawtooth:
    """
    Corners, and points that pull the plane through the corners down around them.

    The optimal value is convex in the belief. So below the plane through the corner values, a point p whose
    value lies `drop` < 0 under the plane allows at belief b to subtract |drop| · min_s b(s)/p(s). The bound
    is the least of all these and of the linear bound `table` (A, S) it began with. Points are only ever
    added, in order, so a belief seen before need only be compared with those that came `since`.
    """

    def __init__(self, table: Floats) -> None:
        self.table = table
        self.corners: Floats = table.max(axis=0)
        self._points = np.empty((64, table.shape[1]))
        self._drops = np.empty(64)
        self.count = 0

    def add(self, belief: Floats, value: float) -> int:
        """Remembers that the optimal value of `belief` is at most `value`; returns the point's number."""
        if self.count == len(self._drops):
            self._points = np.concatenate([self._points, np.empty_like(self._points)])
            self._drops = np.concatenate([self._drops, np.empty_like(self._drops)])
        self._points[self.count] = belief
        self._drops[self.count] = value - belief @ self.corners
        self.count += 1
        return self.count - 1

    def forget(self, point: int) -> None:
        """Makes a point without effect, because a lower value at the same belief was added."""
        self._drops[point] = 0.0

    def linear(self, beliefs: Floats) -> Floats:
        """The bound without points, (N,)."""
        return np.asarray((beliefs @ self.table.T).max(axis=-1))

    def values(self, beliefs: Floats, since: int = 0) -> Floats:
        """Upper bounds (N,) of beliefs (N, S), which need not be normalised, by the points added `since`."""
        plane = beliefs @ self.corners
        active = since + np.flatnonzero(self._drops[since : self.count] < 0.0)
        if len(active) == 0:
            return np.minimum(plane, self.linear(beliefs))
        points, drops = self._points[active], self._drops[active]
        # Only points that the belief covers count: a product of matrices finds them sooner than a division.
        outside = (beliefs == 0.0).astype(np.float64) @ points.T
        rows, columns = np.nonzero(outside == 0.0)
        lowered = np.zeros(len(beliefs))
        inverse = 1.0 / np.maximum(beliefs, 1e-300)
        size = max(1, BLOCK // beliefs.shape[1])
        for first in range(0, len(rows), size):
            row, column = rows[first : first + size], columns[first : first + size]
            cover = 1.0 / (points[column] * inverse[row]).max(axis=1)  # min_s b(s)/p(s) over the support of p
            np.minimum.at(lowered, row, drops[column] * cover)
        return np.minimum(plane + lowered, self.linear(beliefs))
