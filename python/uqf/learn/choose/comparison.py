"""Learners of one part of the episodes, compared by the other part: held-out gains, and play in its models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from uqf.episodes.checks import FloatArray
from uqf.episodes.columns import columns_of
from uqf.episodes.concatenate import concatenate
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.candidates import FAVOURITE, PLANNER, Candidate, Settings
from uqf.learn.choose.play import earned_in, models_to_play_in
from uqf.learn.choose.shared_models import SharedModels
from uqf.learn.improve.discounts import MIN_EPISODES
from uqf.learn.improve.gain import MAX_DISCOUNT, Baseline, Gain, comparable_probs, gain
from uqf.learn.improve.on_beliefs import improved_on_beliefs, uninformed
from uqf.learn.learner import Learner
from uqf.learn.memory.summaries import ViewName
from uqf.learn.model_q import ModelQ
from uqf.learn.summary_q import SummaryQ
from uqf.policies.policy import Policy
from uqf.reading.progress import Reporter, within
from uqf.reading.release import release_memory
from uqf.reading.shards import Data, Workers
from uqf.types import Record
from uqf.worlds.environments import TabularPOMDP


@dataclass(frozen=True)
class Result:
    """How a candidate did on the episodes that it did not learn from."""

    candidate: Candidate
    gains: tuple[Gain, ...] = ()
    """Of an episode, at the discount of the task and at the short one; none if it was refused or not considered."""
    earned: FloatArray | None = None
    """Mean return in every model of other episodes, (models,); None if it did not play."""
    lead: Gain | None = None
    """What it gained or earned more than whoever held the place before, whose name is `over`."""
    over: str = ""
    problem: str | None = None
    """Why it was refused, or not considered."""

    def more_than(self, holder: Result, evidence: float) -> tuple[Gain, float]:
        """(the lead, size of what the holder gains).

        In models if both played; else as gains, short ones where neither is seen to gain anything. By what judged both.
        """
        if self.earned is not None and holder.earned is not None:
            return _difference(self.earned, holder.earned), abs(float(holder.earned.mean()))
        seen = max(self.gains[0].evidence, holder.gains[0].evidence) > evidence
        place = 0 if seen else 1
        other = holder.gains[place]
        return _difference(self.gains[place].totals, other.totals), abs(other.mean)

    def as_dict(self) -> Record:
        """Plain numbers, for `diagnostics_`; None where there is none."""
        found: Record = dict.fromkeys(("gain", "stderr", "difference", "evidence"))
        if self.gains:
            found |= {"gain": self.gains[0].mean, "stderr": self.gains[0].stderr}
        if self.lead is not None:
            found["evidence"] = self.lead.evidence
            if self.earned is not None:
                found["difference"] = self.lead.mean
        return found | {"problem": self.problem}


def _difference(one: FloatArray, other: FloatArray) -> Gain:
    """By what judged both: either may have been judged by the first part alone."""
    both = min(len(one), len(other))
    return Gain(one[:both] - other[:both])


class Comparison:
    """Fits candidates to the first part of the episodes and judges them by the second; equal parts also change roles.

    Parts that differ in size do not: learners of a tenth of the episodes say little about learners of nine tenths.
    Everything is learned when it is first needed: what one part has decided is not asked of the other.
    """

    def __init__(
        self,
        parts: tuple[Trajectories, Trajectories],
        discount: float,
        seed: int,
        settings: Settings,
        executor: Workers,
        reporter: Reporter,
    ) -> None:
        self.parts, self.discount, self.seed, self.settings = parts, discount, seed, settings
        self.executor, self.reporter = executor, reporter
        self.directions = (0, 1) if abs(len(parts[0]) - len(parts[1])) <= 1 else (0,)
        #: What is looked at first, and what if that leaves a doubt.
        self.looks = tuple(dict.fromkeys((self.directions[:1], self.directions)))
        self._judged_by: dict[Candidate, tuple[int, ...]] = {}
        self._view: ViewName | None = None
        #: By candidate and part, fitted when it is first needed.
        self.learner = cache(self._fitted)
        self._advantages = cache(self._measured)
        self._worlds = cache(self._models)
        self._played = cache(self._play)
        self._gained = cache(
            lambda candidate, part: self._gains_of(self.learner(candidate, part).policy_, part)
        )

    def result(self, candidate: Candidate, directions: tuple[int, ...] | None = None) -> Result:
        """What the candidate gains and, if it plans on observations, what it earns in models; or why it was refused.

        In these directions, or in all in which it was judged before.
        """
        directions = max(directions or self.directions, self._judged_by.get(candidate, ()), key=len)
        self._judged_by[candidate] = directions
        try:
            gains = _joined([self._gained(candidate, part) for part in directions])
            self.reporter.scored(candidate.name, gains[0].mean, gains[0].stderr)
            earned = self.earned(candidate, directions) if candidate.on_observations else None
            return Result(candidate, gains, earned)
        except UQFError as problem:
            return Result(candidate, problem=str(problem))

    def final(self, candidate: Candidate, data: Data) -> Learner:
        """The candidate, fitted to all episodes."""
        nested = within(self.reporter.callback, candidate.name)
        learner = candidate.make(self.discount, self.seed)
        if self._shared is not None and isinstance(learner, BeliefQ):
            return learner.go_on(self._shared.of_all, data, executor=self.executor, progress=nested)
        return learner.fit(data, executor=self.executor, progress=nested)

    @property
    def has_numbers(self) -> bool:
        """Whether codes stand for numbers, of which they say only in which cell they lie."""
        return bool((columns_of(self.parts[0][:1])[2] == 0).any())

    @property
    def noisy(self) -> bool:
        """Whether held-out episodes chose models for the favourite in which a state may show anything."""
        return self._favourite(0).noisy_

    @cached_property
    def _shared(self) -> SharedModels | None:
        """The models of all candidates that act on beliefs; None if there are too few episodes to choose sizes by."""
        if min(map(len, self.parts)) < MIN_EPISODES:
            return None
        nested = within(self.reporter.callback, FAVOURITE.name)
        favourite = FAVOURITE.make(self.discount, self.seed)
        assert isinstance(favourite, BeliefQ)
        return SharedModels(favourite, self.parts, self.executor, nested)

    def _fitted(self, candidate: Candidate, part: int) -> Learner:
        learner, data = candidate.make(self.discount, self.seed), self.parts[part]
        nested = within(self.reporter.callback, f"{candidate.name}, {('trial', 'second trial')[part]}")
        if self._shared is not None and isinstance(learner, BeliefQ):
            return learner.go_on(self._shared.of(part), data, executor=self.executor, progress=nested)
        if isinstance(learner, SummaryQ):
            # Chosen once, from all episodes, as the sizes of models are.
            learner.view = self._view = self._view or learner.view_of(concatenate(self.parts))
        learner.fit(data, executor=self.executor, progress=nested)
        release_memory()
        return learner

    def _favourite(self, part: int) -> BeliefQ:
        learner = self.learner(FAVOURITE, part)
        assert isinstance(learner, BeliefQ)
        return learner

    def earned(self, candidate: Candidate, directions: tuple[int, ...]) -> FloatArray | None:
        """Mean returns of its learners in models of the other part; None where these are too large to play in."""
        played = [self._played(candidate, part) for part in directions]
        known = [means for means in played if means is not None]
        return np.concatenate(known) if len(known) == len(played) else None

    def remembered_by(self, planner: ModelQ, directions: tuple[int, ...]) -> Result:
        """What the log gains if improved on the beliefs of a plan; they miss what another learner gains more.

        The model has seen all episodes; the improvement is learned from one part and judged by the other.
        """
        base = uninformed(planner.policy_)
        improved = (improved_on_beliefs(base, self.parts[part], self.discount) for part in directions)
        gains = [self._gains_of(policy, part) for policy, part in zip(improved, directions, strict=True)]
        return Result(PLANNER, _joined(gains))

    def _gains_of(self, policy: Policy, part: int) -> list[FloatArray]:
        """By discount, per episode that judges a policy of this part, as sharp as these allow."""
        held_out = self.parts[1 - part]
        probs = comparable_probs(policy, held_out)
        return [gain(probs, self._advantages(part, place), held_out).totals for place in (0, 1)]

    def _measured(self, part: int, place: int) -> FloatArray:
        """Advantages of the steps that judge the learners of a part, at one of the discounts."""
        discount = min(self.discount, (MAX_DISCOUNT, self.settings.short_discount)[place])
        return Baseline.of(self.parts[part], discount).advantages(self.parts[1 - part])

    def _models(self, part: int) -> list[TabularPOMDP]:
        learner = self._favourite(part)
        return models_to_play_in(learner.families_, learner.discount, self.parts[part], self.settings)

    def _play(self, candidate: Candidate, part: int) -> FloatArray | None:
        """Mean return of the learner of a part in every model of the other part."""
        worlds, policy = self._worlds(1 - part), self.learner(candidate, part).policy_
        self.reporter.enter(f"{candidate.name}, {('play', 'second play')[part]}", len(worlds))
        earned = []
        for mean in earned_in(worlds, policy, self.seed, self.settings):
            earned.append(mean)
            self.reporter.advance(1)
        return np.array(earned) if worlds else None


def _joined(gains: Sequence[list[FloatArray]]) -> tuple[Gain, ...]:
    """By discount, of the episodes of all directions."""
    return tuple(Gain(np.concatenate(totals)) for totals in zip(*gains, strict=True))


def judged(
    candidate: Candidate, holder: Result, comparison: Comparison
) -> tuple[Result | None, Result, Result]:
    """(who holds the place now, who held it, the challenger).

    By the first part that judges, and by both where the first leaves a doubt: who must be clearly ahead and is not
    ahead at all will not be, and who is favoured and not behind will not be clearly behind.
    """
    favoured = candidate.on_observations or (candidate.on_columns and comparison.has_numbers)
    for directions in comparison.looks:
        result, known = (comparison.result(one, directions) for one in (candidate, holder.candidate))
        if known.problem is None and result.problem is None and candidate.on_observations:
            known = replace(known, earned=comparison.earned(holder.candidate, directions))
        holder = replace(known, lead=holder.lead, over=holder.over)
        taken, result = challenged(holder, result, comparison.settings, favoured=favoured)
        if result.lead is None or (result.lead.mean >= 0.0) == favoured:
            break
    return taken, holder, result


def challenged(
    holder: Result | None, result: Result, settings: Settings, *, favoured: bool = False
) -> tuple[Result | None, Result]:
    """(who holds the place now, the result with its lead over who held it before).

    The place goes to whoever gains or earns more by so many standard errors and by a share of it that matters: who is
    ahead by less would only keep plans from being tried. It goes to one that is `favoured` unless it gains or earns
    less by as many standard errors: a plan on observations that are states, and summaries of columns where codes say
    only in which cell a number lies. Whoever was refused does not challenge, and holds no place.
    """
    if result.problem is not None:
        return holder, result
    if holder is None or holder.problem is not None:
        return result, result
    lead, gained = result.more_than(holder, settings.evidence)
    result = replace(result, lead=lead, over=holder.candidate.name)
    if favoured or result.candidate.on_observations:
        better = lead.evidence > -settings.evidence
    else:
        better = lead.evidence > settings.evidence and lead.mean > settings.share * gained
    return (result if better else holder), result
