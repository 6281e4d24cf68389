"""The front door: from a log to the learner that suits it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from uqf.data.along import cut_before
from uqf.data.checks import probability
from uqf.data.overview import COST, Overview
from uqf.data.progress import Callback
from uqf.data.reader import Reader
from uqf.data.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.learn.gain import Baseline, Gain, policy_gain
from uqf.learn.learner import Learner
from uqf.learn.markov_test import MarkovTest, looked_at, markov_test
from uqf.learn.model_q import ModelQ
from uqf.learn.rehearsal import Rehearsal, rehearse
from uqf.learn.spectral_q import SpectralQ
from uqf.learn.table_q import TableQ


@dataclass(frozen=True)
class Candidate:
    """A learner that takes part in every fit."""

    make: Callable[[float, int], Learner]
    """From the discount and the seed."""
    plans_on_observations: bool = False
    """Right where the last observation is a state, wrong elsewhere: taken there, and left out elsewhere."""


#: The learners that are tried, the favourite last. A learner that registers here takes part in every fit.
CANDIDATES = [
    Candidate(lambda discount, seed: TableQ(discount), plans_on_observations=True),
    Candidate(lambda discount, seed: ContextQ(discount)),
    Candidate(lambda discount, seed: SpectralQ(discount)),
    Candidate(lambda discount, seed: BeliefQ(discount, seed=seed)),
]

#: Learners are compared on about so many steps at most, drawn from all.
TRIAL_STEPS = 400_000

#: Another learner replaces the favourite if it gains more by so many standard errors.
MIN_EVIDENCE = 2.0

#: Where observations are states so many learners are tried: the one that plans on them, and the quickest beside it.
PLANNED = 2

#: Plans are rehearsed if there are so many episodes on either side.
MIN_REHEARSED = 20

#: What a learner chose from fewer steps than this is chosen anew from all.
MIN_KEPT = 20_000

#: Hidden states of the model that looks for memory which nothing else shows.
HIDDEN_STATES = 15


@dataclass(frozen=True)
class Trial:
    """What the choice rests on: the policy of the chosen learner, taught without the held-out episodes."""

    policy: Any
    taught: Trajectories
    """The episodes that taught it."""
    held_out: Trajectories
    """The episodes that it was judged on; they taught it nothing."""


def fit(
    data: Any,
    *,
    discount: float = 0.99,
    holdout: float = 0.5,
    seconds: float | None = None,
    seed: int = 0,
    executor: Any = None,
    progress: Callback | None = None,
) -> Learner:
    """Tries the learners, keeps the one that suits the data, and refits it to all of them.

    Where the last observation is a state (`uqf.markov_test`) this is `TableQ`, which plans as far ahead as the discount
    reaches. Elsewhere it is `BeliefQ`, unless another gains clearly more on held-out episodes; or `ModelQ`, which plans
    in learned models, if its plans are better in every model of other episodes (`uqf.learn.rehearsal`).

    Parameters
    ----------
    data : Trajectories, `uqf.Shards` or the path of a folder of Parquet files
        Learners are compared on a bounded sample of the episodes, drawn by a hash of their content. Shards are read a
        batch at a time.
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    holdout : float in (0, 1)
        Share of the episodes that judge and do not teach while learners are compared; plans are rehearsed in models of
        them.
    seconds : float, optional
        No further learner is begun after so long; the first is always tried.
    seed : int
        The same seed gives the same bits.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where shards are read and models are trained. The result has the same bits with any executor or none.
    progress : callable, optional
        Called now and then with a `Progress`: the stage, how far all is, the time left.

    Returns
    -------
    Learner
        Fitted. ``diagnostics_["chosen"]`` says which one was taken, why, and how the others did; `trial_` has the
        policy that was judged and the episodes that judged it, for `uqf.ope.evaluate`.

    Raises
    ------
    ValueError
        If a number is out of range.
    UQFError
        If the data allow no learner at all.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    >>> learner = uqf.fit(data, discount=0.95, seconds=0)  # the first learner only
    >>> learner.diagnostics_["chosen"]["learner"]
    'ContextQ'
    """
    probability("discount", discount)
    if not 0.0 < holdout < 1.0:
        raise ValueError(f"holdout = {holdout}: give a share above 0 and below 1")
    learners = [candidate.make(discount, seed) for candidate in CANDIDATES]

    def work(steps: int) -> float:
        few = min(steps, TRIAL_STEPS)
        trials = sum(learner.work(round((1.0 - holdout) * few)) for learner in learners)
        slowest = max(learners, key=lambda learner: learner.work(few))
        return COST * steps + trials + slowest.work(round(holdout * few)) + slowest.work(steps)

    reader = Reader(data, work=work, executor=executor, progress=progress)
    reporter, sample = reader.reporter, Overview.read(reader, TRIAL_STEPS, seed).sample
    taught, judges = _split(sample, holdout)
    baseline = Baseline.of(taught, discount)
    test = tested(taught, seed)
    suited = [
        learner
        for learner, candidate in zip(learners, CANDIDATES, strict=True)
        if candidate.plans_on_observations <= test.markov
    ]
    states = test.markov and not test.doubted
    tried: Tried = []
    for number, learner in enumerate(suited[:PLANNED] if states else suited):
        if number > 0 and seconds is not None and reporter.seconds > seconds:
            break
        told = reporter.within(f"{type(learner).__name__}, trial", learner.work(taught.n_steps))
        try:
            learner.fit(taught, executor=executor, progress=told)
            tried.append((learner, policy_gain(learner.policy_, baseline, judges)))
        except UQFError as problem:
            tried.append((learner, str(problem)))
    best = _best(tried[:1] if states and isinstance(tried[0][1], Gain) else tried)
    rehearsal = None
    beliefs = next(
        (one for one, found in tried if isinstance(one, BeliefQ) and isinstance(found, Gain)), None
    )
    in_time = seconds is None or reporter.seconds <= seconds
    if beliefs is not None and min(len(taught), len(judges)) >= MIN_REHEARSED and in_time:
        reporter.expect(beliefs.again_work(judges.n_steps) + beliefs.refit_work(reader.n_steps))
        told = reporter.within("rehearsal", beliefs.again_work(judges.n_steps))
        other: BeliefQ = clone(beliefs).fit(judges, executor=executor, progress=told)
        plans = (ModelQ.in_models_of(beliefs), ModelQ.in_models_of(other))
        policies = (best.policy_, (other if best is beliefs else clone(best).fit(judges)).policy_)
        rehearsal = rehearse(plans, policies, int(sample.lengths.max()), seed)
        if rehearsal.convinces:
            best = plans[0]
    keeps = taught.n_steps >= MIN_KEPT
    left = (best.refit_work if keeps else best.work)(reader.n_steps)
    reporter.expect(left)
    told = reporter.within(type(best).__name__, left)
    again = best.refit if keeps else clone(best).fit
    chosen = again(data, executor=executor, progress=told)
    chosen.trial_ = Trial(best.policy_, taught, judges)
    chosen.diagnostics_["chosen"] = _told(best, tried, test, rehearsal, len(judges))
    chosen.diagnostics_["markov_test"] = test.as_dict()
    reporter.finish()
    return chosen


def _split(sample: Trajectories, holdout: float) -> tuple[Trajectories, Trajectories]:
    """(episodes that teach, episodes that judge); the sample has them in an order that is as good as random."""
    held = max(1, round(holdout * len(sample)))
    if held >= len(sample):
        raise ValueError(
            f"{len(sample)} episodes are too few: {held} would be held out to judge, and none left to learn from"
        )
    return sample[held:], sample[:held]


Tried = list[tuple[Learner, Gain | str]]


def tested(data: Trajectories, seed: int) -> MarkovTest:
    """Whether the last observation is a state.

    Memory that reaches far back shows only to a model: if nothing else speaks against it, a small one is trained on the
    half of the episodes that counts, and its likeliest state is one more summary of the past.
    """
    test = markov_test(data, seed=seed)
    if not test.markov:
        return test
    data = looked_at(data)
    model = BeliefQ(states=HIDDEN_STATES, models=1, seed=seed).fit(data[: len(data) // 2])
    beliefs = model.policy_.beliefs_along(data)[cut_before(data), 1:]
    return markov_test(data, summaries={"the hidden state of a model": beliefs.argmax(axis=1)}, seed=seed)


def _best(tried: Tried) -> Learner:
    """The favourite, unless others gain clearly more on the held-out episodes: then that which gains most.

    Gains of single steps are mostly noise where episodes are few, and the largest of several is largest by chance.
    """
    judged = [(learner, found) for learner, found in tried if isinstance(found, Gain)]
    if not judged:
        raise UQFError(f"every learner was refused; the first said: {tried[0][1]}")
    favourite, expected = judged[-1]
    better = [
        (found.mean, place)
        for place, (_, found) in enumerate(judged)
        if Gain(found.totals - expected.totals).evidence > MIN_EVIDENCE
    ]
    return judged[max(better)[1]][0] if better else favourite


def _told(
    best: Learner, tried: Tried, test: MarkovTest, rehearsal: Rehearsal | None, held_out: int
) -> dict[str, Any]:
    """The choice, its evidence and the runners-up."""
    candidates: dict[str, Any] = {
        type(learner).__name__: {"problem": found}
        if isinstance(found, str)
        else {"gain": found.mean, "stderr": found.stderr}
        for learner, found in tried
    }
    if rehearsal is not None:
        candidates["ModelQ"] = rehearsal.as_dict()
    name = type(best).__name__
    if isinstance(best, TableQ):
        why = f"{name} plans on observations, and they are states. {test.verdict}"
    elif isinstance(best, ModelQ):
        told = candidates["ModelQ"]
        why = (
            f"{name} plans in learned models, and earns more in all {told['models']} models of other episodes: "
            f"{told['difference']:.4g} an episode on average. {test.verdict}"
        )
    else:
        found = candidates[name]
        why = (
            f"{name} gains {found['gain']:.4g} ± {found['stderr']:.2g} an episode on {held_out:,} held-out episodes, "
            f"one step at a time, and no other clearly more. {test.verdict}"
        )
    return {"learner": name, "why": why, "candidates": candidates}
