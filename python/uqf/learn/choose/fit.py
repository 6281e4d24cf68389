"""The front door: from a log to the learner that suits it."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import clone

from uqf.episodes.checks import probability
from uqf.episodes.sums import cut_before
from uqf.episodes.trajectories import Trajectories
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.choice import Candidate, best, told
from uqf.learn.choose.judge import Judge
from uqf.learn.choose.markov_test import MIN_EPISODES, MarkovTest, looked_at, markov_test
from uqf.learn.choose.mistakes import mistakes
from uqf.learn.choose.plans import best_plan, rehearse
from uqf.learn.choose.rehearsal import Rehearsal
from uqf.learn.context_q import ContextQ
from uqf.learn.lag_q import LagQ
from uqf.learn.learner import Learner
from uqf.learn.noisy_q import MAX_STATES
from uqf.learn.spectral_q import SpectralQ
from uqf.learn.table_q import TableQ
from uqf.policies.policy import Policy
from uqf.reading.overview import Overview
from uqf.reading.progress import Callback, within
from uqf.reading.reader import Reader
from uqf.reading.release import give_back
from uqf.reading.shards import Data, Workers

#: The learners that are tried, the favourite last. A learner that registers here takes part in every fit.
CANDIDATES = [
    Candidate(lambda discount, seed: TableQ(discount), plans_on_observations=True),
    Candidate(lambda discount, seed: ContextQ(discount)),
    Candidate(lambda discount, seed: ContextQ(discount, learning_discount=0.0), note="the next reward only"),
    Candidate(lambda discount, seed: LagQ(discount)),
    Candidate(lambda discount, seed: SpectralQ(discount)),
    Candidate(lambda discount, seed: BeliefQ(discount, seed=seed)),
]

#: Learners are compared on about so many steps at most, drawn from all.
TRIAL_STEPS = 300_000

#: Where observations are states so many learners are tried: the one that plans on them, and the quickest beside it.
PLANNED = 2

#: Either half teaches and judges the other if both have so many episodes.
MIN_CROSSED = 20

#: Plans are rehearsed if both halves have so many. Models of fewer are wrong in the same way now and then: on three of
#: 60 logs of the far grid world, 50 episodes a half, a plan that won in all of them was useless.
MIN_REHEARSED = 100

#: What a learner chose from fewer steps than this is chosen anew from all.
MIN_KEPT = 20_000

#: Hidden states of the model that looks for memory which nothing else shows.
HIDDEN_STATES = 15


@dataclass(frozen=True)
class Trial:
    """What the choice rests on: the policy of the chosen learner, taught without the held-out episodes."""

    policy: Policy | None
    taught: Trajectories
    """The episodes that taught it."""
    held_out: Trajectories
    """The episodes that it was judged on. They taught it nothing; they helped to choose what `BeliefQ` would choose on
    episodes that it holds out: the sizes of its models, by their likelihood, and the learning discount."""


def fit(
    data: Data,
    *,
    discount: float = 0.99,
    holdout: float = 0.5,
    seconds: float | None = None,
    seed: int = 0,
    executor: Workers = None,
    progress: Callback | None = None,
) -> Learner:
    """Tries the learners, keeps the one that suits the data, and refits it to all of them.

    Where the last observation is a state (`uqf.markov_test`) this is `TableQ`, which plans as far ahead as the discount
    reaches. Elsewhere it is `BeliefQ`, unless another gains clearly more on held-out episodes; or a plan (`ModelQ`,
    `NoisyQ`, a table of the last symbols), if it is better in the models of other episodes (see
    `uqf.learn.choose.rehearsal`).

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
        Called as ``progress(stage, done, total)`` when a stage begins, now and then, and when it ends.

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

    reader = Reader(data, executor=executor, progress=progress)
    reporter, sample = reader.reporter, Overview.read(reader, TRIAL_STEPS, seed).sample
    halves = _split(sample, holdout)
    test = tested(halves[0], seed)
    states = test.markov and not test.doubted
    suited = [
        (candidate.name(learner), learner)
        for learner, candidate in zip(learners, CANDIDATES, strict=True)
        if candidate.plans_on_observations <= test.markov
    ]
    crossed = not states and min(map(len, halves)) >= MIN_CROSSED
    judge = Judge(halves, discount, crossed, reader.n_steps, executor, reporter)
    tried = judge.all(suited[:PLANNED] if states else suited, seconds)
    planned = states and bool(tried[0].gains)
    taken, horizon = best(tried[:1] if planned else tried)
    name, learner, beliefs = taken.name, taken.taught(0), judge.beliefs
    rehearsals: dict[str, Rehearsal] = {}
    enough = min(map(len, halves)) >= MIN_REHEARSED and (seconds is None or reporter.seconds <= seconds)
    if beliefs is not None and enough:
        plans, rehearsals = rehearse(beliefs, taken, halves, test, seed)
        believed = best_plan(rehearsals)
        if believed is not None:
            name, learner = believed, plans[believed](0)
    keeps = halves[0].n_steps >= MIN_KEPT
    if beliefs is not None and isinstance(learner, BeliefQ):
        keeps, learner = True, beliefs.joined(learner)
    if not reader.in_memory:
        give_back()
    again = learner.refit if keeps else clone(learner).fit
    chosen = again(data, executor=executor, progress=within(progress, name))
    chosen.trial_ = Trial(learner.policy_, *halves)
    chosen.diagnostics_["chosen"] = {"learner": type(chosen).__name__} | told(
        name, horizon, tried, test, rehearsals, planned
    )
    chosen.diagnostics_["markov_test"] = test.as_dict()
    return chosen


def _split(sample: Trajectories, holdout: float) -> tuple[Trajectories, Trajectories]:
    """(episodes that teach, episodes that judge); the sample has them in an order that is as good as random."""
    held = max(1, round(holdout * len(sample)))
    if held >= len(sample):
        raise ValueError(
            f"{len(sample)} episodes are too few: {held} would be held out to judge, and none left to learn from"
        )
    return sample[held:], sample[:held]


def tested(data: Trajectories, seed: int) -> MarkovTest:
    """Whether the last observation is a state.

    Memory that reaches far back shows only to a model: if nothing else speaks against it, a small one is trained on the
    half of the episodes that counts, and its likeliest state is one more summary of the past. A model with a state
    behind every observation tells whether observations are often wrong.
    """
    test = markov_test(data, seed=seed)
    data = looked_at(data)
    if test.markov:
        model = BeliefQ(states=HIDDEN_STATES, models=1, seed=seed).fit(data[: len(data) // 2])
        beliefs = model.policy_.beliefs_along(data)[cut_before(data), 1:].argmax(axis=1)
        test = markov_test(data, summaries={"the hidden state of a model": beliefs}, seed=seed)
    if data.n_observations > MAX_STATES or len(data) < MIN_EPISODES:
        return test
    found = mistakes(data, seed)
    if not found.matters:
        return test
    return MarkovTest(False, test.coverage, (found, *test.findings))
