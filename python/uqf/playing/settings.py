"""The numbers of learning by playing, the same in every world."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Shares are of all episodes; evidence is in docs/notebook.md.

    opening : share of random play, before anything is learned
    repeats : probabilities of repeating the last action in random play, a part of it each: half of it is uniform; in
        the other quarters an action stays for 5 and for 25 steps
    starts : of these, where steps of contexts begin
    exploring : share of the episodes of posterior plans before others begin, where observations are numbers
    round : share of a round of one lineage
    last : share of the episodes that judge the finalists
    temperatures : of the first and of the last step of a lineage, in units of the spread of returns
    behind : standard errors behind the best lineage at which one is given up that cannot reach it
    closing : share of the episodes, before the judging, that are rounds of the best lineage alone
    judged : share of a round that a policy plays as it is, to be judged, where the rest explores
    growth : posterior plans are drawn anew when there are so many more episodes, as a share
    draws : plans drawn from the same posterior
    planned : episodes of a round of plans in hidden models, in rounds of the others: models take long to learn
    relearning : a fit, and models, are learned anew when there are so many times as many episodes
    epsilon : share of uniform actions in episodes of a fit or a plan that do not judge it
    cooling : share of the episodes between opening and judging after which the temperature falls no more
    relearned : cells of numbers are learned anew when there are so many times as many steps
    max_cells : cells of numbers that posterior plans have at most
    max_states : observations up to which posterior plans are drawn
    """

    opening: float = 0.3
    repeats: tuple[float, ...] = (0.0, 0.0, 0.8, 0.96)
    starts: tuple[float, ...] = (0.0, 0.8)
    exploring: float = 0.3
    round: float = 0.04
    last: float = 0.1
    temperatures: tuple[float, float] = (0.7, 0.1)
    behind: float = 2.0
    closing: float = 0.25
    judged: float = 0.5
    planned: float = 2.5
    relearning: float = 1.25
    epsilon: float = 0.2
    growth: float = 0.02
    draws: int = 2
    cooling: float = 0.8
    relearned: float = 1.5
    max_cells: int = 1_000
    max_states: int = 5_000
