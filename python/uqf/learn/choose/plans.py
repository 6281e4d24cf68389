"""Plans that `uqf.fit` rehearses, and the models that they are rehearsed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeVar

import numpy as np
from sklearn.base import clone

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.belief_halves import BeliefHalves
from uqf.learn.choose.choice import Tried
from uqf.learn.choose.markov_test import MIN_EVIDENCE as CERTAIN
from uqf.learn.choose.markov_test import MIN_GAIN, MarkovTest, markov_test
from uqf.learn.choose.mistakes import WRONG
from uqf.learn.choose.rehearsal import Rehearsal, Stage, Taught, playable, worlds_of
from uqf.learn.improve.gain import Gain
from uqf.learn.learner import Learner
from uqf.learn.memory.prediction import by_episode, few, predicted
from uqf.learn.memoryless import MemorylessQ
from uqf.learn.model_q import MAX_DISCOUNT, ModelQ
from uqf.learn.noisy_q import NoisyQ
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
#: of what it does without them. Where their models are much likelier, by so many nats a step, the limit is that of the
#: test of observations: which state is behind an observation is itself a guess.
LITTLE = 0.5 * MIN_GAIN
MUCH_LIKELIER = 0.05

#: Models of either half that allow for wrong observations, each of episodes drawn anew from it.
NOISY_MODELS = 4

Plan = TypeVar("Plan", bound=Learner)

#: By name.
Plans = dict[str, Taught]

#: Models of either half as worlds to play in.
Worlds = Callable[[int], list[TabularPOMDP]]


def rehearse(
    beliefs: BeliefHalves,
    taken: Tried,
    halves: tuple[Trajectories, Trajectories],
    test: MarkovTest,
    seed: int,
) -> tuple[Plans, dict[str, Rehearsal]]:
    """(plans, what they earned more than the learner that is taken otherwise).

    Where models with a state behind every observation, which may be wrong, predict the other half better than those of
    `BeliefQ` do, and these states are states, plans are rehearsed in them. Elsewhere they are glanced at in the models
    of `BeliefQ`, and unless that settles it, those that promise something are rehearsed in models that were trained for
    longer.
    """
    unsure = max(_unsure(half, beliefs.learner.discount) for half in halves)
    noisy = _of_halves(NoisyQ(beliefs.learner.discount, seed=seed), halves)
    if _suits(noisy, beliefs, halves, test, seed):
        horizon = max(int(half.lengths.max()) for half in halves)
        stage = Stage(
            taken.taught, lambda half: _resampled(noisy(half), halves[half], horizon, seed), unsure, seed
        )
        plans = _tables(halves, beliefs.learner.discount) | {"NoisyQ": noisy}
        return plans, {name: stage.rehearse(plan, everywhere=False) for name, plan in plans.items()}
    plans, worlds = plans_in(beliefs, halves, test)
    stage = Stage(taken.taught, worlds, unsure, seed)
    found = {name: stage.glance(plan) for name, plan in plans.items()}
    if any(one.promises for one in found.values()) and not any(one.settles for one in found.values()):
        longer = beliefs.longer()
        plans, worlds = plans_in(longer, halves, test)
        stage = Stage(longer.taught if taken.name == "BeliefQ" else taken.taught, worlds, unsure, seed)
        found |= {name: stage.rehearse(plan) for name, plan in plans.items() if found[name].promises}
    return plans, found


def plans_in(
    beliefs: BeliefHalves, halves: tuple[Trajectories, Trajectories], test: MarkovTest
) -> tuple[Plans, Worlds]:
    """(plans that are worth a rehearsal, the models of `BeliefQ` to play them in).

    There are no plans if models are too small, too large to be played in, or noisy.
    """
    first, n_observations = beliefs.models(0), halves[0].n_observations
    discount, horizon = beliefs.learner.discount, max(int(half.lengths.max()) for half in halves)

    def worlds(half: int) -> list[TabularPOMDP]:
        return worlds_of(beliefs.models(half), n_observations, discount, horizon)

    small = states_an_observation(first, halves[0]) < MIN_STATES
    # One half of the episodes teaches plans about as well as all do, and noisy models much worse.
    if first[0].noisy or not playable(first, n_observations) or (small and told_by_past(test) > MUCH):
        return {}, worlds
    if small:
        # The models remember less than the last symbol does.
        return _tables(halves, discount), worlds
    models = cache(lambda half: ModelQ.in_models_of(beliefs.taught(half)))
    return {"ModelQ": models} | _tables(halves, discount), worlds


def _suits(
    noisy: Callable[[int], NoisyQ],
    beliefs: BeliefHalves,
    halves: tuple[Trajectories, Trajectories],
    test: MarkovTest,
    seed: int,
) -> bool:
    """Whether observations may be wrong, the states behind them are states, and predict better than beliefs do."""
    if not any(finding.summary == WRONG and finding.matters for finding in test.findings):
        return False
    more = _likelier(noisy, beliefs.taught, halves)
    if more is None:
        return False
    behind = told_by_past(markov_test(noisy(0).states_behind(halves[1]), seed=seed))
    much = more > MUCH_LIKELIER
    return behind <= max(MIN_GAIN if much else LITTLE, 0.5 * told_by_past(test))


def _unsure(data: Trajectories, discount: float) -> float:
    """Standard error of the mean return of some episodes."""
    return Gain(returns_to_go(data, discount)[data.offsets[:-1]]).stderr


def _of_halves(plan: Plan, halves: Sequence[Trajectories]) -> Callable[[int], Plan]:
    """The plan of either half."""

    def taught(half: int) -> Plan:
        fitted: Plan = clone(plan).fit(halves[half])
        return fitted

    return cache(taught)


def states_an_observation(families: Sequence[_core.CloneModels], data: Trajectories) -> float:
    """States of the largest models for every observation that occurs."""
    return max(one.n_features // len(one) for one in families) / len(np.unique(data.observations))


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


def _tables(halves: Sequence[Trajectories], discount: float) -> Plans:
    return {name: _of_halves(table, halves) for name, table in tables(discount).items()}


def _likelier(
    one: Callable[[int], NoisyQ], other: Callable[[int], BeliefQ], halves: Sequence[Trajectories]
) -> float | None:
    """By how much a step of the half that did not teach them is likelier in the models of one learner than of another.

    None if it is not clear that it is, or not so for both halves.
    """
    more: list[FloatArray] = []
    steps = 0
    for half in (0, 1):
        mine, rival = one(half).policy_, other(half).policy_
        judges = few(halves[1 - half], max(len(mine.weights), len(rival.weights)))
        more.append(by_episode(predicted(mine, judges) - predicted(rival, judges), judges))
        steps += judges.n_steps
        if more[-1].mean() <= 0.0:
            return None
    both = Gain(np.concatenate(more))
    return float(both.totals.sum() / steps) if both.evidence > MIN_EVIDENCE else None


def _resampled(learner: NoisyQ, half: Trajectories, horizon: int, seed: int) -> list[TabularPOMDP]:
    """Models of episodes drawn anew from one half: they differ as models of other episodes would."""
    worlds = []
    for number in range(NOISY_MODELS):
        drawn = np.random.default_rng([seed, number]).integers(len(half), size=len(half))
        worlds.append(clone(learner).fit(half[drawn]).as_world(half.n_actions, horizon))
    return worlds
