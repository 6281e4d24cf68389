"""The summaries of `uqf.SummaryQ` in plain NumPy, one history at a time: the oracle of the tests, and the explanation.

A history is what reset showed, if anything, and then (action, row of columns) for every step. A column is a number
(size 0) or a category of `size` values 0, 1, …; a category that is missing or unknown is −1, a missing number stays
what it was. Everything here is computed anew from the whole history; the core keeps a state and updates it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqf.types import AnyArray

#: Decays of counts of values, of (action, value) and of actions, and of running means.
COUNT_DECAYS, PAIR_DECAYS, MEAN_DECAYS = (1.0, 0.9, 0.5), (1.0, 0.9), (0.9, 0.5)

#: What is counted at most: values of a category and of all; pairs of a column and of all; pairs of columns; numbers
#: that say what actions brought.
MAX_VALUES, MAX_COUNTED, MAX_PAIRS, MAX_ALL_PAIRS, MAX_RELATIONS, MAX_OWN = 32, 256, 32, 128, 16, 256

Floats = NDArray[np.float64]


def summaries(
    shown: AnyArray | None,
    steps: Sequence[tuple[int, AnyArray]],
    sizes: Sequence[int],
    n_actions: int,
    *,
    recent: int,
    long: bool,
) -> tuple[Floats, Floats]:
    """(about the history (n,), about every action (n_actions, m))."""
    actions = [action for action, _ in steps]
    rows = cleaned(shown, [row for _, row in steps], sizes)
    numbers = [column for column, size in enumerate(sizes) if size == 0]
    now = len(steps)

    # The last observations and actions, and differences of numbers. Before the first, numbers are like the first.
    def row_at(time: int) -> Floats:
        return rows[time] if time >= 0 else np.where(np.array(sizes) == 0, rows[0], -1.0)

    last = [row_at(now - ago) for ago in range(recent)]
    parts = list(last)
    if recent > 1:
        parts.append(np.array([actions[now - 1 - ago] if ago < now else -1 for ago in range(recent)]))
        moves = min(recent - 1, 2)
        parts += [last[ago][numbers] - last[ago + 1][numbers] for ago in range(moves)]
    if not long:
        return np.concatenate(parts), np.zeros((n_actions, 0))

    # What reset showed, the time, decayed counts of values, running means of numbers.
    parts += [rows[0], np.array([now])]
    counted = within(sizes, MAX_VALUES, MAX_COUNTED)
    parts += [counts(rows[:, column], sizes[column], decay) for column in counted for decay in COUNT_DECAYS]
    for decay in MEAN_DECAYS:
        mean = rows[0, numbers]
        for row in rows[1:]:
            mean = decay * mean + (1.0 - decay) * row[numbers]
        parts.append(mean)

    # Decayed counts of (action, value that came).
    cells = [n_actions * sizes[column] for column in counted]
    for column in (counted[place] for place in within(cells, MAX_PAIRS, MAX_ALL_PAIRS)):
        came = rows[1:, column]
        pairs = np.where(came >= 0, np.array(actions) * sizes[column] + came, -1) if now else came
        parts += [counts(pairs, n_actions * sizes[column], decay) for decay in PAIR_DECAYS]

    # The present value of a column: how often and how long ago it was seen in another, and what was done then.
    for i, j in relations([sizes[column] for column in counted]):
        there, value = rows[:, counted[i]], rows[now, counted[j]]
        seen = np.flatnonzero(there[:now] == value)
        ago = now - seen[-1] if len(seen) else -1
        done = actions[seen[-1]] if len(seen) else -1
        often = len(seen) + (i != j and there[now] == value)
        parts.append(np.array([often, ago, done] if value >= 0 else [-1, -1, -1]))
    return np.concatenate(parts), brought(rows, actions, n_actions)


def brought(rows: Floats, actions: Sequence[int], n_actions: int) -> Floats:
    """Of every action: how often it was taken, lately, how long ago; of every column the mean, with one half as a first
    guess, and the last of what it brought.
    """
    left = MAX_OWN // n_actions - 3
    if left < 0:
        return np.zeros((n_actions, 0))
    width, now, out = min(left // 2, rows.shape[1]), len(actions), []
    for action in range(n_actions):
        taken = np.flatnonzero(np.array(actions) == action)
        came = rows[taken + 1, :width]
        lately = sum(PAIR_DECAYS[1] ** (now - 1 - time) for time in taken)
        out.append(
            np.concatenate(
                [
                    [len(taken), lately, now - 1 - taken[-1] if len(taken) else -1],
                    (came.sum(axis=0) + 0.5) / (len(taken) + 1.0),
                    came[-1] if len(taken) else np.full(width, -1.0),
                ]
            )
        )
    return np.stack(out)


def cleaned(shown: AnyArray | None, rows: Sequence[AnyArray], sizes: Sequence[int]) -> Floats:
    """What was seen at every time, (1 + steps, columns); nothing is −1 in a category and 0 in a number."""
    nothing = np.full(len(sizes), np.nan)
    seen, before = [], np.zeros(len(sizes))
    for row in [nothing if shown is None else shown, *rows]:
        known = np.array(row, np.float64)
        for column, size in enumerate(sizes):
            if size == 0:
                known[column] = known[column] if np.isfinite(known[column]) else before[column]
            else:
                known[column] = int(known[column]) if 0 <= known[column] < size else -1
        seen.append(known)
        before = known
    return np.stack(seen)


def counts(values: Floats, size: int, decay: float) -> Floats:
    """How often every value occurred, each earlier time counting less by the factor `decay`."""
    total = np.zeros(size)
    for value in values:
        total *= decay
        if value >= 0:
            total[int(value)] += 1.0
    return total


def within(sizes: Sequence[int], most: int, together: int) -> list[int]:
    """Places of sizes from 1 to `most`, in order, as long as all `together` suffice."""
    kept = []
    for place, size in enumerate(sizes):
        if 1 <= size <= min(most, together):
            kept.append(place)
            together -= size
    return kept


def relations(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of columns of one size: each with itself, then with its neighbours, and so on."""
    n = len(sizes)
    pairs = [
        pair
        for distance in range(n)
        for i in range(n - distance)
        for pair in ([(i, i)] if distance == 0 else [(i, i + distance), (i + distance, i)])
    ]
    return [(i, j) for i, j in pairs if sizes[i] == sizes[j]][:MAX_RELATIONS]
