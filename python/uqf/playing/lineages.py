"""Ways to get better by playing: each has a policy, plays rounds with it, and learns from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import Score
from uqf.learn.belief_q import BeliefQ
from uqf.learn.choose.candidates import PLANNER, TRIAL_PLANNER, Candidate
from uqf.learn.choose.fit import chosen_learner
from uqf.learn.context_q import ContextQ
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
    """A policy; the world with the codes that it knows if they are not those of the game; whether it was learned from
    all episodes, and so goes before a policy that was learned in the same way from fewer.
    """

    policy: CompiledPolicy
    env: World | None = None
    of_all: bool = False


def soft_and_greedy(
    name: str, policy: CompiledPolicy, env: World | None = None, *, of_all: bool = False
) -> dict[str, Finalist]:
    """A policy as it is, and as it acts without chance."""
    return {name: Finalist(policy, env, of_all), f"{name}, greedy": Finalist(policy.greedy(), env, of_all)}


class Lineage(ABC):
    """A policy that plays rounds and is made better by them.

    curve : what its policy earned, round by round; a policy that does not change has one round
    learns : whether its policy changes
    size : of its rounds, in rounds of the others
    best : the highest score of a round, a standard error taken off, and its policy
    """

    name: str
    learns = True
    size: float = 1.0

    def __init__(self) -> None:
        self.curve: list[Score] = []
        self.best: tuple[Score, CompiledPolicy | None] | None = None

    @property
    def earned(self) -> float:
        """The mean of its best round."""
        return -np.inf if self.best is None else self.best[0].mean

    @abstractmethod
    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """One round of so many episodes, and what is learned from it."""

    @abstractmethod
    def finalists(self) -> dict[str, Finalist]:
        """Policies by name that stand for this lineage at the end."""

    def keep(self, policy: CompiledPolicy | None, score: Score) -> None:
        """A round of the policy is over."""
        self.curve.append(score)
        if self.best is None or score.mean - score.stderr >= self.best[0].mean - self.best[0].stderr:
            self.best = score, policy

    def growth(self) -> float:
        """What a round added to the return in the second half of the curve; no bound is known after a single round."""
        last = len(self.curve) - 1
        if last < 1:
            return np.inf if self.learns else 0.0
        return max(0.0, (self.curve[last].mean - self.curve[last // 2].mean) / (last - last // 2))

    def behind(self, leader: Lineage, errors: float, rounds: float) -> bool:
        """Whether it is so many standard errors behind what `leader` earns, and would be after so many more rounds that
        add as much as the last ones did: learning slows down, so that none adds more.
        """
        if self.best is None or leader.best is None or self is leader:
            return False
        mine, other = self.best[0], leader.best[0]
        gap = other.mean - mine.mean - errors * float(np.hypot(mine.stderr, other.stderr))
        return gap > max(1e-9 * abs(other.mean), self.growth() * rounds if rounds > 0.0 else 0.0)


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
        super().__init__()
        self.name, self.learner, self.policy, self.data = name, learner, policy, data

    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """A step, then a round of the policy that it gives."""
        if self.data is not None:
            if not self.curve:
                self.curve.append(Score(self.data.returns(game.discount), self.data.lengths))
            self.policy = self.learner.improve(self.data, self.policy, temperature)  # type: ignore[arg-type]
        self.data, score = game.play(self.policy, episodes, self.name)
        self.keep(self.policy, score)

    def finalists(self) -> dict[str, Finalist]:
        """The policy of its best round, soft and greedy."""
        return {} if self.best is None or self.best[1] is None else soft_and_greedy(self.name, self.best[1])


class Learned(Lineage):
    """Learns a policy of all episodes, by whomever, and anew as they accumulate. A part of a round judges it, the rest
    plays it with a share of uniform actions, so that what is learned next knows where it was wrong.
    """

    def __init__(self, name: str, game: Game, settings: Settings) -> None:
        super().__init__()
        self.name, self.settings, self.game = name, settings, game
        self.policy, self.known = self.learned(), game.played

    @abstractmethod
    def learned(self) -> CompiledPolicy:
        """A policy, learned from all episodes so far."""

    def play(self, game: Game, episodes: int, temperature: float) -> None:
        """Learns anew if there is much to learn from, and plays."""
        settings = self.settings
        if game.played >= settings.relearning * self.known:
            self.policy, self.known = self.learned(), game.played
        judged = max(1, round(settings.judged * episodes / self.size))
        self.keep(self.policy, game.play(self.policy, judged, self.name)[1])
        if episodes > judged:
            game.play(self.policy, episodes - judged, f"{self.name}, exploring", epsilon=settings.epsilon)

    def finalists(self) -> dict[str, Finalist]:
        """The policy of the best round."""
        best = self.policy if self.best is None else self.best[1] or self.policy
        return {self.name: Finalist(best)}


class Fitted(Learned):
    """The learner that held-out episodes prefer. One round judges it; it plays others only where it leads."""

    learns = False

    def __init__(self, game: Game, settings: Settings) -> None:
        super().__init__("fit", game, settings)

    def learned(self) -> CompiledPolicy:
        """What `uqf.fit` makes of all episodes, without plans in models."""
        return fitted(self.game, self.game.env)


def fitted(game: Game, env: World) -> CompiledPolicy:
    """What `uqf.fit` makes of all episodes with the codes of `env`, without plans in models: these are played."""
    data = env.recoded(game.data)
    return chosen_learner(data, game.discount, game.seed, plans=False).policy_


class Planned(Learned):
    """Plans in hidden Markov models. Models need no probabilities of actions: they learn from the episodes of any
    policy.
    """

    def __init__(self, game: Game, settings: Settings) -> None:
        super().__init__("plans", game, settings)
        self.size = settings.planned

    def learned(self, planner: Candidate = TRIAL_PLANNER) -> CompiledPolicy:
        """A plan in models of a sample of all episodes: as many steps as `planner` trains on."""
        game, data = self.game, self.game.data
        order = np.random.default_rng([game.seed, len(data)]).permutation(len(data))
        return planner.make(game.discount, game.seed).fit(data[order]).policy_

    def finalists(self) -> dict[str, Finalist]:
        """The plan of the best round, and one in better models of all episodes."""
        return super().finalists() | {"plan of all": Finalist(self.learned(PLANNER), of_all=True)}


class Drawn(Lineage):
    """Posterior sampling where observations are states: plays the best plans of worlds that the counts allow.

    Drawn plans explore. With rivals to be compared with, a part of every round is played by the plan that is acted on
    in the end. Where observations are numbers they are cut into cells of its own, many more than other lineages could
    learn about, and anew as play reaches new places.
    """

    judged = False
    """Whether its plan is judged in every round, beside rivals."""

    def __init__(self, game: Game, settings: Settings) -> None:
        super().__init__()
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
            plan = self._plan()
            self.keep(plan, game.play(plan, judged, "table", env=self.env)[1])
        while game.played < end:
            self._count()
            block = min(max(1, int(self.settings.growth * game.played)), end - game.played)
            draws = min(self.settings.draws, block)
            for draw in range(draws):
                values = drawn_values(self.counts, self.hopes.hope, self.discount, self.rng)
                share = block // draws + (draw < block % draws)
                game.play(ObservationPolicy(values), share, self.name, env=self.env)

    def _plan(self) -> CompiledPolicy:
        return TableQ(self.game.discount).fit(self.env.recoded(self.game.data)).policy_

    def finalists(self) -> dict[str, Finalist]:
        """The best plan of all that was counted."""
        if self.game.env.learns_codes:
            self._begin()
        return {"table": Finalist(self._plan(), self.env)}


def random_play(game: Game, settings: Settings, episodes: int) -> list[Trajectories]:
    """Plays as many episodes of every persistence: they are given back in the order of the settings."""
    played = []
    for k, repeat in enumerate(settings.repeats):
        kind = f"random, repeating {repeat:g}" if repeat else "random"
        count = len(range(k, episodes, len(settings.repeats)))
        played.append(game.play(persistent(game, repeat), max(1, count), kind)[0])
    return played


def persistent(game: Game, repeat: float) -> ContextPolicy | None:
    """The policy of random play; None is the uniform one."""
    return Persistent(repeat, game.env.n_actions, game.env.n_observations) if repeat else None
