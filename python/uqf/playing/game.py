"""Where rounds are played: all episodes are kept, and every one has a number and a random stream of its own."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from uqf.episodes.concatenate import concatenate
from uqf.episodes.trajectories import Trajectories
from uqf.evaluate import Score
from uqf.playing.rounds import Round, play_blocks
from uqf.policies.policy import Policy
from uqf.reading.progress import Reporter
from uqf.reading.shards import Workers
from uqf.worlds.world import World


@dataclass
class Game:
    """The world, the episodes so far, and how many are left.

    discount : of the returns that are judged
    total : episodes of the whole game, those of an earlier one included
    """

    env: World
    discount: float
    total: int
    seed: int
    reporter: Reporter
    executor: Workers = None
    horizon: int | None = None
    threads: int | None = None
    parts: list[Trajectories] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    @property
    def played(self) -> int:
        """Episodes so far."""
        return sum(map(len, self.parts))

    @property
    def left(self) -> int:
        """Episodes that may still be played."""
        return self.total - self.played

    @property
    def data(self) -> Trajectories:
        """All episodes, with the probability of every action."""
        return concatenate(self.parts)

    def recode(self, env: World) -> None:
        """Goes on in the same world with other codes."""
        self.env, self.parts = env, [env.recoded(part) for part in self.parts]

    def play(
        self,
        policy: Policy | None,
        episodes: int,
        kind: str,
        *,
        env: World | None = None,
        epsilon: float = 0.0,
    ) -> tuple[Trajectories, Score]:
        """Plays episodes, no more than are left, and records them as a round: (the episodes, what they earned).

        `env` is the same world with other codes, which the policy knows; by default the one of the game, whose codes
        the episodes have in any case. `epsilon` is the share of uniform actions.
        """
        begin = time.perf_counter()
        data = play_blocks(
            env or self.env,
            policy,
            episodes=max(1, min(episodes, self.left)),
            first=self.played,
            threads=self.threads,
            executor=self.executor,
            horizon=self.horizon,
            epsilon=0.0 if policy is None else epsilon,
            seed=self.seed,
        )
        if env is not None and env is not self.env:
            data = self.env.recoded(data)
        score, seconds = Score(data.returns(self.discount), data.lengths), time.perf_counter() - begin
        self.parts.append(data)
        self.rounds.append(
            Round(len(self.rounds), kind, score.mean, score.stderr, epsilon, len(data), seconds)
        )
        self.reporter.advance(len(data))
        self.reporter.scored(kind, score.mean, score.stderr)
        return data, score
