"""Figures as shapes that a template writes as SVG: panels, axes, lines with bands, points, level lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from uqf.page.parts import figure, plus_minus

#: Size of a small figure, which is readable on a phone.
WIDTH, HEIGHT, LEFT, RIGHT = 400, 220, 50, 376

#: Height of a line of a label, in pixels.
LINE = 15.0

#: Width of a letter of a tick, in pixels.
LETTER = 6.5

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """From data to pixels: `low` is drawn at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Pixel of a value; values beyond the axis are drawn at its end."""
        value = min(max(value, self.low), self.high)
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values inside the axis, about five of them."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power for power in range(first, last + 1, max(1, (last - first) // 5))]
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = min((m * power for m in (1, 2, 2.5, 5, 10)), key=lambda candidate: abs(candidate - rough))
        first_tick = math.ceil(self.low / step - 1e-9)
        return [step * k for k in range(first_tick, math.floor(self.high / step + 1e-9) + 1)]


def number(value: float) -> str:
    """A short decimal: 0.001, 25, 1,000."""
    if value == 0 or 0.001 <= abs(value) < 1e6:
        return f"{value:,.3f}".rstrip("0").rstrip(".").replace("-", "−")
    return figure(value)


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
class Shape:
    """An SVG element: its attributes, the words in it, and a note for the pointer."""

    tag: str
    attributes: dict[str, str | float]
    words: str = ""
    note: str = ""


@dataclass
class Panel:
    """A frame with axes to draw in; `shapes` holds what was drawn. Colours are CSS classes of the page."""

    title: str
    x: Axis
    y: Axis
    x_label: str
    y_label: str
    x_ticks: Sequence[float] | None = None
    x_names: Sequence[str] | None = None
    """What ticks are called; their numbers by default."""
    shapes: list[Shape] = field(default_factory=list)

    def line(self, points: Sequence[tuple[float, float, float]], style: str, label: str) -> None:
        """A curve through (x, y, half-width of its band), with a mark at every point; its note has the figures."""
        if any(half > 0 for _, _, half in points):
            self.band([(x, y - half, y + half) for x, y, half in points], style)
        self.curve([(x, y) for x, y, _ in points], style)
        for x, y, half in points:
            self.mark(self.x(x), self.y(y), style, f"{label}: {figure(y)}{plus_minus(half)} at {number(x)}")

    def curve(self, points: Sequence[Point], style: str) -> None:
        """Through (x, y), without marks."""
        self._add("polyline", f"curve {style}", points=self._path(points))

    def band(self, points: Sequence[tuple[float, float, float]], style: str) -> None:
        """What lies between a lower and an upper curve: (x, low, high)."""
        around = [(x, high) for x, _, high in points] + [(x, low) for x, low, _ in reversed(points)]
        self._add("polygon", f"band {style}", points=self._path(around))

    def mark(self, px: float, py: float, style: str, note: str, radius: float = 3.5) -> None:
        """A dot at a pixel, with a note for the pointer."""
        self._add("circle", f"dot {style}", note=note, cx=px, cy=py, r=radius)

    def level(self, value: float, style: str, label: str) -> None:
        """A dashed line across the panel."""
        py = self.y(value)
        note = f"{label}: {figure(value)}"
        self._add("line", f"level {style}", note=note, x1=self.x.start, x2=self.x.end, y1=py, y2=py)

    def text(self, px: float, py: float, words: str, anchor: str = "start", style: str = "") -> None:
        self._add("text", style, words, x=px, y=py, **{"text-anchor": anchor})

    def labels(self, named: Sequence[tuple[float, str, float | None, str]]) -> None:
        """Names at the right border, each at the height of what it names: (y, name, x of its dot or None, style).

        None lies over another; a thin line leads to the dot.
        """
        places = spread([self.y(y) for y, *_ in named], LINE, self.y.end, self.y.start)
        for (y, words, x, style), py in zip(named, places, strict=True):
            if x is not None:
                bend = max(self.x(x), self.x.end - 60)
                path = f"{self.x(x):.1f},{self.y(y):.1f} {bend:.1f},{self.y(y):.1f} {self.x.end + 6},{py:.1f}"
                self._add("polyline", f"leader {style}", points=path)
            self.text(self.x.end + 9, py + 4, words, style=f"label {style}")

    @property
    def frame(self) -> list[Shape]:
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        frame = Panel(self.title, self.x, self.y, "", "")
        frame.text(left, top - 12, self.title, style="title")
        for value in self.y.ticks():
            py = self.y(value)
            frame._add("line", "grid", x1=left, x2=right, y1=py, y2=py)
            frame.text(left - 8, py + 4, number(value), "end", "tick")
        ticks = self.x_ticks or self.x.ticks()
        for place, value in enumerate(ticks):
            px, words = self.x(value), self.x_names[place] if self.x_names else number(value)
            frame._add("line", "stub", x1=px, x2=px, y1=bottom, y2=bottom + 4)
            # A long name stays within the panel.
            side = (
                "middle"
                if self.x_names is None
                else "start"
                if place == 0
                else "end"
                if value == ticks[-1]
                else "middle"
            )
            frame.text(px, bottom + 18, words, side, "tick")
        frame._add("line", "stub", x1=left, x2=right, y1=bottom, y2=bottom)
        frame.text((left + right) / 2, bottom + 38, self.x_label, "middle", "axis")
        turn = f"translate({left - self.margin + 6},{(top + bottom) / 2}) rotate(-90)"
        frame._add("text", "axis", self.y_label, **{"transform": turn, "text-anchor": "middle"})
        return frame.shapes

    @property
    def margin(self) -> float:
        """How far ticks, and the name of the axis, reach to its left."""
        ticks = 10 + LETTER * max((len(number(value)) for value in self.y.ticks()), default=0)
        return max(50.0, ticks + 14) if self.y_label else ticks

    def _path(self, points: Sequence[Point]) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)

    def _add(self, tag: str, style: str, words: str = "", note: str = "", **places: float | str) -> None:
        rounded = {
            name: round(value, 1) if isinstance(value, float) else value for name, value in places.items()
        }
        self.shapes.append(Shape(tag, {"class": style, **rounded}, words, note))


@dataclass(frozen=True)
class Drawing:
    """Panels beside each other; `words` describe them to those who cannot see them."""

    panels: Sequence[Panel]
    width: float
    height: float
    name: str
    words: str

    @property
    def left(self) -> float:
        """Where the drawing begins: ticks longer than there is place for go on to the left of 0."""
        return min(0.0, *(round(panel.x.start - panel.margin, 1) for panel in self.panels))
