"""DeepSea, as the behaviour suite of Osband and others (2020) defines it: a reward that chance never finds."""

from __future__ import annotations

from typing import ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from uqf.types import Record


class DeepSea(gymnasium.Env[int, int]):
    """A diver on a grid of `size` × `size` cells sinks by one row a step, to the left or to the right.

    Which action is right differs from cell to cell. Right costs 0.01 / size; whoever goes right at every step earns 1
    in the last. The other episodes, all but one in 2^size of chance, earn 0 at best.
    """

    metadata: ClassVar[dict[str, list[str]]] = {"render_modes": []}

    def __init__(self, size: int = 10, mapping: int = 42) -> None:
        self.size = size
        # The last element is shown after the last step.
        self.observation_space = spaces.Discrete(size * size + 1)
        self.action_space = spaces.Discrete(2)
        self._right = np.random.RandomState(mapping).binomial(1, 0.5, (size, size))
        self._row = self._column = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[int, dict[str, object]]:
        super().reset(seed=seed)
        self._row = self._column = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, Record]:
        size, reward = self.size, 0.0
        if action == self._right[self._row, self._column]:
            reward = (self._column == size - 1) - 0.01 / size
            self._column = min(self._column + 1, size - 1)
        else:
            self._column = max(self._column - 1, 0)
        self._row += 1
        over = self._row == size
        shown = size * size if over else self._row * size + self._column
        return shown, float(reward), over, False, {}
