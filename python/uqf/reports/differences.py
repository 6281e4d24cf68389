"""Where two ways of acting differ, and what is at stake there: a policy and the log, or two policies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.learn.improve.gain import Gain
from uqf.page.parts import card, kept, paired_bars, percent, signed
from uqf.printable import escape
from uqf.reports.situations import Situation, situations
from uqf.reports.study import Study

#: Situations that are told, and actions that are shown side by side.
MAX_TOLD = 10
MAX_ACTIONS = 12

#: Actions whose shares differ by less are not told.
MIN_DIFFERENCE = 0.02


@dataclass(frozen=True)
class ActionShare:
    """How often an action is taken."""

    action: str
    first: float
    second: float


@dataclass(frozen=True)
class Difference:
    """A situation in which the two act differently."""

    situation: str
    words: list[tuple[str, bool]]
    """The situation in parts: words, and whether they are names."""
    actions: list[ActionShare]
    """All actions, those that differ most first."""
    gain: float
    """Of the first over the second, per episode and in units of reward: from episodes that did not rank situations."""
    stderr: float
    steps: int
    """How often it occurs among all held-out steps."""
    share: float

    @property
    def told(self) -> str:
        """Such as: after “vibration high” twice: lubricate 83 % instead of 21 %, +3.1 ± 0.6 per episode, …"""
        changes = "; ".join(
            f"{one.action} {percent(one.first)} instead of {percent(one.second)}" for one in self.main_changes
        )
        return (
            f"{self.situation}: {changes}, {signed(self.gain)} ± {self.stderr:.2g} per episode, "
            f"seen {self.steps:,} times"
        )

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
    def from_log(cls, study: Study) -> Differences:
        """The policy against the log."""
        logged = np.zeros_like(study.probs)
        logged[np.arange(len(logged)), study.held_out.actions] = 1.0
        gains = study.gains(study.taken(study.probs))
        return cls.between(study, ("the policy", "the log"), study.probs, logged, study.probs, gains)

    @classmethod
    def of_policies(cls, study: Study, other: FloatArray) -> Differences:
        """The policy against another one with probabilities `other` (n_steps, n_actions)."""
        gains = study.gains(study.taken(study.probs), study.taken(other))
        return cls.between(study, ("A", "B"), study.probs, other, study.probs - other, gains)

    @classmethod
    def between(
        cls,
        study: Study,
        names: tuple[str, str],
        first: FloatArray,
        second: FloatArray,
        decisions: FloatArray,
        gains: FloatArray,
    ) -> Differences:
        """From probabilities of all actions, what tells situations apart, and what is gained at every step."""
        total = study.total(gains)
        found = situations(study.held_out, decisions)
        return cls(
            *names,
            actions=_shares(study, first, second, np.arange(len(first))),
            agreement=float((first * second).sum(axis=1).mean()),
            gain=total.mean,
            stderr=total.stderr,
            episodes=len(study.held_out),
            steps=study.held_out.n_steps,
            situations=_ranked(study, found, first, second, gains),
        )

    def section(self) -> str:
        """Markup of this part."""
        bars = paired_bars(
            [(one.action, one.first, one.second) for one in self.actions[:MAX_ACTIONS]],
            (self.first, self.second),
        )
        rows = "".join(_row(one, self.second) for one in self.situations)
        alike = percent(self.agreement)
        return (
            f"<p>On {self.episodes:,} held-out episodes {escape(self.first)} takes the same action as "
            f"{escape(self.second)} in <b>{alike}</b> of the steps. Changing one step at a time and leaving the rest "
            f"as logged, it gains <b>{signed(self.gain)} ± {self.stderr:.2g}</b> per episode.</p>"
            + card(f"<h3>How often each action is taken</h3>{bars}")
            + (
                card(
                    "<h3>Where they differ most, by what is at stake</h3>"
                    "<p>Gains are per episode: how often the situation occurs is in them. One half of the held-out "
                    "episodes ranked the situations, the other half measured the gains; ± is one standard error "
                    f"over episodes.</p><ol class='situations'>{rows}</ol>"
                )
                if rows
                else card("<p>There is no situation in which they clearly differ.</p>")
            )
        )


def _row(one: Difference, second: str) -> str:
    words = "".join(f"<em>{escape(text)}</em>" if named else escape(text) for text, named in one.words)
    changes = "; ".join(
        f"<b>{escape(change.action)}</b> {kept(percent(change.first))} instead of "
        f"{kept(percent(change.second))}"
        for change in one.main_changes
    )
    evidence = abs(one.gain) / one.stderr if one.stderr > 0 else 0.0
    kind = "unsure" if evidence < 2.0 else "better" if one.gain > 0 else "worse"
    note = {"unsure": "not clear from this log", "better": "", "worse": f"worse than {second}"}[kind]
    return (
        f'<li><div class="what">{words}: {changes}</div>'
        f'<div class="stake {kind}"><b>{signed(one.gain)}</b> ± {one.stderr:.2g}'
        f"<small>{escape(note)}</small></div>"
        f'<div class="support">seen {one.steps:,} times, {percent(one.share)} of all steps</div></li>'
    )


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
    study: Study, found: list[Situation], first: FloatArray, second: FloatArray, gains: FloatArray
) -> list[Difference]:
    """Those with most at stake. Every other episode ranks, the rest measure: the largest of many is no accident."""
    ranked = []
    for situation in found:
        ranks, measures = _by_halves(study, situation, gains)
        # One standard error nearer to zero: what is merely uncertain does not come first.
        ranked.append((abs(ranks.mean) - ranks.stderr, situation, measures))
    ranked.sort(key=lambda entry: -entry[0])
    told = []
    for _, situation, measured in ranked[:MAX_TOLD]:
        actions = _shares(study, first, second, situation.steps)
        actions.sort(key=lambda one: -abs(one.first - one.second))
        if abs(actions[0].first - actions[0].second) < MIN_DIFFERENCE:
            continue
        told.append(
            Difference(
                situation.text(study.names),
                situation.parts(study.names),
                actions,
                measured.mean,
                measured.stderr,
                len(situation.steps),
                len(situation.steps) / study.held_out.n_steps,
            )
        )
    return sorted(told, key=lambda one: -one.gain)


def _by_halves(study: Study, situation: Situation, gains: FloatArray) -> tuple[Gain, Gain]:
    """The gain in a situation by every other episode, and by the rest."""
    episodes = study.episode_of_step[situation.steps]
    totals: FloatArray = np.bincount(episodes, gains[situation.steps], len(study.held_out)).astype(np.float64)
    return Gain(totals[::2]), Gain(totals[1::2] if len(totals) > 1 else totals)
