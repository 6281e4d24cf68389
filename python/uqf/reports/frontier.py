"""How certain one can be of more and less cautious versions of a policy, from the same log."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uqf import ope
from uqf.ope.doubts import BOUNDS
from uqf.page.figures import HEIGHT, LEFT, RIGHT, WIDTH, Axis, Panel, drawing
from uqf.policies.policy import Policy
from uqf.reports.study import Study

#: Shares of the decisions that are left to the policy, the others being made as before.
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)

#: Temperatures in parts of that of the policy.
FACTORS = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0)

#: Resamples of the bootstrap: enough for a figure.
REPLICATES = 300

#: Smaller sizes are drawn at the border.
MIN_SIZE = 0.1


@dataclass(frozen=True)
class Point:
    """A version of the policy, and what the log tells of it by weighted episodes."""

    setting: float
    mean: float
    low: float | None
    """None if the log cannot tell."""
    high: float | None
    condition: str
    """What must be believed for the interval to hold; empty if there is nothing."""
    effective_episodes: float

    @classmethod
    def of(cls, setting: float, estimate: ope.Estimate) -> Point:
        """An estimate in figures."""
        low, high = (None, None) if estimate.answer is ope.Answer.UNKNOWN else estimate.interval
        return cls(setting, estimate.mean, low, high, estimate.condition, estimate.effective_sample_size)

    @property
    def interval(self) -> tuple[float, float] | None:
        """With 95 % confidence; None if the log cannot tell."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class Frontier:
    """From cautious to bold."""

    followed: list[Point]
    """By the share of the decisions that are left to the policy."""
    temperatures: list[Point]
    """By temperature; empty if the policy has none."""
    temperature: float | None
    """That of the policy."""
    logged: float
    """What the logged behaviour earns by the same rule: up to the length of the longest episode."""

    @classmethod
    def of(cls, study: Study) -> Frontier:
        """By weighted held-out episodes alone, without any model, under the rules of `uqf.ope.evaluate`."""
        policy, warmer = study.policy, dict[float, Policy]()
        usual = getattr(policy, "temperature", None)
        if usual is not None and hasattr(policy, "with_temperature"):
            scale = usual if usual > 0.0 else _spread_of_values(study)
            warmer = {scale * one: policy.with_temperature(scale * one) for one in FACTORS if scale > 0.0}
        estimates = ope.versions(
            [(policy, share) for share in (0.0, *SHARES)] + [(one, 1.0) for one in warmer.values()],
            study.held_out,
            discount=study.discount,
            replicates=REPLICATES,
        )
        logged, *points = map(Point.of, (0.0, *SHARES, *warmer), estimates)
        return cls(points[: len(SHARES)], points[len(SHARES) :], usual, logged.mean)

    @property
    def boldest_known(self) -> Point | None:
        """The largest share of the decisions of which the log can tell what comes of it."""
        known = [point for point in self.followed if point.interval is not None]
        return max(known, key=lambda point: point.setting, default=None)

    def figures(self) -> list[str]:
        """Two pictures for each way of being cautious: what to expect, and how many episodes that rests on."""
        found = _figures(
            [replace(point, setting=100.0 * point.setting) for point in self.followed],
            "per cent of the decisions left to the policy",
            "followed",
            self.logged,
        )
        if self.temperatures:
            found += _figures(self.temperatures, "temperature", "temperature", self.logged)
        return found


def _spread_of_values(study: Study) -> float:
    """How far apart the values of actions are on average, where a greedy policy has no temperature."""
    if not hasattr(study.policy, "q_values_along"):
        return 0.0
    values = np.asarray(study.policy.q_values_along(study.held_out[: min(50, len(study.held_out))]))
    return float(values[np.isfinite(values).all(axis=1)].std(axis=1).mean()) * 0.25


def _figures(points: list[Point], label: str, name: str, logged: float) -> list[str]:
    known = [(point, point.interval) for point in points if point.interval is not None]
    reach = [logged, *(end for _, ends in known for end in ends)]
    reach += [] if known else [point.mean for point in points]
    low, high = min(reach), max(reach)
    margin = 0.15 * (high - low) or max(1.0, 0.1 * abs(high))
    x = Axis(points[0].setting, points[-1].setting, LEFT, RIGHT, logarithmic=True)
    ticks = [1.0, 10.0, 100.0] if name == "followed" else None
    expected = Panel(
        "What to expect", x, Axis(low - margin, high + margin, HEIGHT - 50, 34), label, "", ticks
    )
    expected.level(logged, "second", "as logged")
    if known:
        line = [(point.setting, point.mean, 0.0) for point, _ in known]
        expected.band([(point.setting, *ends) for point, ends in known], "first")
        expected.line(line, "first", "expected return")
    for point in points:
        if point.interval is None:
            note = f"not known from this log at {point.setting:.3g}"
            expected.mark(x(point.setting), expected.y(point.mean), "hollow first", note, 4)
    sizes = [max(point.effective_episodes, MIN_SIZE) for point in points]
    y = Axis(
        min([MIN_SIZE * 10, *sizes]),
        max([2 * BOUNDS.effective_episodes, *sizes]),
        HEIGHT - 50,
        34,
        logarithmic=True,
    )
    worth = Panel("Episodes that this rests on", x, y, label, "", ticks)
    worth.level(BOUNDS.effective_episodes, "second", "enough")
    worth.line(
        [(point.setting, size, 0.0) for point, size in zip(points, sizes, strict=True)], "first", "episodes"
    )
    return [
        drawing([expected], WIDTH, HEIGHT, f"{name}-return", f"Expected return by {label}"),
        drawing([worth], WIDTH, HEIGHT, f"{name}-size", f"Effective episodes by {label}"),
    ]
