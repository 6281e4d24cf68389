"""Figures as SVG text (panels, axes, lines with bands, points, level lines) and tables as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from uqf.page.labels import Placed
from uqf.printable import escape

#: Size of a small figure, which is readable on a phone.
WIDTH, HEIGHT, LEFT, RIGHT = 400, 220, 50, 376


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
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"1e{round(math.log10(value))}" if value > 0 else f"{value:.0e}"


@dataclass
class Panel:
    """A frame with axes to draw in; `svg` gives its markup. Colours are CSS classes of the page."""

    title: str
    x: Axis
    y: Axis
    x_label: str
    y_label: str
    x_ticks: Sequence[float] | None = None
    parts: list[str] = field(default_factory=list)

    def line(
        self, points: Sequence[tuple[float, float, float]], style: str, label: str, marks: bool = True
    ) -> None:
        """A curve through (x, y, half-width of its band), with a mark at every point that tells it."""
        pixels = [(self.x(x), self.y(y)) for x, y, _ in points]
        if any(half > 0 for _, _, half in points):
            self.band([(x, y - half, y + half) for x, y, half in points], style)
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in pixels)
        self.parts.append(f'<polyline class="curve {style}" points="{path}"/>')
        for (px, py), (x, y, half) in zip(pixels, points if marks else [], strict=marks):
            note = f"{label}: {y:.4g} ± {half:.2g} at {number(x)}"
            self.mark(px, py, style, note)

    def band(self, points: Sequence[tuple[float, float, float]], style: str) -> None:
        """What lies between a lower and an upper curve: (x, low, high)."""
        upper = [f"{self.x(x):.1f},{self.y(high):.1f}" for x, _, high in points]
        lower = [f"{self.x(x):.1f},{self.y(low):.1f}" for x, low, _ in reversed(points)]
        self.parts.append(f'<polygon class="band {style}" points="{" ".join(upper + lower)}"/>')

    def mark(self, px: float, py: float, style: str, note: str, radius: float = 3.5) -> None:
        """A dot at a pixel that tells `note` to the pointer."""
        self.parts.append(
            f'<circle class="dot {style}" cx="{px:.1f}" cy="{py:.1f}" r="{radius}">'
            f"<title>{escape(note)}</title></circle>"
        )

    def column(self, low: float, high: float, height: float, style: str, note: str) -> None:
        """A bar of a histogram from zero up."""
        left, right, top = self.x(low), self.x(high), self.y(height)
        self.parts.append(
            f'<rect class="column {style}" x="{left + 0.5:.1f}" y="{top:.1f}" width="{max(right - left - 1, 0.5):.1f}" '
            f'height="{self.y.start - top:.1f}"><title>{escape(note)}</title></rect>'
        )

    def level(self, value: float, style: str, label: str) -> None:
        """A dashed line across the panel."""
        py = self.y(value)
        self.parts.append(
            f'<line class="level {style}" x1="{self.x.start}" x2="{self.x.end}" y1="{py:.1f}" y2="{py:.1f}">'
            f"<title>{escape(label)}: {value:.4g}</title></line>"
        )

    def text(self, px: float, py: float, words: str, anchor: str = "start", style: str = "") -> None:
        """Words at a pixel."""
        self.parts.append(
            f'<text class="{style}" x="{px:.1f}" y="{py:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def label(self, label: Placed) -> None:
        """The name of a dot where there is room, with a line to it if that is not beside it."""
        px, py = label.dot
        box = label.box
        if label.distant:
            end = min(max(px, box.left), box.right), min(max(py, box.top + 2), box.bottom)
            self.parts.append(
                f'<line class="leader" x1="{px:.1f}" y1="{py:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'
            )
        # Anchored where the dot is: words are never wider than their box, but may be narrower.
        share = (px - box.left) / (box.right - box.left)
        place, anchor = (box.left, "start") if share < 1 / 3 else (box.right, "end")
        if 1 / 3 <= share <= 2 / 3:
            place, anchor = (box.left + box.right) / 2, "middle"
        self.text(place, box.bottom - 3.5, label.words, anchor, "label")

    def svg(self) -> str:
        """The group of elements of this panel."""
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        frame = [f'<text class="title" x="{left}" y="{top - 12}">{escape(self.title)}</text>']
        for value in self.y.ticks():
            py = self.y(value)
            frame.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{py:.1f}" y2="{py:.1f}"/>')
            frame.append(
                f'<text class="tick" x="{left - 8}" y="{py + 4:.1f}" text-anchor="end">{number(value)}</text>'
            )
        for value in self.x_ticks or self.x.ticks():
            px = self.x(value)
            frame.append(f'<line class="stub" x1="{px:.1f}" x2="{px:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
            frame.append(
                f'<text class="tick" x="{px:.1f}" y="{bottom + 18}" text-anchor="middle">'
                f"{number(value)}</text>"
            )
        frame.append(f'<line class="stub" x1="{left}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
        middle = (left + right) / 2
        frame.append(
            f'<text class="axis" x="{middle}" y="{bottom + 38}" text-anchor="middle">'
            f"{escape(self.x_label)}</text>"
        )
        if self.y_label:
            place = f"translate({left - 44},{(top + bottom) / 2}) rotate(-90)"
            frame.append(
                f'<text class="axis" transform="{place}" text-anchor="middle">{escape(self.y_label)}</text>'
            )
        return "<g>" + "".join(frame + self.parts) + "</g>"


def drawing(panels: Sequence[Panel], width: float, height: float, name: str, words: str) -> str:
    """An SVG element of these panels; `words` describe it to those who cannot see it."""
    return (
        f'<svg id="{name}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(words)}">'
        + "".join(panel.svg() for panel in panels)
        + "</svg>"
    )


def standalone(
    svg: str,
    style: str,
    keys: Sequence[tuple[str, str]],
    dashed: Sequence[tuple[str, str]],
    width: float,
    height: float,
) -> str:
    """The same drawing as a file of its own, its keys (style, label) below it in rows of four.

    Keys of curves come first, then those of level lines (`dashed`).
    """
    names = []
    entries = [("curve", *key) for key in keys] + [("level", *key) for key in dashed]
    for index, (kind, key, label) in enumerate(entries):
        left, top = 60 + (index % 4) * 245, height + 14 + 22 * (index // 4)
        names.append(f'<line class="{kind} {key}" x1="{left}" x2="{left + 22}" y1="{top}" y2="{top}"/>')
        names.append(f'<text x="{left + 30}" y="{top + 4}">{escape(label)}</text>')
    tall = height + 34 + 22 * ((len(entries) - 1) // 4)
    body = svg[svg.index(">") + 1 :].removesuffix("</svg>")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {tall:g}" width="{width:g}">'
        f'<style>{style}</style><rect width="100%" height="100%" fill="var(--paper)"/>'
        f"{body}{''.join(names)}</svg>\n"
    )


def legend(entries: Sequence[tuple[str, str]], dashed: Sequence[tuple[str, str]] = ()) -> str:
    """HTML names of styles: (style, label) of curves, then of level lines."""
    swatches = [f'<span class="key {style}">{escape(label)}</span>' for style, label in entries]
    swatches += [f'<span class="key dashed {style}">{escape(label)}</span>' for style, label in dashed]
    return f'<p class="legend">{"".join(swatches)}</p>'


def table(heads: Sequence[str], lines: Sequence[tuple[str, Sequence[str], bool]]) -> str:
    """An HTML table of (label, markup of the other cells, whether the line is ours)."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(
        f"<tr{' class=ours' if ours else ''}><td>{escape(label)}</td>"
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for label, cells, ours in lines
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
