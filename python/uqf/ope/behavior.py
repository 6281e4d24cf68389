"""What the logged actions depended on: the behaviour behind a log, with a memory where the log shows one.

Several behaviours are estimated on one half of the episodes and judged by how well they foresee the actions of the
other half. The likeliest one is used. All that are about as likely might be true as well: evaluation reports what it
finds under any of them. No estimate can tell of reasons that the log does not show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import ActionShares, last_observations, last_symbols
from uqf.episodes.sums import cut_before, reward_classes, time_within
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.moments import Start
from uqf.learn.memory.sample import Sample
from uqf.learn.memory.training import Schedule, Training
from uqf.ope.calibration import PARTS, refutation

IntArray = NDArray[np.int64]

#: The source of propensities that the log holds.
LOGGED = "logged"

#: The estimate that stands if nothing is clearly likelier.
PLAIN = "the last symbol"

#: A memory is there if it is likelier by so many standard errors over held-out episodes; one that is not less likely by
#: as many may be there.
MIN_EVIDENCE = 2.0

#: Below so many episodes nothing but the plain estimate is tried.
MIN_EPISODES = 20

#: Steps of evidence that a richer context needs to weigh as much as the last symbol.
PRIOR_STEPS = 5.0

#: Hidden states of a model of the behaviour, for every action; no more than so many in all, but one for each.
CLONES = (2, 4)
MAX_STATES = 64

#: Share of the plain estimate in that of a model: no logged action is all but impossible.
SHARE_OF_PLAIN = 0.02

#: Steps that a model of the behaviour learns from at most, and steps whose beliefs are in memory at a time.
MAX_STEPS = 100_000
BLOCK_STEPS = 100_000


@dataclass(frozen=True)
class Behavior:
    """How probable the logged actions were.

    source : `LOGGED`, or what the estimate looks at; probs : (n_steps,); others : estimates that are about as likely
    refuted : where logged propensities disagree with the actions, in words; they are not used then
    """

    source: str
    probs: FloatArray
    others: tuple[FloatArray, ...] = ()
    refuted: str = ""

    @property
    def logged(self) -> bool:
        """Whether the log says so, and nothing was estimated."""
        return self.source == LOGGED


def behavior_of(data: Trajectories, seed: int = 0) -> Behavior:
    """As logged where the actions agree with it, or else as the likeliest of several estimates has it."""
    if data.behavior_probs is None:
        return _estimated(data, seed)
    wrong = refutation(data)
    return replace(_estimated(data, seed), refuted=wrong) if wrong else Behavior(LOGGED, data.behavior_probs)


def joined(behaviors: list[Behavior]) -> Behavior:
    """The behaviours of several logs, one after the other."""
    if len(behaviors) == 1:
        return behaviors[0]
    others = max(len(one.others) for one in behaviors)
    return Behavior(
        " or ".join(dict.fromkeys(one.source for one in behaviors)),
        np.concatenate([one.probs for one in behaviors]),
        tuple(
            np.concatenate([([*one.others, one.probs] + [one.probs] * others)[number] for one in behaviors])
            for number in range(others)
        ),
        "; ".join(one.refuted for one in behaviors if one.refuted),
    )


def _estimated(data: Trajectories, seed: int) -> Behavior:
    """The likeliest of several estimates, from the actions alone."""
    plain = ActionShares.of(data).probabilities(data)
    # Only the plain estimate knows of actions that were not allowed.
    if len(data) < MIN_EPISODES or data.n_actions == 1 or data.allowed is not None:
        return Behavior(PLAIN, plain)
    order = np.random.default_rng([seed, 5]).permutation(len(data))
    halves = np.zeros(len(data), np.bool_)
    halves[order[: len(data) // 2]] = True
    estimates = dict(_estimates(data, halves, seed))
    likelihoods = {
        name: np.add.reduceat(np.log(probs), data.offsets[:-1]) for name, probs in estimates.items()
    }
    best = max(likelihoods, key=lambda name: float(likelihoods[name].sum()))
    if not _clearly_more(likelihoods[best], likelihoods[PLAIN]):
        best = PLAIN
    # The plain estimate learns from all episodes: it has few numbers, and learners use the same.
    estimates[PLAIN] = plain
    others = [
        probs
        for name, probs in estimates.items()
        if name != best and not _clearly_more(likelihoods[best], likelihoods[name])
    ]
    return Behavior(best, estimates[best], tuple(others))


def _clearly_more(one: FloatArray, other: FloatArray) -> bool:
    """Whether the log-likelihoods of episodes (n_episodes,) are clearly larger in one of two estimates."""
    gain = one - other
    return bool(gain.mean() > MIN_EVIDENCE * gain.std(ddof=1) / np.sqrt(len(gain)))


def _estimates(data: Trajectories, halves: NDArray[np.bool_], seed: int) -> Iterator[tuple[str, FloatArray]]:
    """Estimates by what they look at; every half of the episodes is foreseen from the other."""
    halved = np.repeat(halves, data.lengths)
    last = _numbered(last_symbols(data))
    overall = np.where(halved, _overall(data, ~halved), _overall(data, halved))
    plain = _shares(last, data, halved, overall)
    yield PLAIN, plain
    for name, summary in _summaries(data).items():
        joint = _numbered(last * (int(summary.max()) + 1) + summary)
        yield f"{PLAIN} and {name}", _shares(joint, data, halved, plain)
    seen = _acted_on(data)
    for states in dict.fromkeys(min(clones * data.n_actions, MAX_STATES) for clones in CLONES):
        foreseen = np.empty(data.n_steps)
        for half in (halves, ~halves):
            models = _trained(seen[half], states, seed)
            foreseen[~np.repeat(half, data.lengths)] = _foreseen(models, seen[~half])
        yield (
            f"a memory of {states} states",
            (1.0 - SHARE_OF_PLAIN) * foreseen + SHARE_OF_PLAIN * plain,
        )


def _overall(data: Trajectories, learns: NDArray[np.bool_]) -> FloatArray:
    """Share of every step's action among the steps that count, drawn towards equal shares."""
    counts = np.bincount(data.actions[learns], minlength=data.n_actions) + 1.0
    return np.asarray((counts / counts.sum())[data.actions])


def _shares(
    contexts: IntArray, data: Trajectories, halved: NDArray[np.bool_], prior: FloatArray
) -> FloatArray:
    """Share of every step's action in its context in the other half, drawn towards `prior`; all (n_steps,)."""
    chosen = _numbered(contexts * data.n_actions + data.actions)
    taken, all_there = _in_the_other_half(chosen, halved), _in_the_other_half(contexts, halved)
    return np.asarray((taken + PRIOR_STEPS * prior) / (all_there + PRIOR_STEPS))


def _in_the_other_half(keys: IntArray, halved: NDArray[np.bool_]) -> IntArray:
    """How often every step's key occurs in the half that the step is not in."""
    counts = [np.bincount(keys[half], minlength=int(keys.max()) + 1) for half in (halved, ~halved)]
    return np.where(halved, counts[1][keys], counts[0][keys])


def _numbered(values: NDArray[np.integer]) -> IntArray:
    return np.asarray(np.unique(values, return_inverse=True)[1], np.int64)


def _summaries(data: Trajectories) -> dict[str, IntArray]:
    """What a behaviour may remember besides the last symbol, by name, (n_steps,) each."""
    time = time_within(data)
    paid, first = reward_classes(data), np.repeat(data.observations[data.offsets[:-1]], data.lengths)
    symbols = last_symbols(data)
    shown = {}
    if data.first_observations is not None:
        shown = {"what was shown first": np.repeat(data.first_observations, data.lengths).astype(np.int64)}
    return shown | {
        "the first observation": np.where(time > 0, first + 1, 0).astype(np.int64),
        "the symbol before": np.where(time > 0, np.roll(symbols, 1) + 1, 0),
        "the last reward": np.where(time > 0, np.roll(paid, 1) + 1, 0),
        "the time": np.floor(np.log2(time + 1)).astype(np.int64),
        "the part of the log": np.repeat(np.arange(len(data)) * PARTS // len(data), data.lengths),
    }


def _acted_on(data: Trajectories) -> Trajectories:
    """The log with the roles exchanged: what was seen before every step is the input, the action is what it gave.

    A model of a world, learned from it, is a model of the behaviour: its states are what the behaviour remembers.
    """
    seen = _numbered(last_observations(data))
    return Trajectories(
        seen,
        data.actions,
        np.zeros(data.n_steps),
        data.offsets,
        n_actions=int(seen.max()) + 1,
        n_observations=data.n_actions,
    )


def _trained(seen: Trajectories, states: int, seed: int) -> _core.CloneModels:
    priorities = _core.episode_priorities(seen, seed)
    sample = Sample.of([seen], [priorities]).first(MAX_STEPS)
    layout = _core.CloneLayout(sample.data, states=states)
    begun = Start.of(sample, layout).models(layout, range(1), seed)
    return Schedule(sample, Training.explore, Training.settle, seed)((0, begun))


def _foreseen(models: _core.CloneModels, seen: Trajectories) -> FloatArray:
    """Probability of every action, (n_steps,), from the beliefs of a model about what the behaviour remembers."""
    memory = BeliefMemory([models], seen.n_actions)
    (states,), kinds = memory.parts["states"], memory.parts["kinds"]
    transitions = memory.parts["transitions"].reshape(-1, states, states).astype(np.float64)
    ranges = memory.parts["ranges"][0]
    # Rare actions share states, and their probability is divided among them. All states stand for an unknown action.
    sharing = (ranges[:, np.newaxis] == ranges).all(axis=2).sum(axis=1)
    known = (ranges != [0, states]).any(axis=1) | (sharing == len(ranges))
    probs = np.empty(seen.n_steps)
    for part, steps in _blocks(seen):
        beliefs = memory.rows(part, None)[cut_before(part), 1:]
        foreseen = np.empty(part.n_steps)
        kind = kinds[part.actions]
        order = np.argsort(kind, kind="stable")
        for now in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
            upto = np.cumsum(beliefs[now] @ transitions[kind[now[0]]], axis=1)
            upto = np.concatenate([np.zeros((len(now), 1)), upto], axis=1) / np.maximum(upto[:, -1:], 1e-30)
            low, high = ranges[part.observations[now]].T
            foreseen[now] = upto[np.arange(len(now)), high] - upto[np.arange(len(now)), low]
        probs[steps] = np.where(known, 1.0 / sharing, 0.0)[part.observations] * foreseen
    return np.clip(probs, 0.0, 1.0)


def _blocks(data: Trajectories) -> Iterator[tuple[Trajectories, slice]]:
    """The episodes in blocks of about `BLOCK_STEPS` steps, and the place of their steps."""
    cuts = np.unique(np.searchsorted(data.offsets, [*range(0, data.n_steps, BLOCK_STEPS), data.n_steps]))
    for first, last in pairwise(cuts.tolist()):
        yield data[first:last], slice(int(data.offsets[first]), int(data.offsets[last]))
