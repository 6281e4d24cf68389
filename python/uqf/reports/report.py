"""The report on a log and a policy: facts first, then one page of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from numpy.typing import ArrayLike

from uqf import ope
from uqf.episodes.checks import instance
from uqf.learn.learner import Learner
from uqf.page.render import render
from uqf.policies.policy import Policy
from uqf.reading.progress import Callback
from uqf.reading.shards import Data
from uqf.reports.acting import Acting
from uqf.reports.answers import answers
from uqf.reports.differences import Differences
from uqf.reports.episodes import Episodes
from uqf.reports.expectations import Expectations
from uqf.reports.facts import Facts
from uqf.reports.frontier import Frontier
from uqf.reports.memory import Memory
from uqf.reports.outcomes import Outcomes
from uqf.reports.rules import Rules
from uqf.reports.study import Study
from uqf.reports.writing import PartedReport, check_folder
from uqf.types import Record


class Report(PartedReport):
    """What a page shows of a policy on a log."""

    PARTS: ClassVar[tuple[str, ...]] = (
        "log",
        "differences",
        "rules",
        "memory",
        "frontier",
        "expectations",
        "outcomes",
        "acting",
        "episodes",
    )

    def __init__(self, study: Study, seed: int = 0, facts: Facts | None = None) -> None:
        self.study, self.seed, self.facts = study, seed, facts or Facts()

    @cached_property
    def differences(self) -> Differences:
        """The policy against the log."""
        return Differences.of(self.study)

    @cached_property
    def rules(self) -> Rules:
        """How it decides."""
        return Rules.of(self.study)

    @cached_property
    def memory(self) -> Memory:
        """What it remembers."""
        return Memory.of(self.study)

    @cached_property
    def frontier(self) -> Frontier:
        """From cautious to bold."""
        return Frontier.of(self.study)

    @cached_property
    def expectations(self) -> Expectations:
        """What to expect."""
        return Expectations.of(self.study, self.frontier)

    @cached_property
    def outcomes(self) -> Outcomes:
        """Before and after."""
        return Outcomes.of(self.study, self.facts, self.frontier)

    @cached_property
    def acting(self) -> Acting:
        """The policy at work."""
        return Acting.of(self.study, self.seed)

    @property
    def estimate(self) -> ope.Estimate:
        """What the policy would earn."""
        return self.study.estimate

    @cached_property
    def episodes(self) -> Episodes:
        """Episodes to step through."""
        return Episodes.of(self.study)

    def as_dict(self) -> Record:
        """All parts as plain values, as JSON knows them."""
        study = {"judged as": self.study.judged_as, "discount": self.study.discount}
        # The frontier is within what to expect.
        return self.plain((part for part in self.PARTS if part != "frontier"), **study)

    def _acting_bars(self) -> list[tuple[str, tuple[float, ...]]]:
        """Shares of actions: of the policy at the logged steps, of the log, and of the policy when it acts."""
        names, shares = self.study.names, self.acting.shares
        guesses = {names.action(code): share for code, share in enumerate(shares)}
        return [(name, (*pair, guesses[name])) for name, pair in self.differences.bars] if shares else []

    def page(self) -> str:
        """One file, without any request to the outside."""
        learner = self.study.learner
        return render(
            "report.html",
            report=self,
            learner=None if learner is None else type(learner).__name__,
            why=self.study.diagnostics.get("chosen", {}).get("why"),
            answers=answers(self.expectations),
            acting=self._acting_bars(),
        )


def report(
    learner: Learner | Policy,
    data: Data,
    path: str | os.PathLike[str],
    *,
    discount: float | None = None,
    problems: Sequence[str] = (),
    times: ArrayLike | None = None,
    outcomes: Mapping[str, ArrayLike] | None = None,
    seed: int = 0,
    progress: Callback | None = None,
) -> Report:
    """Writes a page about a log and a policy, and returns what it shows.

    The page is one file that asks nothing of the outside: what is in the log, where the policy differs from it and what
    is at stake there, how the policy decides and what it remembers, what to expect, and episodes to step through.

    Parameters
    ----------
    learner : fitted learner or policy
        A learner of `uqf.fit` is judged as it was there, on the episodes that were held out. Another learner that this
        log taught is taught anew by half of it and judged by the other half. A policy, or a learner that another log
        taught, is judged as it is: give episodes that are new to it.
    data : Trajectories, `uqf.Shards` or the path of a folder of Parquet files
        Of shards a sample is shown.
    path : str or path
        Where the page goes; it is written whole or not at all.
    discount : float in [0, 1], optional
        That of the learner by default; a policy alone needs it.
    problems : list of str
        What was mended or dropped when the log was read, in words and with counts; listed with the other problems.
    times : (n_episodes,), datetime64, optional
        When each episode began: figures have dates then, and outcomes are also shown per week.
    outcomes : mapping of (n_steps,) numbers, optional
        What a reader wants to see before and after, such as ``{"breakdown": …}``, added up over an episode.
    seed : int
        Of the estimates, and of which episodes judge where that is not settled.
    progress : callable, optional
        Called now and then with a `uqf.Progress`.

    Returns
    -------
    Report
        What the page shows: its parts, and `as_dict` for all of them as plain values.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=100, seed=0)
    >>> learner = uqf.ContextQ(0.95).fit(data)
    >>> found = uqf.report(learner, data, "report.html")
    >>> found.log.episodes
    100
    """
    check_folder(path)
    instance("problems", problems, Iterable, "a list of sentences")
    if outcomes is not None:
        instance("outcomes", outcomes, Mapping, "a mapping of names to one number a step")
    study = Study.of(learner, data, discount=discount, seed=seed, progress=progress)
    made = Report(study, seed, Facts.of(study.log, problems, times, outcomes)).complete(progress)
    made.write(path)
    return made
