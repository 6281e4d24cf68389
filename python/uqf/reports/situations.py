"""Situations that a reader understands: what was seen and done last, as finely as decisions ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import last_observations
from uqf.episodes.trajectories import Trajectories
from uqf.reports.names import Names, Phrase

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Fineness:
    """How finely situations are distinguished.

    One of `min_steps` steps at least is divided if that explains the share `min_explained` of how decisions differ
    within it, up to `max_conditions` times. Of many actions the `max_actions` that are chosen most often count.
    """

    min_explained: float = 0.2
    min_steps: int = 50
    max_conditions: int = 3
    max_actions: int = 12


@dataclass(frozen=True, order=True)
class Condition:
    """What was seen or done so many steps ago, the last being one."""

    ago: int
    kind: str
    """"observation" or "action"."""
    code: int
    """−1 if the episode had not begun yet."""


@dataclass(frozen=True)
class Situation:
    """Steps before which the same was seen and done last."""

    conditions: tuple[Condition, ...]
    steps: IntArray

    def phrase(self, names: Names) -> Phrase:
        """Such as: after “vibration high” twice."""
        seen = {(one.ago, one.kind): one.code for one in self.conditions}
        if not seen or seen.get((1, "observation")) == -1:
            return [("at the start" if seen else "everywhere", False)]
        last, before = seen.get((1, "observation")), seen.get((2, "observation"))
        if last is not None and last == before and len(seen) == 2:
            return [("after ", False), (names.observation(last), True), (" twice", False)]
        parts: Phrase = [("after ", False)]
        for ago in sorted({ago for ago, _ in seen}, reverse=True):
            action, observation = seen.get((ago, "action")), seen.get((ago, "observation"))
            if len(parts) > 1:
                parts.append((", then ", False))
            if -1 in (action, observation):
                parts.append(("the first step", False))
                continue
            if action is not None:
                parts.append((names.action(action), True))
            if action is not None and observation is not None:
                parts.append((" and ", False))
            if observation is not None:
                parts.append((names.observation(observation), True))
        return parts


def recent(data: Trajectories, depth: int = 2) -> dict[tuple[int, str], IntArray]:
    """What was seen and done 1 … `depth` steps ago, before every step: code by (ago, kind), −1 before the start."""
    seen = last_observations(data)
    seen[seen == data.n_observations] = -1
    done = _earlier(data.actions.astype(np.int64), data)
    codes = {}
    for ago in range(1, depth + 1):
        codes[ago, "observation"], codes[ago, "action"] = seen, done
        seen, done = _earlier(seen, data), _earlier(done, data)
    return codes


def _earlier(codes: IntArray, data: Trajectories) -> IntArray:
    """What stood there one step earlier."""
    shifted = np.empty_like(codes)
    shifted[1:], shifted[data.offsets[:-1]] = codes[:-1], -1
    return shifted


def situations(
    data: Trajectories, decisions: FloatArray, fineness: Fineness | None = None
) -> list[Situation]:
    """Steps divided by the last observation, and then further where decisions (n_steps, n_actions) differ.

    Steps after something rare are in no situation.
    """
    fineness = fineness or Fineness()
    most = np.argsort(-np.abs(decisions).mean(axis=0), kind="stable")[: fineness.max_actions]
    division = _Division(recent(data), decisions[:, most], fineness)
    firsts = division.divided(Situation((), np.arange(data.n_steps)), (1, "observation"))
    return [leaf for first in firsts for leaf in division.leaves(first)]


@dataclass(frozen=True)
class _Division:
    """Of steps by codes that stand before them."""

    features: dict[tuple[int, str], IntArray]
    decisions: FloatArray
    fineness: Fineness

    def leaves(self, node: Situation) -> Iterator[Situation]:
        """As fine as decisions ask for."""
        fineness, steps = self.fineness, node.steps
        if len(steps) >= 2 * fineness.min_steps and len(node.conditions) < fineness.max_conditions:
            used = {(one.ago, one.kind) for one in node.conditions}
            explained = {
                feature: self._explained(codes[steps], self.decisions[steps])
                for feature, codes in self.features.items()
                if feature not in used
            }
            best = max(explained, key=lambda feature: explained[feature])
            if explained[best] >= fineness.min_explained:
                for part in self.divided(node, best):
                    yield from self.leaves(part)
                return
        yield node

    def divided(self, node: Situation, feature: tuple[int, str]) -> Iterator[Situation]:
        """Parts by code, each with a condition more; rare codes have nothing in common and are left out."""
        values, place, counts = np.unique(
            self.features[feature][node.steps], return_inverse=True, return_counts=True
        )
        parts = np.split(node.steps[np.argsort(place, kind="stable")], np.cumsum(counts)[:-1])
        for value, part in zip(values, parts, strict=True):
            if len(part) >= self.fineness.min_steps:
                yield Situation((*node.conditions, Condition(*feature, int(value))), part)

    def _explained(self, codes: IntArray, decisions: FloatArray) -> float:
        """Which share of the spread of decisions lies between codes rather than within them; rare codes are one."""
        _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
        place = np.where(counts[place] >= self.fineness.min_steps, place, len(counts))
        sizes = np.maximum(np.bincount(place), 1)
        mean = decisions.mean(axis=0)
        total = float(((decisions - mean) ** 2).sum())
        between = 0.0
        for column, middle in zip(decisions.T, mean, strict=True):
            between += float((np.bincount(place, column) ** 2 / sizes).sum()) - len(column) * middle**2
        # Decisions that hardly differ need no finer words.
        return between / total if total > 1e-3 * len(decisions) else 0.0
