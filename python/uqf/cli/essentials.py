"""The essentials of a report, for the terminal."""

from __future__ import annotations

from typing import Any

from uqf.page.parts import percent, signed
from uqf.reports.differences import Differences
from uqf.reports.expectations import Expectations

#: Situations that a terminal shows.
MAX_TOLD = 5


def against(differences: Differences) -> list[str]:
    """How two ways of acting differ, in a few lines."""
    lines = [
        f"{differences.first} takes the same action as {differences.second} in {percent(differences.agreement)} of "
        f"the held-out steps; it gains {signed(differences.gain)} ± {differences.stderr:.2g} per episode, changing "
        "one step at a time"
    ]
    lines += [
        f"{one.action}: {percent(one.first)} instead of {percent(one.second)}"
        for one in differences.actions[:6]
    ]
    return lines + [one.told for one in differences.situations[:MAX_TOLD]]


def expected(expectations: Expectations) -> dict[str, Any]:
    """What would settle it."""
    return {
        "as logged, up to the longest episode": expectations.logged,
        "episodes like these that would do": expectations.settled_by or "these are enough",
        "a cautious start that is known": expectations.cautious or None,
    }
