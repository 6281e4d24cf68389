"""Which of several learners suits a log: what they gain on episodes that taught them nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from uqf.episodes.checks import FloatArray
from uqf.errors import UQFError
from uqf.learn.choose.markov_test import MarkovTest
from uqf.learn.choose.rehearsal import Rehearsal, Taught
from uqf.learn.improve.gain import MAX_DISCOUNT, Gain
from uqf.learn.learner import Learner
from uqf.types import Record

#: Another learner replaces the favourite if it gains more by so many standard errors; and so many show that a learner
#: gains anything at all.
MIN_EVIDENCE = 2.0

#: Whoever is ahead of the favourite by so many standard errors on one half of the episodes is judged by the other too.
AHEAD = 0.5

#: Discounts of the gains, cut to that of the task. The noise of all later rewards is in a gain; where no learner is
#: seen to gain anything, the next rewards alone may still show something.
HORIZONS = (MAX_DISCOUNT, 0.5)


@dataclass(frozen=True)
class Candidate:
    """A learner that takes part in every fit."""

    make: Callable[[float, int], Learner]
    """From the discount and the seed."""
    plans_on_observations: bool = False
    """Right where the last observation is a state, wrong elsewhere: taken there, and left out elsewhere."""
    note: str = ""
    """What tells it from another candidate of the same class."""

    def name(self, learner: Learner) -> str:
        """How its learner is called in `diagnostics_`."""
        return type(learner).__name__ + (f", {self.note}" if self.note else "")


@dataclass(frozen=True)
class Tried:
    """A learner that was tried."""

    name: str
    taught: Taught
    """Its learner of either half of the episodes."""
    gains: Sequence[Gain]
    """By horizon, on the episodes that did not teach it; none if the data refused the learner."""
    problem: str = ""
    """Why they did."""


def best(tried: Sequence[Tried]) -> tuple[Tried, int]:
    """(the learner that suits the data, the horizon that says so).

    The favourite, unless others gain clearly more: then that which gains most. Gains of single steps are mostly noise
    where episodes are few, and the largest of several is largest by chance. If the one that is taken is not seen to
    gain anything, the next horizon decides.
    """
    judged = [one for one in tried if one.gains]
    if not judged:
        raise UQFError(f"every learner was refused; the first said: {tried[0].problem}")
    for horizon in range(len(judged[-1].gains)):
        found = _clearly_best(judged, horizon)
        if found.gains[horizon].evidence > MIN_EVIDENCE:
            return found, horizon
    return _clearly_best(judged, 0), 0


def undecided(tried: Sequence[Tried]) -> list[Tried]:
    """Learners that the other half of the episodes shall judge as well.

    None if the favourite clearly gains something and nobody is ahead of it; else these others and the favourite. All of
    them if it is not clear that it gains anything.
    """
    judged = [one for one in tried if one.gains]
    if not judged:
        return []
    favourite = judged[-1]
    if favourite.gains[0].evidence <= MIN_EVIDENCE:
        return judged
    expected = favourite.gains[0].totals
    ahead = [one for one in judged[:-1] if _ahead(one.gains[0].totals, expected).evidence > AHEAD]
    return [*ahead, favourite] if ahead else []


def _clearly_best(judged: Sequence[Tried], horizon: int) -> Tried:
    favourite = judged[-1]
    expected = favourite.gains[horizon].totals
    better = [
        (one.gains[horizon].mean, place)
        for place, one in enumerate(judged)
        if _ahead(one.gains[horizon].totals, expected).evidence > MIN_EVIDENCE
    ]
    return judged[max(better)[1]] if better else favourite


def _ahead(totals: FloatArray, expected: FloatArray) -> Gain:
    """What one gains more than another on the episodes that judged both: one of them may have been judged by fewer."""
    both = min(len(totals), len(expected))
    return Gain(totals[:both] - expected[:both])


def told(
    chosen: str,
    horizon: int,
    tried: Sequence[Tried],
    test: MarkovTest,
    rehearsals: Mapping[str, Rehearsal],
    plans_on_observations: bool,
) -> Record:
    """The choice, its evidence and the runners-up, for `diagnostics_`."""
    candidates: Record = {
        one.name: {"gain": one.gains[horizon].mean, "stderr": one.gains[horizon].stderr}
        if one.gains
        else {"problem": one.problem}
        for one in tried
    }
    candidates |= {name: rehearsal.as_dict() for name, rehearsal in rehearsals.items()}
    row = candidates[chosen]
    if plans_on_observations:
        why = f"{chosen} plans on observations, and they are states."
    elif chosen in rehearsals:
        won = "all" if row["won"] == row["models"] else f"{row['won']} of"
        why = (
            f"{chosen} plans, and earns more in {won} {row['models']} models of other episodes: "
            f"{row['difference']:.4g} an episode on average."
        )
    else:
        held_out = max(len(one.gains[horizon].totals) for one in tried if one.name == chosen)
        why = (
            f"{chosen} gains {row['gain']:.4g} ± {row['stderr']:.2g} an episode on {held_out:,} held-out episodes, one "
            "step at a time, and no other clearly more."
        )
        if horizon > 0:
            why += f" Rewards count by {HORIZONS[horizon]:g} for every step of delay: with later ones nothing is seen."
    return {"why": f"{why} {test.verdict}", "candidates": candidates}
