"""Pages as one file, and their parts in plain HTML that folds on narrow screens: bars, intervals, figures in words."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from uqf.printable import escape

#: Large figures in words.
MILLION, BILLION = 1e6, 1e9


def percent(share: float) -> str:
    """Such as 83 %, 0.4 %, or < 0.1 %."""
    if 0.0 < share < 0.001:
        return "< 0.1 %"
    digits = 1 if 0.0 < share < 0.0995 and round(100 * share, 1) != round(100 * share) else 0
    return f"{100 * share:.{digits}f} %"


def kept(words: str) -> str:
    """Markup of words among which no line is broken: a figure and its unit."""
    return escape(words).replace(" ", "&nbsp;")


def figure(value: float) -> str:
    """Four digits at most, with a real minus: −12.3, 1,240, 24.5 million."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "—"
    if abs(value) >= 1000 * BILLION:
        text = f"{value:.3g}"
    elif abs(value) >= MILLION:
        unit, word = (BILLION, "billion") if abs(value) >= BILLION else (MILLION, "million")
        text = f"{value / unit:.3g} {word}"
    elif abs(value) >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.4g}" if abs(value) >= 100 else f"{value:.3g}"
    return text.replace("-", "−")


def signed(value: float) -> str:
    """A figure with its sign: +3.1, −0.4."""
    return ("+" if value > 0 else "") + figure(value)


def paired_bars(rows: Sequence[tuple[str, float, float]], names: tuple[str, str]) -> str:
    """Two shares in [0, 1] beside each other for every label; a bar of the full width is the largest share."""
    largest = max((share for _, *shares in rows for share in shares), default=0.0) or 1.0
    keys = "".join(
        f'<span class="key {style}">{escape(name)}</span>'
        for style, name in zip(("first", "second"), names, strict=True)
    )
    lines = "".join(
        f'<span class="name">{escape(label)}</span><div class="pair">'
        + "".join(
            f'<i class="{style}" style="width:{100 * share / largest:.1f}%"></i><output>{percent(share)}</output>'
            for style, share in (("first", first), ("second", second))
        )
        + "</div>"
        for label, first, second in rows
    )
    return f'<div class="pairs">{lines}</div><p class="legend">{keys}</p>'


def bars(rows: Sequence[tuple[str, float, str]]) -> str:
    """One bar for every (label, share of the largest, words beside it)."""
    largest = max((share for _, share, _ in rows), default=0.0) or 1.0
    lines = "".join(
        f'<span class="name">{escape(label)}</span><div class="pair">'
        f'<i class="second" style="width:{100 * share / largest:.1f}%"></i><output>{escape(words)}</output></div>'
        for label, share, words in rows
    )
    return f'<div class="pairs">{lines}</div>'


@dataclass(frozen=True)
class Interval:
    """A line of an interval plot; `low` and `high` may be infinite."""

    label: str
    value: float
    low: float
    high: float
    words: str
    style: str = ""


def intervals(rows: Sequence[Interval], level: tuple[float, str] | None = None) -> str:
    """Values with their intervals on one scale, and a level to compare them with, such as the logged return."""
    finite = [one for row in rows for one in (row.value, row.low, row.high) if math.isfinite(one)]
    finite += [level[0]] if level else []
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    margin = 0.06 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def place(value: float) -> float:
        return 100.0 * (min(max(value, low), high) - low) / (high - low)

    mark = f'<u style="left:{place(level[0]):.1f}%"></u>' if level else ""
    lines = []
    for row in rows:
        left, right = place(row.low), place(row.high)
        lines.append(
            f'<span class="name">{escape(row.label)}</span>'
            f'<div class="scale {row.style}">{mark}<i style="left:{left:.1f}%;width:{max(right - left, 0.3):.1f}%"></i>'
            f'<b style="left:{place(row.value):.1f}%"></b></div><span class="words">{escape(row.words)}</span>'
        )
    note = (
        f'<p class="legend"><span class="key dashed second">{escape(level[1])}: {figure(level[0])}</span></p>'
        if level
        else ""
    )
    return f'<div class="intervals">{"".join(lines)}</div>{note}'


@cache
def style() -> str:
    """The style sheet of all pages."""
    return _resource("page.css")


def _resource(name: str) -> str:
    return files("uqf.page").joinpath(name).read_text(encoding="utf-8")


def document(title: str, sections: list[str]) -> str:
    """A whole page of these sections, which are markup."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # An empty icon, or browsers ask the server for one.
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{style()}</style></head>'
        f"<body><main>{''.join(sections)}</main><script>{_resource('page.js')}</script></body></html>\n"
    )


def tiles(entries: list[tuple[str, str]]) -> str:
    """Large figures beside each other: (figure, what it is)."""
    cards = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(note)}</span></div>'
        for value, note in entries
    )
    return f'<div class="tiles">{cards}</div>'


def embedded(content: object) -> str:
    """Plain values for the script of the page to read."""
    # Within a script element, markup in names could end it early.
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json">{text}</script>'


def card(*parts: str) -> str:
    """A box around markup."""
    return f'<div class="card">{"".join(parts)}</div>'
