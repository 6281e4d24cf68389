"""Places for labels such that no label lies over another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Size of the letters of a label, and the height of its line, in pixels.
LETTERS = 12.0
LINE = 15.0

#: Widths of letters in parts of their size: upper bounds over the fonts that pages are shown in.
NARROW, WIDE, WIDEST = frozenset("iljI.,:;'|!()[] "), frozenset("mwMWQO@%&—…→"), 1.05

#: Distance between a dot and its label; a label farther off has a line to its dot.
NEAR = 9.0


def text_width(words: str) -> float:
    """At least as many pixels as the words take in a line."""
    return LETTERS * sum(
        0.42 if letter in NARROW else WIDEST if letter in WIDE else 0.75 if letter.isupper() else 0.66
        for letter in words
    )


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


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels; `bottom` is the larger, as in SVG."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether both share more than a border."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def contains(self, other: Box) -> bool:
        """Whether the other lies within."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom

    @classmethod
    def around(cls, px: float, py: float, radius: float) -> Box:
        """Of a dot."""
        return cls(px - radius, py - radius, px + radius, py + radius)


@dataclass(frozen=True)
class Placed:
    """Where a label stands: its box, and the dot that it belongs to."""

    words: str
    box: Box
    dot: tuple[float, float]

    @property
    def distant(self) -> bool:
        """Whether a line must lead to the dot."""
        px, py = self.dot
        across = max(self.box.left - px, px - self.box.right, 0.0)
        upright = max(self.box.top - py, py - self.box.bottom, 0.0)
        return across + upright > 1.5 * NEAR


def placed(dots: Sequence[tuple[float, float, str]], taken: Sequence[Box], inside: Box) -> list[Placed]:
    """A place for the label of every dot (px, py, words): the nearest that is free.

    Labels lie within `inside`, over no other label and over none of the boxes `taken`. One for which nothing is free
    is left out.
    """
    occupied = [*taken, *(Box.around(px, py, 6.0) for px, py, _ in dots)]
    result = []
    for px, py, words in dots:
        for box in _candidates(px, py, text_width(words), inside):
            if inside.contains(box) and not any(box.overlaps(other) for other in occupied):
                occupied.append(box)
                result.append(Placed(words, box, (px, py)))
                break
    return result


def _candidates(px: float, py: float, width: float, inside: Box) -> list[Box]:
    """Boxes around a dot, the nearest first: beside it, above and below, then farther out."""
    corners = [(px + NEAR, py - LINE / 2), (px - NEAR - width, py - LINE / 2)]
    corners += [(px - width / 2, py - NEAR - LINE), (px - width / 2, py + NEAR)]
    rows = range(round((inside.bottom - inside.top) / LINE) + 1)
    columns = range(round((inside.right - inside.left) / 20.0) + 1)
    far = [(inside.left + 20.0 * column, inside.top + LINE * row) for row in rows for column in columns]
    # Farther out a label to the right or left reads better than one above or below.
    far.sort(key=lambda corner: _reach(corner, px, py, width))
    return [Box(left, top, left + width, top + LINE) for left, top in corners + far]


def _reach(corner: tuple[float, float], px: float, py: float, width: float) -> float:
    left, top = corner
    across = max(left - px, px - left - width, 0.0)
    upright = max(top - py, py - top - LINE, 0.0)
    return float((across**2 + (1.5 * upright) ** 2) ** 0.5)
