"""Situations that a reader understands: what was seen and done last, as finely as decisions ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import last_observations
from uqf.episodes.trajectories import Trajectories
from uqf.reports.names import Names

IntArray = NDArray[np.int64]

#: A situation is divided further if that explains so much of how decisions differ within it.
MIN_EXPLAINED = 0.2

#: Smaller situations are not told apart.
MIN_STEPS = 50

#: What a situation may say at most.
MAX_CONDITIONS = 3

#: Of many actions, those that are most often chosen tell situations apart.
MAX_ACTIONS = 12


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

    def parts(self, names: Names) -> list[tuple[str, bool]]:
        """Words, and whether they are names: after “vibration high” twice."""
        seen = {(one.ago, one.kind): one.code for one in self.conditions}
        if not seen or seen.get((1, "observation")) == -1:
            return [("at the start" if seen else "everywhere", False)]
        last, before = seen.get((1, "observation")), seen.get((2, "observation"))
        if last is not None and last == before and len(seen) == 2:
            return [("after ", False), (names.observation(last), True), (" twice", False)]
        parts: list[tuple[str, bool]] = [("after ", False)]
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

    def text(self, names: Names) -> str:
        """In plain words, names in quotes."""
        return "".join(f"“{words}”" if named else words for words, named in self.parts(names))


def recent(data: Trajectories, depth: int = 2) -> dict[tuple[int, str], IntArray]:
    """What was seen and done 1 … `depth` steps ago, before every step: code by (ago, kind), −1 before the start."""
    seen = last_observations(data)
    seen[seen == data.n_observations] = -1
    done = np.empty(data.n_steps, np.int64)
    done[1:], done[data.offsets[:-1]] = data.actions[:-1], -1
    found = {}
    for ago in range(1, depth + 1):
        found[ago, "observation"], found[ago, "action"] = seen, done
        seen, done = _earlier(seen, data), _earlier(done, data)
    return found


def _earlier(codes: IntArray, data: Trajectories) -> IntArray:
    """What stood there one step earlier."""
    shifted = np.empty_like(codes)
    shifted[1:], shifted[data.offsets[:-1]] = codes[:-1], -1
    return shifted


def situations(data: Trajectories, decisions: FloatArray) -> list[Situation]:
    """Steps divided by the last observation, and then further where decisions (n_steps, n_actions) differ.

    Steps after something rare are in no situation.
    """
    most = np.argsort(-np.abs(decisions).mean(axis=0), kind="stable")[:MAX_ACTIONS]
    features = recent(data)
    whole = Situation((), np.arange(data.n_steps))
    firsts = [part for part in _divided(whole, (1, "observation"), features) if part.conditions]
    return [leaf for first in firsts for leaf in _leaves(first, features, decisions[:, most])]


def _leaves(
    node: Situation, features: dict[tuple[int, str], IntArray], decisions: FloatArray
) -> Iterator[Situation]:
    if len(node.steps) >= 2 * MIN_STEPS and len(node.conditions) < MAX_CONDITIONS:
        used = {(one.ago, one.kind) for one in node.conditions}
        explained = {
            feature: _explained(codes[node.steps], decisions[node.steps])
            for feature, codes in features.items()
            if feature not in used
        }
        best = max(explained, key=lambda feature: explained[feature])
        if explained[best] >= MIN_EXPLAINED:
            for part in _divided(node, best, features):
                # The rare rest has nothing in common that could be told.
                if part.conditions != node.conditions:
                    yield from _leaves(part, features, decisions)
            return
    yield node


def _divided(
    node: Situation, feature: tuple[int, str], features: dict[tuple[int, str], IntArray]
) -> Iterator[Situation]:
    """Parts by code, each with a condition more; the rare codes as one part without."""
    codes = features[feature][node.steps]
    values, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(place, kind="stable")
    parts = np.split(node.steps[order], np.cumsum(counts)[:-1])
    rare = [part for part, count in zip(parts, counts, strict=True) if count < MIN_STEPS]
    for value, part in zip(values, parts, strict=True):
        if len(part) >= MIN_STEPS:
            condition = Condition(*feature, int(value))
            yield Situation((*node.conditions, condition), part)
    if rare:
        yield Situation(node.conditions, np.sort(np.concatenate(rare)))


def _explained(codes: IntArray, decisions: FloatArray) -> float:
    """Which share of the spread of decisions lies between codes rather than within them; rare codes are one."""
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    place = np.where(counts[place] >= MIN_STEPS, place, len(counts))
    sizes = np.maximum(np.bincount(place), 1)
    mean = decisions.mean(axis=0)
    total = float(((decisions - mean) ** 2).sum())
    between = 0.0
    for column, middle in zip(decisions.T, mean, strict=True):
        between += float((np.bincount(place, column) ** 2 / sizes).sum()) - len(column) * middle**2
    # Decisions that hardly differ need no finer words.
    return between / total if total > 1e-3 * len(decisions) else 0.0
