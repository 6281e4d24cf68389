"""Two policies side by side on one log, as a page."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from uqf import ope
from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.learn.learner import Learner
from uqf.page.parts import Intervals, figure, signed
from uqf.page.render import render
from uqf.policies.policy import Policy, probs_along
from uqf.reports.differences import Differences
from uqf.reports.episodes import Episodes
from uqf.reports.expectations import interval_of, row
from uqf.reports.study import Study
from uqf.reports.writing import PartedReport
from uqf.types import Record


class ComparisonReport(PartedReport):
    """What a page shows of two policies on a log.

    Policies are judged as they are: the episodes must be new to both. `taught` says of which they are not.
    """

    PARTS: ClassVar[tuple[str, ...]] = ("log", "estimate", "differences", "episodes")

    def __init__(
        self,
        first: Learner | Policy,
        second: Learner | Policy,
        data: Trajectories,
        *,
        discount: float,
        return_range: tuple[float, float] | None = None,
        seed: int = 0,
        taught: tuple[bool, bool] = (False, False),
    ) -> None:
        self.study = Study.of(first, data, discount=discount, seed=seed, progress=None)
        self.second, self.return_range, self.seed, self.taught = second, return_range, seed, taught

    @cached_property
    def probs(self) -> FloatArray:
        """Of the second policy before every step, (n_steps, n_actions)."""
        return probs_along(self.second, self.study.held_out)

    @cached_property
    def estimate(self) -> ope.Comparison:
        """Which earns more, if the log can say; a log that one of them learned from cannot."""
        study = self.study
        both = ope.compare(
            study.policy,
            self.second,
            study.log,
            discount=study.discount,
            return_range=self.return_range,
            seed=self.seed,
        )
        return both.of_taught(*self.taught)

    @cached_property
    def differences(self) -> Differences:
        """Where they act differently, and what is at stake there."""
        return Differences.of(self.study, self.probs)

    @cached_property
    def episodes(self) -> Episodes:
        """Episodes to step through."""
        return Episodes.of(self.study, self.probs)

    def as_dict(self) -> Record:
        """All parts as plain values, as JSON knows them."""
        return self.plain(self.PARTS, verdict=self.estimate.verdict)

    def page(self) -> str:
        """One file, without any request to the outside."""
        estimate, first, second = self.estimate, self.estimate.first, self.estimate.second
        known = interval_of(estimate)
        return render(
            "comparison.html",
            report=self,
            difference=signed(estimate.difference) if known else "not known",
            interval=f", {figure(known[0])} to {figure(known[1])}" if known else "",
            expected=Intervals(
                [
                    row("A", first.mean, interval_of(first)),
                    row("B", second.mean, interval_of(second), "second"),
                ]
            ),
        )
