"""Plans that `uqf.fit` rehearses, and the models that they are rehearsed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.base import clone

from uqf.data.trajectories import Trajectories
from uqf.learn.belief_q import BeliefQ
from uqf.learn.gain import Gain
from uqf.learn.learner import Learner
from uqf.learn.markov_test import MIN_EVIDENCE as CERTAIN
from uqf.learn.markov_test import MIN_GAIN, MarkovTest, markov_test
from uqf.learn.memoryless import MemorylessQ
from uqf.learn.mistakes import WRONG
from uqf.learn.model_q import MAX_DISCOUNT, ModelQ
from uqf.learn.noisy_q import NoisyQ
from uqf.learn.prediction import by_episode, few, predicted
from uqf.learn.rehearsal import Rehearsal, playable, worlds_of
from uqf.types import Record
from uqf.worlds.environments import TabularPOMDP

#: Models that allow for wrong observations must predict held-out episodes better by so many standard errors, and their
#: plans earn more by as many.
MIN_EVIDENCE = 2.0

#: Models of `BeliefQ` with fewer states for an observation are not planned in where the past predicts what follows
#: better by this share: they remember too little, and models of other episodes agree with them on what they get wrong.
MIN_STATES = 2.0
MUCH = 2.0 * MIN_GAIN

#: The states behind observations are states if the past predicts what follows better by this share at most, or by half
#: of what it does without them.
LITTLE = 0.5 * MIN_GAIN

#: Models of either half that allow for wrong observations, each of episodes drawn anew from it.
NOISY_MODELS = 4

Plans = dict[str, Sequence[Learner]]


def rehearsed(
    beliefs: Sequence[BeliefQ], halves: tuple[Trajectories, Trajectories], test: MarkovTest, seed: int
) -> tuple[Plans, list[list[TabularPOMDP]]]:
    """(plans by name, taught by either half; models of either half as worlds to play in).

    The models are those of `BeliefQ`. Where models with a state behind every observation, which may be wrong, predict
    the other half better, and these states are states, it is these. There are no plans if models are too small, too
    large to be played in, or noisy.
    """
    wrong = any(finding.summary == WRONG and finding.matters for finding in test.findings)
    # One half of the episodes teaches plans about as well as all do, and noisy models much worse.
    if all(one.noisy_ for one in beliefs) or not (wrong or all(map(playable, beliefs))):
        return {}, []
    discount, horizon = beliefs[0].discount, max(int(half.lengths.max()) for half in halves)
    plans: Plans = {"ModelQ": [ModelQ.in_models_of(one) for one in beliefs]}
    for name, table in tables(discount).items():
        plans[name] = [clone(table).fit(half) for half in halves]
    if wrong:
        noisy = [NoisyQ(discount, seed=seed).fit(half) for half in halves]
        behind = markov_test(noisy[0].states_behind(halves[1]), seed=seed)
        if told_by_past(behind) <= max(LITTLE, 0.5 * told_by_past(test)) and _likelier(
            noisy, beliefs, halves
        ):
            plans["NoisyQ"] = noisy
            return plans, [
                _resampled(one, half, horizon, seed) for one, half in zip(noisy, halves, strict=True)
            ]
    small = (
        min(states_an_observation(one, half) for one, half in zip(beliefs, halves, strict=True)) < MIN_STATES
    )
    if small and told_by_past(test) > MUCH:
        return {}, []
    if small:
        # They remember less than the last symbol does.
        del plans["ModelQ"]
    return plans, [worlds_of(one, horizon) for one in beliefs]


def states_an_observation(learner: BeliefQ, data: Trajectories) -> float:
    """States of the largest models for every observation that occurs."""
    return float(max(learner.policy_.parts()["states"]) / len(np.unique(data.observations)))


def told_by_past(test: MarkovTest) -> float:
    """By what share the past certainly predicts what follows better than the last observation does."""
    certain = [one.gain for one in test.findings if one.evidence > CERTAIN and one.summary != WRONG]
    return max(certain, default=0.0)


def best_plan(rehearsals: Mapping[str, Rehearsal]) -> str | None:
    """The plan that is believed, if there is one.

    `NoisyQ` is rehearsed only where its models are the likeliest; then it need not win in every one of them.
    """
    noisy = rehearsals.get("NoisyQ")
    if noisy is not None and noisy.evidence > MIN_EVIDENCE and noisy.resolved:
        return "NoisyQ"
    convincing = {name: found.mean for name, found in rehearsals.items() if found.convinces}
    return max(convincing, key=convincing.__getitem__) if convincing else None


def tables(discount: float) -> dict[str, MemorylessQ]:
    """Plans on the last symbols: wrong where they are no states, and quick."""
    settings: Record = {"discount": discount, "learning_discount": min(discount, MAX_DISCOUNT)}
    return {
        "MemorylessQ, one symbol": MemorylessQ(1, "q-learning", **settings),
        "MemorylessQ, two symbols": MemorylessQ(2, "q-learning", shrinkage=5.0, **settings),
    }


def _likelier(one: Sequence[NoisyQ], other: Sequence[BeliefQ], halves: Sequence[Trajectories]) -> bool:
    """Whether the models of one learner predict the half that did not teach them better than those of another."""
    more = []
    for mine, rival, half in zip(one, other, reversed(halves), strict=True):
        judges = few(half, max(len(mine.policy_.weights), len(rival.policy_.weights)))
        more.append(by_episode(predicted(mine.policy_, judges) - predicted(rival.policy_, judges), judges))
    return Gain(np.concatenate(more)).evidence > MIN_EVIDENCE


def _resampled(learner: NoisyQ, half: Trajectories, horizon: int, seed: int) -> list[TabularPOMDP]:
    """Models of episodes drawn anew from one half: they differ as models of other episodes would."""
    worlds = []
    for number in range(NOISY_MODELS):
        drawn = np.random.default_rng([seed, number]).integers(len(half), size=len(half))
        worlds.append(clone(learner).fit(half[drawn]).as_world(half.n_actions, horizon))
    return worlds
