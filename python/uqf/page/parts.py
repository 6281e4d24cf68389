"""Figures in words, and values with their intervals on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

#: Smaller figures are what is left of a difference of equal numbers.
ZERO = 1e-12


def percent(share: float) -> str:
    """Such as 83 %, 0.4 %, or < 0.1 %."""
    if 0.0 < share < 0.001:
        return "< 0.1 %"
    digits = 1 if 0.0 < share < 0.0995 and round(100 * share, 1) != round(100 * share) else 0
    return f"{100 * share:.{digits}f} %"


def figure(value: float, digits: int = 3) -> str:
    """With a real minus, whole from 1,000 on: −12.3, 1,240, 24.5 million; `digits` are those of numbers below 100."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "—"
    if abs(value) < ZERO:
        return "0"
    if abs(value) >= 1e12 or abs(value) < 1e-4:
        # Without powers of ten.
        text = f"{Decimal(f'{value:.3g}'):,f}"
    elif abs(value) >= 1e6:
        unit, word = (1e9, "billion") if abs(value) >= 1e9 else (1e6, "million")
        text = f"{value / unit:.3g} {word}"
    elif abs(value) >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.4g}" if abs(value) >= 100 else f"{value:.{digits}g}"
    return text.replace("-", "−")


def signed(value: float) -> str:
    """A figure with its sign: +3.1, −0.4."""
    return ("+" if value >= ZERO else "") + figure(value)


def plus_minus(stderr: float) -> str:
    """Such as " ± 0.37" or " ± 1,200"; nothing where there is no error to speak of, or none is known."""
    return f" ± {figure(float(f'{stderr:.2g}'))}" if math.isfinite(stderr) and stderr >= ZERO else ""


@dataclass(frozen=True)
class Interval:
    """A line of an interval plot; `low` and `high` may be infinite."""

    label: str
    value: float
    low: float
    high: float
    words: str
    style: str = ""


@dataclass(frozen=True)
class Intervals:
    """Values with their intervals on one scale, and a level to compare them with: (value, its name)."""

    rows: Sequence[Interval]
    level: tuple[float, str] | None = None

    @cached_property
    def ends(self) -> tuple[float, float]:
        finite = [one for row in self.rows for one in (row.value, row.low, row.high) if math.isfinite(one)]
        finite += [self.level[0]] if self.level else []
        low, high = min(finite, default=0.0), max(finite, default=1.0)
        margin = 0.06 * (high - low) or 1.0
        return low - margin, high + margin

    def place(self, value: float) -> float:
        """Of a value on the scale, in per cent; values beyond it are placed at its end."""
        low, high = self.ends
        return round(100.0 * (min(max(value, low), high) - low) / (high - low), 1)
