"""Ways to get better by playing: each has a policy, plays rounds with it, and learns from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import Score
from uqf.learn.belief_q import BeliefQ
from uqf.learn.context_q import ContextQ
from uqf.learn.learner import Learner
from uqf.learn.memory.counts import Counts
from uqf.learn.plan.drawn import Hopes, drawn_values
from uqf.learn.table_q import SETTINGS as TABLE
from uqf.learn.table_q import TableQ
from uqf.playing.game import Game
from uqf.playing.settings import Settings
from uqf.policies.persistent import Persistent
from uqf.policies.policy import BeliefPolicy, CompiledPolicy, ContextPolicy, ObservationPolicy
from uqf.worlds.world import World


class Finalist(NamedTuple):
    """A policy, and the world with the codes that it knows if they are not those of the game."""

    policy: CompiledPolicy
    env: World | None = None


def soft_and_greedy(name: str, policy: CompiledPolicy, env: World | None = None) -> dict[str, Finalist]:
    """A policy as it is, and as it acts without chance."""
    return {name: Finalist(policy, env), f"{name}, greedy": Finalist(policy.greedy(), env)}


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
    def finalists(self) -> dict[str, Finalist]:
        """Policies by name that stand for this lineage at the end."""

    def behind(self, best: Lineage, errors: float) -> bool:
        """Whether the last round earned less than that of `best` by so many standard errors."""
        if self.score is None or best.score is None or self is best:
            return False
        noise = float(np.hypot(self.score.stderr, best.score.stderr))
        rounding = 1e-9 * abs(best.score.mean)
        return best.score.mean - self.score.mean > errors * noise + rounding


class Steps(Lineage):
    """Policy iteration: the advantages that a round shows are added to the values that played it.

    `data` are the last episodes of `policy` (None: uniform); without any it plays a round first.
    """

    def __init__(
        self,
        name: str,
        learner: ContextQ | BeliefQ,
        policy: ContextPolicy | BeliefPolicy | None,
        data: Trajectories | None,
    ) -> None:
        self.name, self.learner, self.policy, self.data = name, learner, policy, data
        self.best: tuple[float, CompiledPolicy | None] = (-np.inf, None)

    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """A step, then a round of the policy that it gives."""
        if self.data is not None:
            self.policy = self.learner.improve(self.data, self.policy, temperature)  # type: ignore[arg-type]
        self.data, self.score = game.play(self.policy, episodes, self.name)
        self.rounds += 1
        cautious = self.score.mean - self.score.stderr
        self.best = max(self.best, (cautious, self.policy), key=lambda pair: pair[0])

    def finalists(self) -> dict[str, Finalist]:
        """The policy of its best round, soft and greedy."""
        return {} if self.best[1] is None else soft_and_greedy(self.name, self.best[1])


class Fitted(Lineage):
    """What `uqf.fit` makes of the opening. Its policy stays the same: while it may not be given up, a part of every
    round judges it; all other episodes are random play for the fit at the end.
    """

    def __init__(self, learner: Learner, settings: Settings) -> None:
        self.name, self.learner, self.settings = "fit", learner, settings

    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """Judged by a part of the first rounds; the rest is random play."""
        judged = 0
        if self.rounds < self.settings.protected:
            judged = max(1, round(self.settings.judged * episodes))
            score = game.play(self.learner.policy_, judged, self.name)[1]
            self.score = score if self.score is None else self.score.plus(score)
        self.rounds += 1
        if episodes > judged:
            random_play(game, self.settings, episodes - judged)

    def finalists(self) -> dict[str, Finalist]:
        """As it is."""
        return {self.name: Finalist(self.learner.policy_)}


class Drawn(Lineage):
    """Posterior sampling where observations are states: plays the best plans of worlds that the counts allow.

    Drawn plans explore. With rivals to be compared with, a part of every round is played by the plan that is acted on
    in the end. Where observations are numbers they are cut into cells of its own, many more than other lineages could
    learn about, and anew as play reaches new places.
    """

    judged = False
    """Whether its plan is judged in every round, beside rivals."""

    def __init__(self, game: Game, settings: Settings) -> None:
        self.name, self.settings, self.game = "drawn plans", settings, game
        self.discount = min(game.discount, TABLE.max_discount)
        self.rng = np.random.default_rng([game.seed, game.played])
        self._begin()

    def _begin(self) -> None:
        """Counts all episodes, in new cells where there are any."""
        game, data = self.game, self.game.data
        self.env, self.seen, self.steps = game.env, len(game.parts), data.n_steps
        if game.env.learns_codes:
            self.env = game.env.relearned(data, cells=self.settings.max_cells, seed=game.seed)
        data = self.env.recoded(data)
        self.counts, self.hopes = Counts.of(data), Hopes.of(data, self.discount)

    def _count(self) -> None:
        """Counts what was played since, by whomever."""
        new = self.game.parts[self.seen :]
        steps = self.steps + sum(part.n_steps for part in new)
        if self.game.env.learns_codes and steps > self.settings.relearned * self.steps:
            self._begin()
            return
        for part in new:
            self.counts = self.counts.plus(Counts.of(self.env.recoded(part)))
            self.hopes = self.hopes.plus(Hopes.of(part, self.discount))
        self.seen = len(self.game.parts)

    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """Draws plans and plays them; drawn anew as episodes accumulate."""
        end = game.played + min(episodes, game.left)
        if self.judged:
            self._count()
            judged = max(1, round(self.settings.judged * episodes))
            self.score = game.play(self._plan(), judged, "table", self.env)[1]
        while game.played < end:
            self._count()
            block = min(max(1, int(self.settings.growth * game.played)), end - game.played)
            draws = min(self.settings.draws, block)
            for draw in range(draws):
                values = drawn_values(self.counts, self.hopes.hope, self.discount, self.rng)
                share = block // draws + (draw < block % draws)
                game.play(ObservationPolicy(values), share, self.name, self.env)
        self.rounds += 1

    def _plan(self) -> CompiledPolicy:
        return TableQ(self.game.discount).fit(self.env.recoded(self.game.data)).policy_

    def finalists(self) -> dict[str, Finalist]:
        """The best plan of all that was counted."""
        if self.game.env.learns_codes:
            self._begin()
        return {"table": Finalist(self._plan(), self.env)}


def random_play(game: Game, settings: Settings, episodes: int) -> list[Trajectories]:
    """Plays uniformly, and repeating the last action: the episodes of every kind, in the order of the settings."""
    total, played = sum(share for _, share in settings.opening), []
    for repeat, share in settings.opening:
        count = max(1, round(episodes * share / total))
        kind = f"random, repeating {repeat:g}" if repeat else "random"
        played.append(game.play(persistent(game, repeat), count, kind)[0])
    return played


def persistent(game: Game, repeat: float) -> ContextPolicy | None:
    """The policy of random play; None is the uniform one."""
    return Persistent(repeat, game.env.n_actions, game.env.n_observations) if repeat else None
