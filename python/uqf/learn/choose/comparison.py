"""Learners of one part of the episodes, compared by the other part: held-out gains, and play in its models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.candidates import FAVOURITE, Candidate, Settings
from uqf.learn.choose.play import earned_in, models_to_play_in
from uqf.learn.improve.gain import MAX_DISCOUNT, Baseline, Gain, gain
from uqf.learn.learner import Learner
from uqf.policies.policy import logged_probs
from uqf.reading.progress import Reporter, within
from uqf.reading.release import give_back
from uqf.reading.shards import Workers
from uqf.types import Record
from uqf.worlds.environments import TabularPOMDP


@dataclass(frozen=True)
class Result:
    """How a candidate did on the episodes that it did not learn from."""

    candidate: Candidate
    gains: tuple[Gain, ...] = ()
    """By discount, that of the task first; none if it was refused or not considered."""
    difference: Gain | None = None
    """Of a plan: what it earned more than the favourite in every model, (models,); None if nothing was played."""
    problem: str | None = None
    """Why it was refused, or not considered."""

    def ahead_of(self, favourite: Result, place: int = 0) -> Gain:
        """What it earned more: in models if it played there, else as gains at the discount of this place."""
        if self.difference is not None:
            return self.difference
        return Gain(self.gains[place].totals - favourite.gains[place].totals)

    def as_dict(self, favourite: Result, place: int) -> Record:
        """Plain numbers, for `diagnostics_`; None where there is none."""
        found: Record = dict.fromkeys(("gain", "stderr", "difference", "evidence"))
        if self.gains:
            found |= {"gain": self.gains[place].mean, "stderr": self.gains[place].stderr}
            found["evidence"] = self.ahead_of(favourite, place).evidence
        if self.difference is not None:
            found["difference"] = self.difference.mean
        return found | {"problem": self.problem}


class Comparison:
    """Fits candidates to the first part of the episodes and judges them by the second; equal parts also change roles.

    Parts that differ in size do not: learners of a tenth of the episodes say little about learners of nine tenths.
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
        #: By candidate and part, fitted when it is first needed.
        self.learner = cache(self._fitted)
        self._probs = cache(
            lambda candidate, part: logged_probs(self.learner(candidate, part).policy_, parts[1 - part])
        )
        self._advantages = cache(self._measured)
        self._worlds = cache(self._models)
        self._earned = cache(self._played)

    def result(self, candidate: Candidate) -> Result:
        """What the candidate gains, and if it plans what it earns more than the favourite in models."""
        try:
            gains = tuple(self._gain(candidate, place) for place in range(2))
            return Result(candidate, gains, self._difference(candidate) if candidate.plans else None)
        except UQFError as problem:
            return Result(candidate, problem=str(problem))

    def states_per_observation(self) -> float:
        """States of the largest of the favourite's models, for every observation that occurs."""
        states = max(family.n_features // len(family) for family in self._favourite(0).families_)
        return states / len(np.unique(self.parts[0].observations))

    def _fitted(self, candidate: Candidate, part: int) -> Learner:
        if candidate.in_models_of is not None:
            return candidate.in_models_of(self._favourite(part))
        stage = f"{candidate.name}, {('trial', 'second trial')[part]}"
        learner = candidate.make(self.discount, self.seed).fit(
            self.parts[part], executor=self.executor, progress=within(self.reporter.callback, stage)
        )
        give_back()
        return learner

    def _favourite(self, part: int) -> BeliefQ:
        learner = self.learner(FAVOURITE, part)
        assert isinstance(learner, BeliefQ)
        return learner

    def _gain(self, candidate: Candidate, place: int) -> Gain:
        """Per held-out episode, of all directions."""
        totals = []
        for part in self.directions:
            probs, held_out = self._probs(candidate, part), self.parts[1 - part]
            totals.append(gain(probs, self._advantages(part, place), held_out).totals)
        return Gain(np.concatenate(totals))

    def _measured(self, part: int, place: int) -> FloatArray:
        """Advantages of the steps that judge the learners of a part, at one of the discounts."""
        discount = min(self.discount, (MAX_DISCOUNT, self.settings.short_discount)[place])
        return Baseline.of(self.parts[part], discount).advantages(self.parts[1 - part])

    def _models(self, part: int) -> list[TabularPOMDP]:
        return models_to_play_in(self._favourite(part), self.parts[part], self.settings)

    def _played(self, candidate: Candidate, part: int) -> FloatArray:
        """Mean return in the models of the other part, (models,)."""
        worlds, policy = self._worlds(1 - part), self.learner(candidate, part).policy_
        self.reporter.enter(f"{candidate.name}, {('play', 'second play')[part]}", len(worlds))
        earned = []
        for mean in earned_in(worlds, policy, self.seed, self.settings):
            earned.append(mean)
            self.reporter.advance(1)
        return np.array(earned)

    def _difference(self, candidate: Candidate) -> Gain | None:
        if not all(self._worlds(1 - part) for part in self.directions):
            return None
        more = [self._earned(candidate, part) - self._earned(FAVOURITE, part) for part in self.directions]
        return Gain(np.concatenate(more))
