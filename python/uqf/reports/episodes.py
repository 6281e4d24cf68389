"""Held-out episodes to step through, with what the policy thinks at every step."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.reports.differences import SIDES
from uqf.reports.names import Names
from uqf.reports.readings import columns_of, in_words
from uqf.reports.study import Study
from uqf.types import Raw, Record

#: Steps of an episode that are shown, and actions beside each other.
MAX_STEPS, MAX_ACTIONS = 300, 8


@dataclass(frozen=True)
class Step:
    """A step as it was logged, and what the policy thinks before it."""

    before: str | None
    """The observation before it, if there was any."""
    action: str
    reward: float
    values: list[tuple[str, float]]
    """What the policy thinks its best actions are worth, or with which probability it takes them."""
    wants: str
    """What the policy would rather do, or would do as well."""
    other: str
    """What it is compared with: the logged action, or what another policy would do."""


@dataclass(frozen=True)
class ShownEpisode:
    """A held-out episode."""

    title: str
    discounted_return: float
    length: int
    last: str
    """What the last step showed."""
    steps: list[Step]


@dataclass(frozen=True)
class Episodes:
    """The worst, the best and the middle of the held-out episodes, and where the policy would act otherwise most."""

    episodes: list[ShownEpisode]
    values_are: str
    """"values" or "probabilities"."""
    sides: tuple[str, str]
    """Who is compared."""

    @classmethod
    def of(cls, study: Study, second: FloatArray | None = None) -> Episodes:
        """From the episodes that judge; against the log, or against a policy of probabilities `second`."""
        data = study.held_out
        other = data.actions if second is None else second.argmax(axis=1)
        differs = (study.probs.argmax(axis=1) != other).astype(np.float64)
        rate = np.add.reduceat(differs, data.offsets[:-1]) / data.lengths
        chosen = _chosen(data.returns(study.discount), rate)
        shown = [_shown(study, title, number, other) for title, number in chosen.items()]
        kind = "values" if hasattr(study.policy, "q_values_along") else "probabilities"
        return cls(shown, kind, SIDES[second is not None])

    @property
    def content(self) -> Record:
        """For the script of the page: every name once, and its number wherever it occurs; −1 where there is none."""
        words: dict[str | None, int] = {None: -1}

        def coded(value: Raw) -> Raw:
            if isinstance(value, (list, tuple)):
                return [coded(one) for one in value]
            return value if isinstance(value, float) else words.setdefault(value, len(words) - 1)

        shown = [coded([one.last, *map(astuple, one.steps)]) for one in self.episodes]
        return {"sides": self.sides, "words": list(words)[1:], "episodes": shown}


def _chosen(returns: FloatArray, other: FloatArray) -> dict[str, int]:
    """Episodes by what they are shown for; none twice."""
    order, disagreement = np.argsort(returns, kind="stable"), np.argsort(-other, kind="stable")
    wanted = {
        "the best": order[::-1],
        "the worst": order,
        "a usual one": order[np.argsort(np.abs(np.arange(len(order)) - len(order) // 2), kind="stable")],
        "most disagreement": disagreement,
        "least disagreement": disagreement[::-1],
    }
    chosen: dict[str, int] = {}
    for title, numbers in wanted.items():
        left = [int(one) for one in numbers if int(one) not in chosen.values()]
        chosen |= {title: left[0]} if left else {}
    return chosen


def _shown(study: Study, title: str, number: int, other: NDArray[np.integer]) -> ShownEpisode:
    data, names = study.held_out, study.names
    first, last = int(data.offsets[number]), int(data.offsets[number + 1])
    count = min(last - first, MAX_STEPS)
    probs = study.probs[first : first + count]
    one = data[np.array([number])]
    values_along = getattr(study.policy, "q_values_along", None)
    values: FloatArray = probs if values_along is None else values_along(one)[:count]
    seen = _seen(one, names)
    steps = []
    for step in range(count):
        action = int(one.actions[step])
        # The policy's favourites, and the logged action in any case.
        most = np.argsort(-probs[step], kind="stable")[:MAX_ACTIONS].tolist()
        most = sorted(most if action in most else [*most[:-1], action])
        steps.append(
            Step(
                seen[step],
                names.action(action),
                _rounded(one.rewards[step]),
                [(names.action(code), _rounded(values[step, code])) for code in most],
                names.action(int(probs[step].argmax())),
                names.action(int(other[first + step])),
            )
        )
    return ShownEpisode(
        title,
        float(one.returns(study.discount)[0]),
        last - first,
        seen[count] or "",
        steps,
    )


def _seen(one: Trajectories, names: Names) -> list[str | None]:
    """What an episode showed before its first step, if anything, and after each step: as it was read, or as a code."""
    if columns := columns_of(one):
        assert one.columns is not None
        start = None if one.first_columns is None else in_words(columns, one.first_columns[0])
        return [start, *(in_words(columns, read) for read in one.columns)]
    first = one.first_observations
    start = None if first is None else names.observation(int(first[0]))
    return [start, *map(names.observation, one.observations.tolist())]


def _rounded(value: float) -> float:
    """Five digits: pages are read, not computed with."""
    return float(f"{value:.5g}") if np.isfinite(value) else 0.0
