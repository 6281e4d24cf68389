"""What a log looks like, what was learned from it, what to expect and what to worry about."""

from __future__ import annotations

from uqf import ope
from uqf.cli.contents import data_report
from uqf.learn.improve.gain import with_error
from uqf.learn.learner import Learner
from uqf.page.parts import percent, signed
from uqf.reports import report as reports
from uqf.reports.differences import Differences
from uqf.reports.expectations import Expectations
from uqf.types import Record

Report = Record


def estimate_report(estimate: ope.Estimate) -> Report:
    """Figures and verdict of an off-policy estimate; there is no figure for a return that is not known."""
    answered = estimate.answer is not ope.Answer.UNKNOWN
    low, high = estimate.interval
    return {
        "expected return": estimate.text(),
        "known": estimate.known,
        "learned from this log": estimate.taught or None,
        "condition": estimate.condition or None,
        "mean": estimate.mean if answered else None,
        "from": low if answered else None,
        "to": high if answered else None,
        "confidence": estimate.level if answered else None,
        "guess": None if answered else estimate.mean,
        "method": estimate.method,
        "effective episodes": estimate.effective_sample_size,
        "logged episodes": estimate.episodes,
        "verdict": estimate.verdict,
    }


def fit_report(learner: Learner, page: reports.Report) -> Report:
    """What `uqf.fit` made of the data, and what to expect of it.

    The estimate is of the chosen learner's policy as it was before it learned from the held-out episodes too. They
    chose the learner: with few episodes the estimate is a little too high.
    """
    diagnostics, estimate, data = learner.diagnostics_, page.estimate, page.study.log
    chosen, figures = diagnostics["chosen"], data_report(data, page.study.discount)
    if diagnostics["episodes"] > len(data):
        figures = {"all episodes": diagnostics["episodes"], "all steps": diagnostics["steps"]} | figures
    doubt = f"The expected return is {estimate.text()}: {estimate.lack} Try the policy on a small share of the traffic."
    return {
        "data": figures,
        "chosen": plain_values(diagnostics),
        "candidates": {"why": chosen["why"]}
        | {name: _judged(candidate) for name, candidate in chosen["candidates"].items()},
        "against": against(page.differences),
        "expect": estimate_report(estimate) | expected(page.expectations),
        "worry": ([] if estimate.known else [doubt]) + page.log.problems,
    }


def _judged(candidate: Record) -> str:
    """One of the candidates in a line."""
    if candidate["problem"] is not None:
        return f"not considered: {candidate['problem']}"
    parts = []
    if candidate["gain"] is not None:
        gain = with_error(candidate["gain"], candidate["stderr"])
        parts.append(f"better than the log by {gain}, changing one step of an episode at a time")
    if candidate["difference"] is not None:
        parts.append(
            f"{signed(candidate['difference'])} an episode in learned models, beside who held the place"
        )
    return "; ".join(parts)


def plain_values(diagnostics: Record) -> Record:
    """Those that can be shown in a table and written as JSON."""
    return {name: value for name, value in diagnostics.items() if _is_plain(value)}


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return isinstance(value, (str, int, float, bool)) or value is None


#: Situations that a terminal shows.
MAX_SITUATIONS = 5


def against(differences: Differences) -> list[str]:
    """How two ways of acting differ, in a few lines."""
    lines = [
        f"{differences.first} takes the same action as {differences.second} in {percent(differences.agreement)} of "
        f"the held-out steps; changing one step of an episode at a time it gains "
        f"{with_error(differences.gain, differences.stderr)}"
    ]
    lines += [
        f"{one.action}: {percent(one.first)} instead of {percent(one.second)}"
        for one in differences.actions[:6]
    ]
    return lines + [one.text for one in differences.situations[:MAX_SITUATIONS]]


def expected(expectations: Expectations) -> Record:
    """What the log knows beside the estimate, and what it would take to know more."""
    return {
        "as logged, up to the longest episode": expectations.logged,
        "episodes like these that would do": expectations.settled_by or "these are enough",
        "a cautious start": expectations.cautious or None,
    }
