"""Where two ways of acting differ, and what is at stake there: a policy and the log, or two policies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.learn.improve.gain import Gain
from uqf.page.parts import percent, plus_minus, signed
from uqf.reports.names import Phrase, cut, text
from uqf.reports.situations import Situation, situations
from uqf.reports.study import Study

#: Who is compared: a policy with the log, or two policies.
SIDES = ("the policy", "the log"), ("A", "B")

#: Situations and actions that are shown.
MAX_SITUATIONS, MAX_ACTIONS = 10, 12

#: Shares of actions that differ by less are not shown; a gain of fewer standard errors is not clear.
MIN_DIFFERENCE, MIN_EVIDENCE = 0.02, 2.0


@dataclass(frozen=True)
class ActionShare:
    """How often an action is taken."""

    action: str
    first: float
    second: float


@dataclass(frozen=True)
class Difference:
    """A situation in which the two act differently."""

    situation: Phrase
    actions: list[ActionShare]
    gain: float
    """Of the first over the second, per episode and in units of reward: from episodes that did not rank situations."""
    stderr: float
    steps: int
    """How often it occurs among all held-out steps."""

    @property
    def text(self) -> str:
        """Such as: after “vibration high” twice: lubricate 83 % instead of 21 %, +3.1 ± 0.6 per episode, …"""
        changes = "; ".join(
            f"{cut(one.action)} {percent(one.first)} instead of {percent(one.second)}"
            for one in self.main_changes
        )
        return (
            f"{text(self.situation)}: {changes}, {signed(self.gain)}{plus_minus(self.stderr)} per episode, "
            f"seen {self.steps:,} times"
        )

    @property
    def clarity(self) -> str:
        """Whether the first is "better", "worse", or the log leaves it "unsure"."""
        if abs(self.gain) < MIN_EVIDENCE * self.stderr or self.gain == 0.0:
            return "unsure"
        return "better" if self.gain > 0 else "worse"

    @property
    def main_changes(self) -> list[ActionShare]:
        """The action that is gained most and the one that is lost most."""
        more = max(self.actions, key=lambda one: one.first - one.second)
        less = min(self.actions, key=lambda one: one.first - one.second)
        return [one for one in (more, less) if abs(one.first - one.second) >= MIN_DIFFERENCE]


@dataclass(frozen=True)
class Differences:
    """Two ways of acting on the same held-out episodes."""

    first: str
    second: str
    actions: list[ActionShare]
    agreement: float
    """Probability that both take the same action."""
    gain: float
    """Of the first over the second, per episode, changing one step at a time."""
    stderr: float
    episodes: int
    steps: int
    situations: list[Difference]

    @classmethod
    def of(cls, study: Study, other: FloatArray | None = None) -> Differences:
        """The policy against the log, or against another one with probabilities `other` (n_steps, n_actions)."""
        first, second = study.probs, np.zeros_like(study.probs) if other is None else other
        if other is None:
            second[np.arange(len(second)), study.held_out.actions] = 1.0
        gains = study.gains(study.taken(first), None if other is None else study.taken(other))
        total = study.total(gains)
        return cls(
            *SIDES[other is not None],
            actions=_shares(study, first, second, np.arange(len(first))),
            agreement=float((first * second).sum(axis=1).mean()),
            gain=total.mean,
            stderr=total.stderr,
            episodes=len(study.held_out),
            steps=study.held_out.n_steps,
            situations=_ranked(study, first, second, gains, first if other is None else first - other),
        )

    @property
    def bars(self) -> list[tuple[str, tuple[float, float]]]:
        """Actions with their shares."""
        return [(one.action, (one.first, one.second)) for one in self.actions[:MAX_ACTIONS]]


def _shares(
    study: Study, first: FloatArray, second: FloatArray, steps: NDArray[np.int64]
) -> list[ActionShare]:
    means = first[steps].mean(axis=0), second[steps].mean(axis=0)
    order = np.argsort(-(means[0] + means[1]), kind="stable")
    return [
        ActionShare(study.names.action(int(code)), float(means[0][code]), float(means[1][code]))
        for code in order
        if means[0][code] + means[1][code] > 0
    ]


def _ranked(
    study: Study, first: FloatArray, second: FloatArray, gains: FloatArray, decisions: FloatArray
) -> list[Difference]:
    """Those with most at stake. Every other episode ranks, the rest measure: the largest of many is no accident."""
    episode = np.repeat(np.arange(len(study.held_out)), study.held_out.lengths)
    ranked: list[tuple[float, Situation, Gain]] = []
    for situation in situations(study.held_out, decisions):
        steps = situation.steps
        totals = np.bincount(episode[steps], gains[steps], len(study.held_out)).astype(np.float64)
        ranks, measured = Gain(totals[::2]), Gain(totals[1::2] if len(totals) > 1 else totals)
        # One standard error nearer to zero: what is merely uncertain does not come first.
        ranked.append((abs(ranks.mean) - ranks.stderr, situation, measured))
    ranked.sort(key=lambda entry: -entry[0])
    shown = [
        Difference(
            situation.phrase(study.names),
            _shares(study, first, second, situation.steps),
            measured.mean,
            measured.stderr,
            len(situation.steps),
        )
        for _, situation, measured in ranked[:MAX_SITUATIONS]
    ]
    return sorted((one for one in shown if one.main_changes), key=lambda one: -one.gain)
