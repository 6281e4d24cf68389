"""Places for labels such that no label lies over another."""

from __future__ import annotations

from collections.abc import Sequence

#: Height of a line of a label, in pixels.
LINE = 15.0


def spread(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Places `distance` apart within [low, high], in the order of `wanted` and as near to it as possible.

    Least squares: pools of neighbours that are too near are centred on their mean. Where `high` is too near to hold all
    of them they go on beyond it: apart they are in any case.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    pools: list[list[float]] = []  # [sum, count] of wanted places, each less what lies below it
    for rank, index in enumerate(order):
        pools.append([wanted[index] - rank * distance, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + count]
    bases = [total / count for total, count in pools for _ in range(round(count))]
    ceiling = max(low, high - (len(wanted) - 1) * distance)
    places = [0.0] * len(wanted)
    for rank, (index, base) in enumerate(zip(order, bases, strict=True)):
        places[index] = min(max(base, low), ceiling) + rank * distance
    return places
