"""An upper bound of the optimal value from its values at belief points (Hauskrecht 2000)."""

from __future__ import annotations

import numpy as np

from uqf.learn.plan.belief_model import Floats

#: Pairs of belief and point compared at a time; bounds the memory.
BLOCK = 1 << 20


class Sawtooth:
    """Corners, and points that pull the plane through the corners down around them.

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
        self._peaks = np.empty((64, 2), np.intp)  # the two likeliest states of each point
        self._heights = np.empty((64, 2))  # and their probabilities
        self.count = 0

    def add(self, belief: Floats, value: float) -> int:
        """Remembers that the optimal value of `belief` is at most `value`; returns the point's number."""
        if self.count == len(self._drops):
            self._points, self._drops, self._peaks, self._heights = (
                np.concatenate([array, np.empty_like(array)])
                for array in (self._points, self._drops, self._peaks, self._heights)
            )
        self._points[self.count] = belief
        self._drops[self.count] = value - belief @ self.corners
        likely = np.argsort(belief)[-2:]
        likely = np.where(belief[likely] > 0.0, likely, likely[-1])
        self._peaks[self.count], self._heights[self.count] = likely, belief[likely]
        self.count += 1
        return self.count - 1

    def forget(self, point: int) -> None:
        """Makes a point without effect, because a lower value at the same belief was added."""
        self._drops[point] = 0.0

    def linear(self, beliefs: Floats) -> Floats:
        """The bound without points, (N,)."""
        return np.asarray((beliefs @ self.table.T).max(axis=-1))

    def values(self, beliefs: Floats, known: Floats | None = None, since: int = 0) -> Floats:
        """Upper bounds (N,) of beliefs (N, S), which need not be normalised.

        With bounds `known` (N,) already, compares only with the points added `since`.
        """
        bounds = self.linear(beliefs) if known is None else known.copy()
        active = since + np.flatnonzero(self._drops[since : self.count] < 0.0)
        drops, peaks, heights = self._drops[active], self._peaks[active], self._heights[active]
        plane = beliefs @ self.corners
        # How far a point's likeliest states are covered limits how far all are, and rules out pairs (95% of
        # them or more on the grid worlds) before the comparison of all states, which is what takes the time.
        most = (beliefs[:, peaks] / heights).min(axis=-1)
        rows, columns = np.nonzero(plane[:, np.newaxis] + drops * most < bounds[:, np.newaxis] - 1e-12)
        inverse = 1.0 / np.maximum(beliefs, 1e-300)
        size = max(1, BLOCK // beliefs.shape[1])
        for first in range(0, len(rows), size):
            row, column = rows[first : first + size], columns[first : first + size]
            # min_s b(s)/p(s) over the support of p
            cover = 1.0 / (self._points[active[column]] * inverse[row]).max(axis=1)
            np.minimum.at(bounds, row, plane[row] + drops[column] * cover)
        return bounds
