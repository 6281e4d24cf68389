"""The front door: from a log to the learner that suits it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uqf.episodes.checks import number, probability
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.estimator import clone
from uqf.learn.choose.candidates import FAVOURITE, PLANNER, RIVALS, Candidate, Settings
from uqf.learn.choose.comparison import Comparison, Result, challenged, judged
from uqf.learn.choose.markov_test import MarkovTest, markov_test
from uqf.learn.choose.trial import Trial
from uqf.learn.learner import Learner
from uqf.learn.memory.hidden import Growth
from uqf.learn.model_q import ModelQ, ModelSettings
from uqf.learn.table_q import SETTINGS as TABLES
from uqf.page.parts import figure, signed
from uqf.reading.overview import Overview
from uqf.reading.progress import Callback
from uqf.reading.reader import Reader
from uqf.reading.release import release_memory
from uqf.reading.shards import Data, Workers, opened

SETTINGS = Settings()


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
    """Tries the learners, keeps the one that suits the data, and fits it to all of them.

    `BeliefQ` is the favourite and holds the place. One after another, the other learners take the place if they are
    better by two standard errors and by two percent: a learner that improves on the log if its policy gains more on
    held-out episodes. Where the last observation is a state (`uqf.markov_test`), `TableQ` takes the place unless it
    earns less, by two standard errors, in the models that `BeliefQ` learned from the held-out episodes. Elsewhere, and
    with at least 200 episodes, `ModelQ` challenges at last: it takes the place if its plan of all episodes earns more,
    by as much, in models from other starts than the one that made the plan, and if its model misses nothing that the
    holder remembers: the log, improved on its beliefs, gains no less on held-out episodes than whoever took the place
    from `BeliefQ`, nor less than `BeliefQ` by two standard errors.

    Parameters
    ----------
    data : Trajectories, `uqf.Shards`, or a log as `uqf.read_log` takes it: a path, a table, a list of them
        Learners are compared on a bounded sample of the episodes, drawn by a hash of their content. Shards are read a
        batch at a time.
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    holdout : float in (0, 1)
        Share of the episodes that judge while learners are compared. With one half, each half judges the learners of
        the other.
    seconds : float, optional
        No further learner is begun after so long; the favourite is always tried.
    seed : int
        The same seed gives the same bits.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where shards are read and models are trained. The result has the same bits with any executor or none.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total)``.

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
    >>> learner = uqf.fit(data, discount=0.95, seconds=0)  # the favourite only
    >>> learner.diagnostics_["chosen"]["learner"]
    'BeliefQ'
    """
    probability("discount", discount)
    if seconds is not None:
        number("seconds", seconds)
    if not 0.0 < number("holdout", holdout) < 1.0:
        raise ValueError(f"holdout = {holdout}: give a share above 0 and below 1")
    return chosen_learner(opened(data), discount, seed, holdout, seconds, executor, progress)


def chosen_learner(
    data: Data,
    discount: float,
    seed: int,
    holdout: float = 0.5,
    seconds: float | None = None,
    executor: Workers = None,
    progress: Callback | None = None,
    *,
    plans: bool = True,
) -> Learner:
    """What `fit` returns; without `plans`, as if no model could be planned in: whoever plays tries plans there."""
    reader = Reader(data, executor=executor, progress=progress)
    sample = Overview.read(reader, SETTINGS.sample_steps, seed).sample
    parts = _split(sample, holdout)
    test = markov_test(parts[0], seed=seed)
    comparison = Comparison(parts, discount, seed, SETTINGS, executor, reader.reporter)
    results: dict[str, Result] = {}
    holder: Result | None = None
    for candidate in (FAVOURITE, *RIVALS):
        if holder is not None and seconds is not None and reader.reporter.seconds > seconds:
            break
        problem = _unsuitable(candidate, holder, test, comparison)
        if problem:
            results[candidate.name] = Result(candidate, problem=problem)
            continue
        if holder is None:
            result = comparison.result(candidate, comparison.looks[0])
            holder = None if result.problem else result
        else:
            holder, beside, result = judged(candidate, holder, comparison)
            results[beside.candidate.name] = beside
        results[candidate.name] = result
    if holder is None:
        first = next(iter(results.values()))
        raise UQFError(f"every learner was refused; the first said: {first.problem}")
    if not reader.in_memory:
        release_memory()
    chosen = comparison.final(holder.candidate, data)
    problem = (
        _unplannable(holder, test, comparison.has_numbers, parts) if plans else "plans were not asked for"
    )
    if problem is None and seconds is not None and reader.reporter.seconds > seconds:
        problem = f"no time is left of {seconds:g} seconds"
    plan = Result(PLANNER, problem=problem)
    if problem is None:
        try:
            plan, beside, planner = _challenge(comparison, chosen, holder, sample)
        except UQFError as refusal:
            plan = Result(PLANNER, problem=str(refusal))
        else:
            taken, plan = challenged(beside, plan, SETTINGS)
            if taken is plan:
                holder, chosen = plan, planner
    results[PLANNER.name] = plan
    trial = clone(chosen) if holder.candidate is PLANNER else comparison.learner(holder.candidate, 0)
    chosen.trial_ = Trial(trial, *parts)
    chosen.diagnostics_["chosen"] = {
        "learner": type(chosen).__name__,
        "why": f"{why(holder)} {test.verdict}",
        "candidates": {name: one.as_dict() for name, one in results.items()},
    }
    chosen.diagnostics_["markov_test"] = test.as_dict()
    return chosen


def _challenge(
    comparison: Comparison, learner: Learner, holder: Result, sample: Trajectories
) -> tuple[Result, Result, Learner]:
    """(how a plan in hidden models did beside the holder, the holder beside it, the learner that planned)."""
    planner = comparison.final(PLANNER, sample)
    assert isinstance(planner, ModelQ)
    # The favourite holds the place without having shown what it remembers; whoever took it has shown it.
    least = -SETTINGS.evidence if holder.candidate is FAVOURITE else 0.0
    for directions in comparison.looks:
        lead, _ = comparison.remembered_by(planner, directions).more_than(
            comparison.result(holder.candidate, directions), SETTINGS.evidence
        )
        if least < 0.0 <= lead.mean:
            break
    if lead.evidence < least:
        raise UQFError(
            f"its model misses what {holder.candidate.name} remembers: improving the log on its beliefs gains "
            f"{figure(-lead.mean)} less in each of {len(lead.totals):,} held-out episodes, {-lead.evidence:.1f} times "
            "the standard error"
        )
    planner.origin_ = learner.origin_
    plan = Result(PLANNER, earned=planner.earned_by(planner.policy_))
    return plan, replace(holder, earned=planner.earned_by(learner.policy_)), planner


def _unsuitable(
    candidate: Candidate, holder: Result | None, test: MarkovTest, comparison: Comparison
) -> str | None:
    """Why the candidate is not considered, or None."""
    if holder is None:
        return None
    if not candidate.on_observations:
        seen = test.markov and not test.doubted and not (candidate.on_columns and comparison.has_numbers)
        return "the last observation is a state: nothing else need be remembered" if seen else None
    if holder.candidate is not FAVOURITE:
        return f"{holder.candidate.name} is better than {FAVOURITE.name}, whose models must miss something"
    if not test.markov:
        return "the last observation is not known to be a state"
    if comparison.noisy:
        return "models in which observations may be wrong predict held-out episodes better"
    return TABLES.too_many(comparison.parts[0].n_actions, comparison.parts[0].n_observations)


def _unplannable(
    holder: Result, test: MarkovTest, has_numbers: bool, parts: tuple[Trajectories, Trajectories]
) -> str | None:
    """Why no plan in hidden models is considered, or None."""
    if holder.candidate.on_observations and not test.doubted:
        return (
            f"{holder.candidate.name} plans on observations, and they are states: no model need remember more"
        )
    if holder.candidate.on_columns and has_numbers:
        return f"{holder.candidate.name} sees numbers as they are, of which models know only cells"
    return without_models(*parts)


def without_models(*parts: Trajectories) -> str | None:
    """Why no hidden models of these episodes are planned in, or None."""
    if any(part.allowed is not None for part in parts):
        return "some actions are not always allowed, and models do not say which"
    episodes = sum(map(len, parts))
    if episodes < SETTINGS.planning_episodes:
        return f"{episodes} episodes: models of fewer than {SETTINGS.planning_episodes} are wrong in the same way"
    seen = len(np.unique(np.concatenate([part.observations for part in parts])))
    states = Growth().states
    if states < SETTINGS.states_per_observation * seen:
        return (
            f"{seen} observations: models of {states} states, fewer than {SETTINGS.states_per_observation:g} for each, "
            "remember hardly more than the last one"
        )
    return ModelSettings().too_many(parts[0].n_actions, parts[0].n_observations)


def why(holder: Result) -> str:
    """The choice in a sentence."""
    name, lead = holder.candidate.name, holder.lead
    if lead is not None and holder.candidate.on_observations:
        judges = "held-out episodes" if holder.earned is None else "models of other episodes"
        return (
            f"{name} plans on the last observation, which is a state: beside {holder.over} it earned "
            f"{signed(lead.mean)} an episode in {len(lead.totals):,} {judges}, {lead.evidence:+.1f} times the standard "
            "error."
        )
    if lead is not None and holder.candidate.on_columns and lead.evidence <= SETTINGS.evidence:
        return (
            f"{name} sees numbers as they are, of which codes say only in which cell they lie: beside {holder.over} "
            f"it would have earned {signed(lead.mean)} in each of {len(lead.totals):,} held-out episodes, changing one "
            f"logged action at a time, both as sharp as the log allows, {lead.evidence:+.1f} times the standard error."
        )
    if lead is not None and holder.earned is not None:
        return (
            f"{name} plans ahead: in {len(lead.totals)} learned models that did not make the plan it earned "
            f"{figure(lead.mean)} an episode more than {holder.over}, {lead.evidence:.1f} times the standard error."
        )
    if lead is not None:
        return (
            f"{name} would have earned {figure(lead.mean)} more than {holder.over} in each of {len(lead.totals):,} "
            f"held-out episodes, changing one logged action at a time, both as sharp as the log allows: "
            f"{lead.evidence:.1f} times the standard error."
        )
    gain = holder.gains[0]
    return (
        f"{name} would have earned {gain.text} more than the log in each of {len(gain.totals):,} held-out episodes, "
        "changing one logged action at a time, as sharp as the log allows, and no other learner is clearly better."
    )


def _split(sample: Trajectories, holdout: float) -> tuple[Trajectories, Trajectories]:
    """(episodes to learn from, episodes that judge); the sample has them in an order that is as good as random."""
    held = max(1, round(holdout * len(sample)))
    if held >= len(sample):
        raise ValueError(
            f"{len(sample)} episodes are too few: {held} would be held out to judge, and none left to learn from"
        )
    return sample[held:], sample[:held]
