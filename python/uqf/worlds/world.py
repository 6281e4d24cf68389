"""What all worlds have in common."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import Any

from uqf.data.trajectories import Trajectories


class World(ABC):
    """Finitely many actions and observations, a usual length of episodes, and a discount.

    `uqf.Environment` is compiled and played by the core; `uqf.GymnasiumWorld` is a `PlayedWorld`.
    """

    def __init__(
        self, *, name: str, horizon: int, discount: float, n_actions: int, n_observations: int
    ) -> None:
        if operator.index(horizon) < 1:
            raise ValueError(f"horizon = {horizon}: give at least one step")
        if not 0.0 <= discount <= 1.0:
            raise ValueError(f"discount = {discount}: give a number in [0, 1]")
        self.name = name
        self.horizon = operator.index(horizon)
        self.discount = float(discount)
        self.n_actions = n_actions
        self.n_observations = n_observations

    @property
    def n_symbols(self) -> int:
        """Number of (action, observation) pairs."""
        return self.n_actions * self.n_observations

    @property
    @abstractmethod
    def action_names(self) -> list[str]:
        """What each action is called."""

    @property
    @abstractmethod
    def observation_names(self) -> list[str]:
        """What each observation means."""

    @abstractmethod
    def simulation(self, seed: int = 0, episode: int = 0) -> Any:
        """One running episode: ``step(action) -> (observation, reward, terminated)`` and ``render()``.

        It has the random stream of episode number `episode` of ``rollout(..., seed=seed)``.
        """

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}, {self.n_actions} actions, "
            f"{self.n_observations} observations, horizon {self.horizon}, discount {self.discount:g})"
        )


class PlayedWorld(World):
    """A world that plays episodes itself, in Python."""

    @abstractmethod
    def play(
        self,
        policy: Any,
        *,
        episodes: int,
        horizon: int,
        epsilon: float,
        seed: int,
        first: int = 0,
        progress: Any = None,
    ) -> Trajectories:
        """What `uqf.rollout` does in this world."""
