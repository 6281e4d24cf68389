"""Ways to get better by playing: each has a policy, plays rounds with it, and learns from them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import Score
from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.learn.learner import Learner
from uqf.learn.memory.counts import Counts
from uqf.learn.plan.drawn import drawn_values
from uqf.learn.table_q import SETTINGS as TABLE
from uqf.learn.table_q import TableQ, best_return
from uqf.playing.game import Game
from uqf.playing.settings import Settings
from uqf.policies.persistent import Persistent
from uqf.policies.policy import BeliefPolicy, CompiledPolicy, ContextPolicy, ObservationPolicy


class Lineage(ABC):
    """A policy that plays rounds and is made better by them.

    score : of the last round that the policy itself played; None before the first
    rounds : how many it has played
    """

    name: str
    score: Score | None = None
    rounds: int = 0

    @abstractmethod
    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """One round of so many episodes, and what is learned from it."""

    @abstractmethod
    def finalists(self) -> dict[str, CompiledPolicy]:
        """Policies by name that stand for this lineage at the end."""

    def behind(self, best: Lineage, errors: float) -> bool:
        """Whether the last round earned less than that of `best` by so many standard errors."""
        if self.score is None or best.score is None or self is best:
            return False
        noise = float(np.hypot(self.score.stderr, best.score.stderr))
        return best.score.mean - self.score.mean > errors * noise


class Steps(Lineage):
    """Policy iteration: the advantages that a round shows are added to the values that played it.

    `data` are the episodes that `policy` (None: uniform) has played already.
    """

    def __init__(
        self,
        name: str,
        learner: ContextQ | BeliefQ,
        policy: ContextPolicy | BeliefPolicy | None,
        data: Trajectories,
    ) -> None:
        self.name, self.learner, self.policy, self.data = name, learner, policy, data
        self.best: tuple[float, CompiledPolicy | None] = (-np.inf, None)

    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """A step, then a round of the policy that it gives."""
        self.policy = self.learner.improve(self.data, self.policy, temperature)  # type: ignore[arg-type]
        self.data, self.score = game.play(self.policy, episodes, self.name)
        self.rounds += 1
        cautious = self.score.mean - self.score.stderr
        self.best = max(self.best, (cautious, self.policy), key=lambda pair: pair[0])

    def finalists(self) -> dict[str, CompiledPolicy]:
        """The policy of its best round, soft and greedy."""
        policy = self.best[1]
        return {} if policy is None else {self.name: policy, f"{self.name}, greedy": policy.greedy()}


class Fitted(Lineage):
    """What `uqf.fit` makes of the episodes so far; rounds judge it and add random play for the fit at the end."""

    def __init__(self, learner: Learner, settings: Settings) -> None:
        self.name, self.learner, self.settings = "fit", learner, settings

    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """Judged by a part of the round; the rest is random play."""
        judged = max(2, round(self.settings.judged * episodes))
        _, score = game.play(self.learner.policy_, judged, self.name)
        returns = [score.returns] if self.score is None else [self.score.returns, score.returns]
        lengths = [score.lengths] if self.score is None else [self.score.lengths, score.lengths]
        self.score = Score(np.concatenate(returns), np.concatenate(lengths))
        self.rounds += 1
        open_with(game, self.settings, episodes - judged)

    def finalists(self) -> dict[str, CompiledPolicy]:
        """As it is."""
        return {self.name: self.learner.policy_}


class Drawn(Lineage):
    """Posterior sampling where observations are states: plays the best plans of worlds that the counts allow."""

    def __init__(self, game: Game, settings: Settings) -> None:
        self.name, self.settings, self.game = "drawn plans", settings, game
        self.discount = min(game.discount, TABLE.max_discount)
        self.rng = np.random.default_rng([game.seed, 1])
        self.counts, self.hope, self.seen = Counts.of(game.parts[0]), -np.inf, 1
        self._count()

    def _count(self) -> None:
        """Counts what was played since, by whomever."""
        new = self.game.parts[self.seen :]
        for part in new:
            self.counts = self.counts.plus(Counts.of(part))
        returns = [best_return(part, self.discount) for part in (new or self.game.parts)]
        self.hope, self.seen = max(self.hope, *returns), len(self.game.parts)

    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """Draws plans and plays them; drawn anew as episodes accumulate."""
        end = game.played + min(episodes, game.left)
        while game.played < end:
            self._count()
            block = min(max(1, int(self.settings.growth * game.played)), end - game.played)
            draws = min(self.settings.draws, block)
            for draw in range(draws):
                plan = drawn_values(self.counts, self.hope, self.discount, self.rng)
                share = block // draws + (draw < block % draws)
                _, self.score = game.play(ObservationPolicy(plan), share, self.name)
        self.rounds += 1

    def finalists(self) -> dict[str, CompiledPolicy]:
        """The best plan of all that was counted."""
        return {"table": TableQ(self.game.discount).fit(self.game.data).policy_}


def open_with(game: Game, settings: Settings, episodes: int) -> list[Trajectories]:
    """Plays at random: uniformly, and repeating the last action; the episodes of every kind."""
    total, played = sum(share for _, share in settings.opening), []
    for repeat, share in settings.opening:
        policy = Persistent(repeat, game.env.n_actions, game.env.n_observations) if repeat else None
        count = round(episodes * share / total)
        kind = f"random, repeating {repeat:g}" if repeat else "random"
        played.append(game.play(policy, max(1, count), kind)[0])
    return played
