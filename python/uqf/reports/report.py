"""The report on a log and a policy: facts first, then one page of them."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from uqf.data.progress import Callback, Reporter
from uqf.files import whole_file
from uqf.page.document import document, tiles
from uqf.page.parts import figure, percent, signed
from uqf.printable import escape
from uqf.reports.differences import Differences
from uqf.reports.episodes import Episodes
from uqf.reports.expectations import COSTS, Expectations
from uqf.reports.log import Log
from uqf.reports.memory import Memory
from uqf.reports.problems import problems
from uqf.reports.rules import Rules
from uqf.reports.study import Study

#: About how many nanoseconds the other parts cost a step; measured.
PART_COSTS = {"log": 1_000.0, "differences": 6_000.0, "rules": 12_000.0, "memory": 5_000.0, "episodes": 500.0}


@dataclass(frozen=True)
class Report:
    """Everything that the page shows."""

    learner: str | None
    chosen: str | None
    """Why this learner was taken, if others were tried."""
    judged_as: str
    log: Log
    differences: Differences
    rules: Rules
    memory: Memory
    expectations: Expectations
    episodes: Episodes

    @classmethod
    def of(cls, study: Study, *, seed: int = 0, progress: Callback | None = None) -> Report:
        """All facts; what is long is told to `progress`."""
        steps = study.held_out.n_steps
        total = steps * (sum(COSTS.values()) + sum(PART_COSTS.values()))
        reporter = Reporter(progress, total, 1e-9)

        def enter(part: str) -> None:
            reporter.enter(part, f"{steps:,} steps", PART_COSTS[part] * steps)

        diagnostics = getattr(study.learner, "diagnostics_", {})
        enter("log")
        whole = diagnostics.get("episodes", 0)
        sampled = whole if whole > len(study.log) else None
        log = Log.of(study.log, study.discount, problems(study.log, diagnostics), sampled)
        enter("differences")
        differences = Differences.from_log(study)
        enter("rules")
        rules = Rules.of(study)
        enter("memory")
        memory = Memory.of(study)
        expectations = Expectations.of(study, seed, reporter)
        enter("episodes")
        episodes = Episodes.of(study)
        reporter.finish()
        return cls(
            learner=type(study.learner).__name__ if study.learner is not None else None,
            chosen=diagnostics.get("chosen", {}).get("why"),
            judged_as=study.judged_as,
            log=log,
            differences=differences,
            rules=rules,
            memory=memory,
            expectations=expectations,
            episodes=episodes,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON knows them."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def page(self) -> str:
        """One file, without any request to the outside."""
        parts = [
            ("The log", self.log.section()),
            ("The policy against the log", self.differences.section()),
            ("How it decides", self.rules.section()),
            ("What it remembers", self.memory.section()),
            ("What to expect", self.expectations.section()),
            ("Episodes to step through", self.episodes.section()),
        ]
        links = "".join(
            f'<a href="#part-{number}">{escape(title)}</a>' for number, (title, _) in enumerate(parts, 1)
        )
        sections = [
            f'<section id="part-{number}"><h2>{escape(title)}</h2>{markup}</section>'
            for number, (title, markup) in enumerate(parts, 1)
        ]
        return document(
            "uqf: what was learned from the log", [self._head(), f"<nav>{links}</nav>", *sections]
        )

    def _head(self) -> str:
        differences, expected = self.differences, self.expectations
        best = expected.best
        known, logged = figure(best.mean) if best.known else "not known", figure(expected.logged)
        note = f"expected return: this log cannot tell; the logged behaviour earns {logged}"
        if best.low is not None and best.high is not None:
            note = f"expected return, {figure(best.low)} to {figure(best.high)}; as logged {logged}"
        who = f"{self.learner} learned" if self.learner else "The policy"
        shown = [
            (f"{self.log.episodes:,}", f"episodes with {self.log.steps:,} steps"),
            (percent(differences.agreement), "of the steps: the policy does what the log did"),
            (
                signed(differences.gain),
                f"± {differences.stderr:.2g} gain per episode, changing one step at a time",
            ),
            (known, note),
        ]
        why = f"<p>{escape(self.chosen)}</p>" if self.chosen else ""
        return (
            "<h1>What was learned from the log</h1>"
            f'<p class="lead">{escape(who)}{" a policy" if self.learner else ""}. Everything below is judged on '
            f"{differences.episodes:,} held-out episodes: {escape(self.judged_as)}.</p>{tiles(shown)}{why}"
        )


def report(
    learner: Any,
    data: Any,
    path: str | os.PathLike[str],
    *,
    discount: float | None = None,
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
    progress : callable, optional
        Called now and then with a `uqf.Progress`.
    """
    made = Report.of(
        Study.of(learner, data, discount=discount, seed=seed, progress=progress), seed=seed, progress=progress
    )
    write_page(path, made.page())
    return made


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Whole or not at all."""
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {target.absolute().parent} to write to")
    with whole_file(target) as file:
        file.write(text.encode())


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
