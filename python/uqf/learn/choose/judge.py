"""Learners that are taught one half of the episodes and judged by the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from sklearn.base import clone

from uqf.episodes.checks import FloatArray
from uqf.episodes.trajectories import Trajectories
from uqf.errors import UQFError
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.belief_halves import BeliefHalves
from uqf.learn.choose.choice import HORIZONS, Tried, undecided
from uqf.learn.improve.gain import Baseline, Gain, gain
from uqf.learn.learner import Learner, Taught
from uqf.policies.policy import logged_probs
from uqf.reading.progress import Callback, Reporter, within
from uqf.reading.release import give_back
from uqf.reading.shards import Workers

#: Where somebody is ahead of models that were trained in haste on fewer steps than this, they are trained for longer,
#: and judged again.
FEW_STEPS = 10_000

#: The learner whose models chose, and go on with all episodes.
FAVOURITE = "BeliefQ"


class Judge:
    """Teaches and judges; if `crossed`, the halves change their parts where one of them does not decide.

    steps : of all data; beliefs : `BeliefQ` of either half, if it was tried so and not refused
    """

    def __init__(
        self,
        halves: tuple[Trajectories, Trajectories],
        discount: float,
        crossed: bool,
        steps: int,
        executor: Workers,
        reporter: Reporter,
    ) -> None:
        self.halves, self.discount, self.crossed, self.steps = halves, discount, crossed, steps
        self.executor, self.reporter = executor, reporter
        self.beliefs: BeliefHalves | None = None
        self._advantages = cache(self._measured)

    def all(self, learners: Sequence[tuple[str, Learner]], seconds: float | None) -> list[Tried]:
        """All learners, or the first ones: none is begun after so many seconds."""
        tried: list[Tried] = []
        for name, learner in learners:
            if tried and seconds is not None and self.reporter.seconds > seconds:
                break
            tried.append(self._first(name, self._taught(name, learner)))
        twice = {one.name for one in undecided(tried)} if self.crossed else {}
        tried = [self._again(one) if one.name in twice else one for one in tried]
        if not any(one.gains and one.name == FAVOURITE for one in tried):
            self.beliefs = None
        return tried

    def _taught(self, name: str, learner: Learner) -> Taught:
        def told(half: int) -> Callback | None:
            return within(self.reporter.callback, f"{name}, {('trial', 'second trial')[half]}")

        if self.crossed and isinstance(learner, BeliefQ):
            self.beliefs = beliefs = BeliefHalves(learner, self.halves, self.executor, told)

            def taught(half: int) -> Learner:
                beliefs.models(half)
                return beliefs.taught(half)

            return cache(taught)

        def fitted(half: int) -> Learner:
            data = self.halves[half]
            tells = told(half)
            found: Learner = clone(learner).fit(data, executor=self.executor, progress=tells)
            give_back()
            return found

        return cache(fitted)

    def _first(self, name: str, taught: Taught) -> Tried:
        """Taught by the first half and judged by the second; or why it was refused."""
        try:
            return Tried(name, taught, self._gains(taught, 0))
        except UQFError as problem:
            return Tried(name, taught, [], str(problem))

    def _again(self, one: Tried) -> Tried:
        """The other way round as well."""
        few = max(half.n_steps for half in self.halves) < FEW_STEPS
        try:
            if self.beliefs is not None and one.name == FAVOURITE and few:
                taught = self.beliefs.longer().taught
                one = Tried(one.name, taught, self._gains(taught, 0))
            more = self._gains(one.taught, 1)
        except UQFError as problem:
            return Tried(one.name, one.taught, [], str(problem))
        both = [np.concatenate([old.totals, new.totals]) for old, new in zip(one.gains, more, strict=True)]
        return replace(one, gains=[Gain(totals) for totals in both])

    def _gains(self, taught: Taught, half: int) -> list[Gain]:
        """By horizon, of the learner of one half."""
        judges = self.halves[1 - half]
        probs = logged_probs(taught(half).policy_, judges)
        return [gain(probs, self._advantages(half, horizon), judges) for horizon in HORIZONS]

    def _measured(self, half: int, horizon: float) -> FloatArray:
        """Advantages of the steps that judge the learner of one half."""
        return Baseline.of(self.halves[half], min(self.discount, horizon)).advantages(self.halves[1 - half])
