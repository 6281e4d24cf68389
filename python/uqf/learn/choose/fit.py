"""The front door: from a log to the learner that suits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from uqf.episodes.checks import probability
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.choose.candidates import FAVOURITE, RIVALS, Settings
from uqf.learn.choose.comparison import Comparison, Result
from uqf.learn.choose.markov_test import MarkovTest, markov_test
from uqf.learn.learner import Learner
from uqf.policies.policy import Policy
from uqf.reading.overview import Overview
from uqf.reading.progress import Callback, within
from uqf.reading.reader import Reader
from uqf.reading.release import give_back
from uqf.reading.shards import Data, Workers

SETTINGS = Settings()


@dataclass(frozen=True)
class Trial:
    """What the choice rests on: the policy of the chosen learner, fitted without the held-out episodes."""

    policy: Policy | None
    taught: Trajectories
    """The episodes that it learned from."""
    held_out: Trajectories
    """The episodes that it was judged on."""


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

    `BeliefQ` is the favourite. Another learner takes its place if its policy gains more on held-out episodes by two
    standard errors. If none does, a plan takes its place (`ModelQ`; `TableQ` where the last observation is a state)
    if it earns more by two standard errors in the models that `BeliefQ` learned from the held-out episodes. Plans are
    considered where the last observation is a state (`uqf.markov_test`), or with at least 200 episodes and models
    of at least two states for an observation.

    Parameters
    ----------
    data : Trajectories, `uqf.Shards` or the path of a folder of Parquet files
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
    if not 0.0 < holdout < 1.0:
        raise ValueError(f"holdout = {holdout}: give a share above 0 and below 1")
    reader = Reader(data, executor=executor, progress=progress)
    parts = _split(Overview.read(reader, SETTINGS.sample_steps, seed).sample, holdout)
    test = markov_test(parts[0], seed=seed)
    comparison = Comparison(parts, discount, seed, SETTINGS, executor, reader.reporter)
    results: list[Result] = []
    for candidate in (FAVOURITE, *RIVALS):
        enough = any(one.gains for one in results)
        if enough and seconds is not None and reader.reporter.seconds > seconds:
            break
        problem = _not_planned(comparison, results, test) if candidate.plans else None
        if candidate.on_observations and not test.markov:
            problem = "the last observation is not known to be a state"
        results.append(Result(candidate, problem=problem) if problem else comparison.result(candidate))
    taken, place = best(results, SETTINGS.evidence)
    trial = Trial(comparison.learner(taken.candidate, 0).policy_, *parts)
    candidates = {one.candidate.name: one.as_dict(_favourite(results), place) for one in results}
    why = f"{_why(taken, _favourite(results), place)} {test.verdict}"
    del comparison
    if not reader.in_memory:
        give_back()
    name = taken.candidate.name
    chosen = taken.candidate.make(discount, seed).fit(
        data, executor=executor, progress=within(progress, name)
    )
    chosen.trial_ = trial
    chosen.diagnostics_["chosen"] = {
        "learner": type(chosen).__name__,
        "why": why,
        "candidates": candidates,
    }
    chosen.diagnostics_["markov_test"] = test.as_dict()
    return chosen


def best(results: Sequence[Result], evidence: float) -> tuple[Result, int]:
    """(the result that is taken, the place of the discount whose gains decided).

    The favourite stays unless others are ahead of it by so many standard errors; of those the one with the largest
    mean is taken, and plans are asked only if no gain decided. If the one that is taken is not seen to gain anything,
    the shorter discount decides: the noise of all later rewards is in a gain.
    """
    favourite = _favourite(results)
    judged = [one for one in results if one.gains and one is not favourite]
    rivals = [one for one in judged if not one.candidate.plans]
    improver, place = _largest(rivals, favourite, 0, evidence), 0
    if improver.gains[0].evidence <= evidence:
        short = _largest(rivals, favourite, 1, evidence)
        if short.gains[1].evidence > evidence:
            improver, place = short, 1
    if improver is not favourite:
        return improver, place
    return _largest([one for one in judged if one.candidate.plans], favourite, 0, evidence), place


def _favourite(results: Sequence[Result]) -> Result:
    """The favourite, or if the data refused it the first that they did not refuse."""
    for one in results:
        if one.gains:
            return one
    raise UQFError(f"every learner was refused; the first said: {results[0].problem}")


def _largest(rivals: Sequence[Result], favourite: Result, place: int, evidence: float) -> Result:
    """The rival that is ahead by most of those that are clearly ahead, or the favourite."""
    ahead = [(one, one.ahead_of(favourite, place)) for one in rivals]
    clearly = [(more.mean, number) for number, (_, more) in enumerate(ahead) if more.evidence > evidence]
    return ahead[max(clearly)[1]][0] if clearly else favourite


def _not_planned(comparison: Comparison, results: Sequence[Result], test: MarkovTest) -> str | None:
    """Why no plan is considered, or None."""
    settings = comparison.settings
    favourite = results[0]
    if not favourite.gains:
        return f"{FAVOURITE.name}, in whose models plans are judged, was refused"
    taken = best(results, settings.evidence)[0].candidate
    if not taken.plans and taken is not FAVOURITE:
        return f"{taken.name} gains more than {FAVOURITE.name}, whose models must miss something"
    if test.markov:
        return None
    episodes = sum(map(len, comparison.parts))
    if episodes < settings.planning_episodes:
        return f"{episodes} episodes: models of fewer than {settings.planning_episodes} are wrong in the same way"
    states = comparison.states_per_observation()
    if states < settings.states_per_observation:
        return (
            f"models with {states:.2g} states for an observation: fewer than {settings.states_per_observation:g} "
            "remember hardly more than the last observation, which is not a state"
        )
    return None


def _why(taken: Result, favourite: Result, place: int) -> str:
    """The choice in a sentence."""
    name = taken.candidate.name
    if taken.difference is not None:
        more = taken.difference
        return (
            f"{name} plans ahead. In {len(more.totals)} models that were learned from other episodes its plan earned "
            f"{more.mean:.4g} an episode more than {favourite.candidate.name} did, {more.evidence:.1f} times the "
            "standard error."
        )
    gain = taken.gains[place]
    why = (
        f"{name} gains {gain.mean:.4g} ± {gain.stderr:.2g} an episode over the logged actions on {len(gain.totals):,} "
        "held-out episodes, changing one step at a time"
    )
    if taken is favourite:
        why += ", and no other learner is clearly better."
    else:
        more = taken.ahead_of(favourite, place)
        why += (
            f"; that is {more.mean:.4g} more than {favourite.candidate.name}, {more.evidence:.1f} times the standard "
            "error."
        )
    if place > 0:
        why += " Rewards count by half for every step of delay: with later ones nothing is seen."
    return why


def _split(sample: Trajectories, holdout: float) -> tuple[Trajectories, Trajectories]:
    """(episodes to learn from, episodes that judge); the sample has them in an order that is as good as random."""
    held = max(1, round(holdout * len(sample)))
    if held >= len(sample):
        raise ValueError(
            f"{len(sample)} episodes are too few: {held} would be held out to judge, and none left to learn from"
        )
    return sample[held:], sample[:held]
