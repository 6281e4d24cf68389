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

#: What is counted at most: values of a category and of all; pairs of a column and of all; pairs of columns.
MAX_VALUES, MAX_COUNTED, MAX_PAIRS, MAX_ALL_PAIRS, MAX_RELATIONS = 32, 256, 32, 128, 16
#: Columns that are mirrored in each other's changes, and for how many steps; actions that have numbers of their own.
MAX_MIRRORED, MIRROR_STEPS, MAX_ACTIONS = 4, 128, 256

Floats = NDArray[np.float64]


def summaries(
    shown: AnyArray | None,
    steps: Sequence[tuple[int, AnyArray]],
    sizes: Sequence[int],
    touched: Sequence[int],
    expected: AnyArray,
    *,
    recent: int,
    long: bool,
) -> tuple[Floats, Floats]:
    """(about the history (n,), about every action (n_actions, m)).

    touched (n_actions,) is the column in which the effect of an action is looked for, expected
    (n_actions, 1 + n_actions · values) or (0, 0) what is expected of it: a constant and weights.
    """
    n_actions = len(touched)
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
    # How many values were lower and higher than the present one.
    for column in counted:
        past, value = rows[:, column], rows[now, column]
        lower = ((past >= 0) & (past < value)).sum()
        parts.append(np.array([lower, (past > value).sum()] if value >= 0 else [-1, -1]))

    # What a column showed as long before the last change of another as that change is ago.
    mirrored = counted[:MAX_MIRRORED] if len(counted) > 1 else []
    for i in mirrored:
        changes = 1 + np.flatnonzero(rows[1:, i] != rows[:-1, i])
        mirror = 2 * (changes[-1] if len(changes) else 0) - now
        known = mirror >= 0 and now - mirror < MIRROR_STEPS
        parts += [rows[mirror, j : j + 1] if known else np.array([-1.0]) for j in mirrored if j != i]
    return np.concatenate(parts), brought(rows, actions, sizes, touched, expected)


def brought(
    rows: Floats, actions: Sequence[int], sizes: Sequence[int], touched: Sequence[int], expected: AnyArray
) -> Floats:
    """Of every action: its number; how often it was taken, lately, how long ago; what it brought in its column on
    average, with one half as a first guess, and the last time; what the column shows now; whether the last action
    brought the same, and of numbers how much less; what is expected of it.
    """
    n_actions, now = len(touched), len(actions)
    if n_actions > MAX_ACTIONS:
        return np.zeros((n_actions, 0))
    taken = [np.flatnonzero(np.array(actions) == action) for action in range(n_actions)]
    came = [rows[times + 1, column] for times, column in zip(taken, touched, strict=True)]
    last = [values[-1] if len(values) else -1.0 for values in came]
    out = []
    for action, (times, values) in enumerate(zip(taken, came, strict=True)):
        ago, like = -1.0, -1.0
        if len(times):
            other = last[actions[-1]]
            ago = now - 1 - times[-1]
            like = last[action] - other if sizes[touched[action]] == 0 else float(last[action] == other)
        lately = sum(PAIR_DECAYS[1] ** (now - 1 - time) for time in times)
        mean = (values.sum() + 0.5) / (len(times) + 1.0)
        hopes = 0.0
        if len(expected):
            weights = expected[action, 1:].reshape(n_actions, -1)
            known = [b for b in range(n_actions) if 0 <= last[b] < weights.shape[1]]
            hopes = expected[action, 0] + sum(weights[b, int(last[b])] for b in known)
        present = rows[now, touched[action]]
        out.append([action, len(times), lately, ago, mean, last[action], present, like, hopes])
    return np.array(out, np.float64)


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
