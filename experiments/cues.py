"""Small worlds of Gymnasium in which what `reset` shows decides everything."""

from __future__ import annotations

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Discrete

Stepped = tuple[np.int64, float, bool, bool, dict[str, object]]


class Cue(Env[np.int64, np.int64]):
    """Four cues, then noise: repeating the cue of `reset` as an action earns .1 in each of ten steps."""

    STEPS = 10

    def __init__(self) -> None:
        self.action_space = self.observation_space = Discrete(4)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.int64, dict[str, object]]:
        super().reset(seed=seed)
        self.cue, self.place = self.np_random.integers(4), 0
        return self.cue, {}

    def step(self, action: np.int64) -> Stepped:
        self.place += 1
        return self.np_random.integers(4), 0.1 * bool(action == self.cue), self.place == self.STEPS, False, {}


class TMaze(Env[np.int64, np.int64]):
    """A corridor of look-alike cells between the cue, up or down, and a junction, where it must be followed.

    Actions: forward, up, down. Observations: the cue (two), corridor, junction. A step costs .02; at the junction the
    side of the cue earns 1 and the other −.5. The optimum is 1 − .02 · length.
    """

    def __init__(self, length: int) -> None:
        if length < 1:
            raise ValueError(f"length = {length}: the corridor of a T-maze has at least one cell")
        self.length = length
        self.action_space, self.observation_space = Discrete(3), Discrete(4)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.int64, dict[str, object]]:
        super().reset(seed=seed)
        self.cue, self.place = self.np_random.integers(2), 0
        return self.cue, {}

    def step(self, action: np.int64) -> Stepped:
        """Goes on, or turns at the junction, which ends the episode."""
        if self.place == self.length and action > 0:
            return np.int64(3), 1.0 if action - 1 == self.cue else -0.5, True, False, {}
        self.place += bool(self.place < self.length and action == 0)
        return np.int64(3 if self.place == self.length else 2), -0.02, False, False, {}
