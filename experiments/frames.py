"""Observations as they come, the last ones side by side, and rivals who act on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from gymnasium.spaces.utils import flatten
from numpy.typing import NDArray

from experiments.rival_settings import Setting
from experiments.worlds import Trial
from uqf.episodes.checks import FloatArray
from uqf.paper.contest import SCORING_SEEDS
from uqf.types import Raw
from uqf.worlds.gymnasium.envs import Env, begun, made, stepped
from uqf.worlds.gymnasium.spaces import Space
from uqf.worlds.gymnasium.world import GymnasiumWorld

#: Episodes that are played side by side.
COPIES = 32

Chooser = Callable[[FloatArray, NDArray[np.bool_]], NDArray[np.int64]]


@dataclass(frozen=True)
class Frames:
    """The newest observation and others of its episode, each with the action before it, as one row of numbers.

    The others are those before it, the newest first; with `from_start` the first of the episode, in order of time.
    Where what is seen is the state, `acted` may be false: the actions before are left out.
    """

    space: Space
    n_actions: int
    count: int
    mean: FloatArray
    spread: FloatArray
    from_start: bool = False
    acted: bool = True

    @classmethod
    def of(cls, space: Space, n_actions: int, seen: Sequence[Raw], setting: Setting) -> Frames:
        """Standardises the numbers of a log; what is only 0 or 1 stays as it is."""
        rows = _flat(space, seen)
        plain = np.isin(rows, (0.0, 1.0)).all(axis=0)
        spread = np.where(plain | (rows.std(axis=0) < 1e-9), 1.0, rows.std(axis=0))
        mean = np.where(plain, 0.0, rows.mean(axis=0))
        return cls(space, n_actions, setting.frames, mean, spread, setting.from_start, setting.acted)

    @property
    def width(self) -> int:
        return len(self.mean) + self.n_actions * self.acted

    def frames(self, seen: Sequence[Raw], actions: NDArray[np.int64]) -> FloatArray:
        """(n, width): observations and the actions before them; -1 is none."""
        taken = np.eye(self.n_actions + 1)[actions][:, : self.n_actions * self.acted]
        return np.hstack([(_flat(self.space, seen) - self.mean) / self.spread, taken])

    def episode(self, seen: Sequence[Raw], actions: Sequence[int]) -> FloatArray:
        """The row before every action of an episode, whose observations begin with what `reset` shows."""
        one = self.frames(seen[: len(actions)], np.array([-1, *actions[:-1]]))
        rows = np.zeros((len(one), self.count, self.width))
        rows[:, 0] = one
        for place in range(1, min(self.count, len(one))):
            rows[place:, place] = one[place - 1] if self.from_start else one[: len(one) - place]
        return rows.reshape(len(one), -1)

    def pushed(
        self, rows: FloatArray, seen: Sequence[Raw], actions: NDArray[np.int64], step: int
    ) -> FloatArray:
        """Rows after this many steps, from the rows before the last of them."""
        newest, width = self.frames(seen, actions), self.width
        if not self.from_start:
            return np.hstack([newest, rows[:, :-width]])
        kept = rows.copy()
        if 0 < step < self.count:
            kept[:, step * width : (step + 1) * width] = rows[:, :width]
        kept[:, :width] = newest
        return kept


def _flat(space: Space, seen: Sequence[Raw]) -> FloatArray:
    return np.array([flatten(space, one) for one in seen], np.float64).reshape(len(seen), -1)


@dataclass(frozen=True)
class Rival:
    """Somebody who acts on rows of frames."""

    frames: Frames
    choose: Chooser

    def score_in(self, trial: Trial) -> float:
        """Mean return in the episodes that `trial.score` plays."""
        world, returns = trial.world, list[float]()
        assert world.source is not None and isinstance(trial.env, GymnasiumWorld)
        envs = [made(world.source) for _ in range(min(COPIES, world.scored))]
        for first in range(0, world.scored, len(envs)):
            returns += self._together(
                envs[: world.scored - first],
                first,
                SCORING_SEEDS + trial.seed,
                trial.env.horizon,
                trial.env.actions,
            )
        return float(np.mean(returns))

    def _together(
        self, envs: Sequence[Env], first: int, seed: int, steps: int, actions: list[Raw]
    ) -> list[float]:
        """Returns of numbered episodes, one in each environment."""
        seen = [begun(env, seed, first + place)[0] for place, env in enumerate(envs)]
        rows = np.zeros((len(envs), self.frames.count * self.frames.width))
        rows = self.frames.pushed(rows, seen, np.full(len(envs), -1), 0)
        returns, over = np.zeros(len(envs)), np.zeros(len(envs), np.bool_)
        for step in range(steps):
            chosen = self.choose(rows, np.full(len(envs), step == 0))
            for place in np.flatnonzero(~over).tolist():
                seen[place], reward, ended, cut, _ = stepped(envs[place], actions[chosen[place]])
                returns[place] += reward
                over[place] = ended or cut
            if over.all():
                break
            rows = self.frames.pushed(rows, seen, chosen, step + 1)
        return returns.tolist()
