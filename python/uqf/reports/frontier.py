"""How certain one can be of more and less cautious versions of a policy, from the same log."""

from __future__ import annotations

from dataclasses import dataclass, replace

from uqf import ope
from uqf.ope.doubts import BOUNDS
from uqf.ope.estimates import ANYTHING
from uqf.page.figures import HEIGHT, LEFT, RIGHT, WIDTH, Axis, Drawing, Panel
from uqf.page.parts import figure, percent
from uqf.reports.study import Study

#: Shares of the decisions that are left to the policy, the others being made as before.
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)

#: Smaller numbers of effective episodes are left out of the figure.
MIN_SIZE = 1.0

LABEL = "per cent of the decisions left to the policy"


@dataclass(frozen=True)
class Point:
    """A version of the policy, and what weighted episodes say of it."""

    setting: float
    """Share of the decisions that are left to the policy."""
    mean: float
    interval: tuple[float, float] | None
    """With 95 % confidence; None if the log cannot say."""
    condition: str
    """What must be believed for the interval to hold; empty if there is nothing."""
    effective_episodes: float

    @classmethod
    def of(cls, setting: float, estimate: ope.Estimate) -> Point:
        """An estimate in figures."""
        ends = None if estimate.interval == ANYTHING else estimate.interval
        return cls(setting, estimate.mean, ends, estimate.condition, estimate.effective_sample_size)


@dataclass(frozen=True)
class Frontier:
    """From cautious to bold."""

    followed: list[Point]
    """By the share of the decisions that are left to the policy."""
    logged: float
    """What the logged behaviour earns by the same rule: up to the length of the longest episode."""

    @classmethod
    def of(cls, study: Study) -> Frontier:
        """By weighted held-out episodes alone, without any model, under the rules of `uqf.ope.evaluate`."""
        shares = (0.0, *SHARES)
        # So many resamples are enough for a figure.
        log = replace(study.evaluator, replicates=300)
        estimates = [log.estimate(log.seen_with(study.probs, share), "importance") for share in shares]
        logged, *followed = map(Point.of, shares, estimates)
        return cls(followed, logged.mean)

    @property
    def boldest_known(self) -> Point | None:
        """The largest share of the decisions whose return the log can estimate."""
        known = [point for point in self.followed if point.interval is not None]
        return max(known, key=lambda point: point.setting, default=None)

    @property
    def figures(self) -> list[Drawing]:
        """What to expect, and how many episodes that rests on."""
        x = Axis(100 * SHARES[0], 100 * SHARES[-1], LEFT, RIGHT, logarithmic=True)
        expected = Panel("What to expect", x, self._returns_axis(), LABEL, "", [1.0, 10.0, 100.0])
        expected.level(self.logged, "second", "as logged")
        known = [(100 * one.setting, one, one.interval) for one in self.followed if one.interval is not None]
        expected.band([(share, *ends) for share, _, ends in known], "first")
        expected.curve([(share, point.mean) for share, point, _ in known], "first")
        for share, point, (low, high) in known:
            note = f"{percent(point.setting)}: {figure(point.mean)}, from {figure(low)} to {figure(high)}"
            expected.mark(x(share), expected.y(point.mean), "first", note)
        for point in self.followed:
            # A guess beyond the axis has no place on it.
            if point.interval is None and expected.y.low <= point.mean <= expected.y.high:
                note = f"{percent(point.setting)}: not known from this log"
                expected.mark(x(100 * point.setting), expected.y(point.mean), "hollow first", note, 4)
        sizes = [(100 * one.setting, one.effective_episodes, 0.0) for one in self.followed]
        sizes = [one for one in sizes if one[1] >= MIN_SIZE]
        most = max([2 * BOUNDS.effective_episodes, *(size for _, size, _ in sizes)])
        y = Axis(MIN_SIZE, most, HEIGHT - 50, 34, logarithmic=True)
        worth = Panel("Effective episodes", x, y, LABEL, "", [1.0, 10.0, 100.0])
        worth.level(BOUNDS.effective_episodes, "second", "enough")
        worth.line(sizes, "first", "effective episodes")
        return [
            Drawing([expected], WIDTH, HEIGHT, "followed-return", f"Expected return by {LABEL}"),
            Drawing([worth], WIDTH, HEIGHT, "followed-size", f"Effective episodes by {LABEL}"),
        ]

    def _returns_axis(self) -> Axis:
        """Holds what is known, and those guesses that do not squeeze it to less than half of the axis."""
        guesses = [one.mean for one in self.followed if one.interval is None]
        reach = [self.logged, *(end for one in self.followed for end in one.interval or ())]
        if len(reach) == 1:
            reach += guesses
        low, high = min(reach), max(reach)
        half = (high - low) / 2
        reach += [guess for guess in guesses if low - half <= guess <= high + half]
        margin = 0.12 * (max(reach) - min(reach)) or max(1.0, 0.1 * abs(high))
        return Axis(min(reach) - margin, max(reach) + margin, HEIGHT - 50, 34)
