"""The head of a report: is the policy better than what was logged, how sure is that, and what to do next."""

from __future__ import annotations

from typing import NamedTuple

from uqf.ope.doubts import BOUNDS
from uqf.page.parts import figure, percent
from uqf.reports.expectations import Ends, Expectations


class Answer(NamedTuple):
    """A question, the answer in a word or two, and in a sentence."""

    question: str
    short: str
    words: str


def answers(expected: Expectations) -> list[Answer]:
    """First what is known of a cautious start, then of the whole policy."""
    return [
        Answer("Is it better than today?", *_better(expected)),
        Answer("How sure is that?", *_sure(expected)),
        Answer("What do I do on Monday?", *_monday(expected)),
    ]


def _better(expected: Expectations) -> tuple[str, str]:
    whole, logged = expected.interval, expected.logged
    today = f"{figure(logged)} as logged"
    if whole is not None:
        short = {1: "Yes", 0: "Not clear", -1: "No"}[_side(whole, logged)]
        return short, f"The policy is expected to earn {_range(whole)} an episode, against {today}."
    bold = expected.frontier.boldest_known
    rest = "What the whole policy earns is not known from this log"
    if bold is None or bold.interval is None:
        return "Not known", f"{rest}; the logged behaviour earns {figure(logged)} an episode."
    short = {1: "Yes, in part", 0: "Not clear", -1: "No, in part"}[_side(bold.interval, logged)]
    share = percent(bold.setting)
    return short, f"Deciding {share} of the steps it earns {_range(bold.interval)}, against {today}. {rest}."


def _sure(expected: Expectations) -> tuple[str, str]:
    best = expected.estimate
    worth = f"The log is worth {_worth(best.effective_sample_size)} of the whole policy"
    bold = expected.frontier.boldest_known
    condition = best.condition if expected.interval is not None or bold is None else bold.condition
    condition = f" Only if {condition}." if condition else ""
    if expected.interval is not None:
        short = "95 %, on a condition" if best.condition else "95 %"
        return short, f"{worth}, out of {best.episodes:,} held out.{condition}"
    if best.effective_sample_size < BOUNDS.effective_episodes:
        worth += f"; {BOUNDS.effective_episodes:.0f} are needed"
    short = "95 % for that part" if bold else "Not sure at all"
    return short, f"{worth}. {expected.settled_by}{condition if bold else ''}".strip()


def _monday(expected: Expectations) -> tuple[str, str]:
    logged, bold = expected.logged, expected.frontier.boldest_known
    keep = "Log the probability of every action (behavior_prob), and write this report again."
    if expected.interval is not None:
        side = _side(expected.interval, logged)
        if side > 0:
            return "Use it", keep
        return (
            ("Keep today's way", keep) if side < 0 else ("Try it in part", f"Collect more episodes. {keep}")
        )
    if bold is None or bold.interval is None:
        return "Keep today's way", f"Try the policy where little is at stake. {keep}"
    if _side(bold.interval, logged) < 0:
        return "Keep today's way", keep
    share = percent(bold.setting)
    return (
        f"Try it: {share}",
        f"Let it decide in {share} of the steps, drawn by chance, the rest as before. {keep}",
    )


def _side(interval: Ends, logged: float) -> int:
    """Where an interval lies: 1 above what was logged, −1 below, 0 around it."""
    low, high = interval
    return 1 if low > logged else -1 if high < logged else 0


def _range(interval: Ends) -> str:
    return f"{figure(interval[0])} to {figure(interval[1])}"


def _worth(episodes: float) -> str:
    return (
        f"{episodes:,.0f} episodes"
        if episodes >= 1.5
        else f"{'about' if episodes >= 1 else 'less than'} one episode"
    )
