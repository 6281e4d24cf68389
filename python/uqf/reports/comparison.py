"""Two policies side by side on one log, as a page."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from typing import ClassVar

from uqf import ope
from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.learn.learner import Learner
from uqf.page.parts import card, document, figure, intervals, percent, signed, tiles
from uqf.policies.policy import Policy, probs_along
from uqf.printable import escape
from uqf.reports.differences import Differences
from uqf.reports.episodes import Episodes
from uqf.reports.expectations import HOLLOW, Expected
from uqf.reports.log import Log, problems
from uqf.reports.study import Study
from uqf.reports.writing import PartedReport, numbered, plain
from uqf.types import Record


class ComparisonReport(PartedReport):
    """What a page shows of two policies on a log.

    Policies are judged as they are: the episodes must be new to both. `taught` says of which they are not.
    """

    PARTS: ClassVar[dict[str, float]] = {
        "log": 1_000.0,
        "estimate": 60_000.0,
        "differences": 8_000.0,
        "episodes": 500.0,
    }

    def __init__(
        self,
        first: Learner | Policy,
        second: Learner | Policy,
        data: Trajectories,
        *,
        discount: float,
        seed: int = 0,
        taught: tuple[bool, bool] = (False, False),
    ) -> None:
        self.study = Study.of(first, data, discount=discount, seed=seed, progress=None)
        self.second, self.seed, self.taught = second, seed, taught

    @cached_property
    def probs(self) -> FloatArray:
        """Of the second policy before every step, (n_steps, n_actions)."""
        return probs_along(self.second, self.study.held_out)

    @cached_property
    def log(self) -> Log:
        """What is in the log."""
        return Log.of(self.study.log, self.study.discount, problems(self.study.log, {}))

    @cached_property
    def estimate(self) -> ope.Comparison:
        """Which earns more, if all episodes can tell; a log that taught one of them cannot."""
        study = self.study
        found = ope.compare(study.policy, self.second, study.log, discount=study.discount, seed=self.seed)
        return found.of_taught(*self.taught)

    @cached_property
    def differences(self) -> Differences:
        """Where they act differently, and what is at stake there."""
        return Differences.of_policies(self.study, self.probs)

    @cached_property
    def episodes(self) -> Episodes:
        """Episodes to step through."""
        return Episodes.of(self.study, self.probs)

    def as_dict(self) -> Record:
        """All parts as plain values, as JSON knows them."""
        parts = {part: asdict(getattr(self, part)) for part in self.PARTS}
        found: Record = plain({"verdict": self.estimate.verdict, **parts})
        return found

    def page(self) -> str:
        """One file, without any request to the outside."""
        differences, found = self.differences, self.estimate
        known = abs(found.interval[0]) < float("inf")
        shown = [
            (percent(differences.agreement), "of the steps: both policies take the same action"),
            (
                signed(differences.gain),
                f"± {differences.stderr:.2g} gain of A over B per episode, changing one step at a time",
            ),
            (
                signed(found.difference) if known else "not known",
                "difference of the expected returns, A − B"
                + (f", {figure(found.interval[0])} to {figure(found.interval[1])}" if known else ""),
            ),
        ]
        head = (
            "<h1>Two policies on one log</h1>"
            f'<p class="lead">A and B, judged on the same {differences.episodes:,} episodes'
            f"{'' if any(self.taught) else ', which are taken to be new to both'}.</p>"
            f"{tiles(shown)}<p>{escape(found.verdict)}</p>"
        )
        parts = [
            ("A against B", differences.section()),
            ("What to expect", self._expected()),
            ("Episodes to step through", self.episodes.section()),
            ("The log", self.log.section()),
        ]
        return document("uqf: two policies on one log", [head, *numbered(parts)])

    def _expected(self) -> str:
        first, second = map(Expected.of, (self.estimate.first, self.estimate.second))
        rows = [first.row(f"A: {first.words}"), second.row(f"B: {second.words}")]
        return card("<h3>Expected return</h3>", intervals(rows), HOLLOW)
