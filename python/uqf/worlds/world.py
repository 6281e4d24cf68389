"""What all worlds have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.checks import function, positive, probability, seed_number, whole
from uqf.episodes.trajectories import Trajectories
from uqf.policies.policy import Policy
from uqf.types import Record

#: More are slips of the finger, and would fill the memory before anyone noticed.
MAX_EPISODES, MAX_STEPS = 10**9, 10**11


class Simulation(Protocol):
    """One running episode."""

    @property
    def first(self) -> int | None:
        """What was shown before the first action, in worlds that show anything."""

    def step(self, action: int) -> tuple[int, float, bool]:
        """(observation, reward, terminated); refused once the episode has ended."""

    def choose(self, probs: NDArray[np.float64]) -> int:
        """An action drawn from these probabilities with the episode's own random stream."""

    def render(self) -> str:
        """The state as text."""


class World(ABC):
    """Finitely many actions and observations, a usual length of episodes, and a discount.

    `uqf.Environment` is compiled and played by the core; `uqf.GymnasiumWorld` is stepped in Python.
    """

    def __init__(
        self, *, name: str, horizon: int, discount: float, n_actions: int, n_observations: int
    ) -> None:
        self.name = name
        self.horizon = positive("horizon", horizon)
        self.discount = probability("discount", discount)
        self.n_actions = n_actions
        self.n_observations = n_observations

    @property
    def n_symbols(self) -> int:
        """Number of (action, observation) pairs."""
        return self.n_actions * self.n_observations

    @property
    def column_sizes(self) -> NDArray[np.int32]:
        """What the raw columns of an observation are, (d,): here one, the code."""
        return np.array([self.n_observations], np.int32)

    @property
    @abstractmethod
    def action_names(self) -> list[str]:
        """What each action is called."""

    @property
    @abstractmethod
    def observation_names(self) -> list[str]:
        """What each observation means."""

    #: Whether an episode shows an observation before its first action.
    shows_first: bool

    #: Whether codes of observations are learned, and can be learned anew by `relearned`.
    learns_codes: bool = False

    def relearned(self, data: Trajectories, *, cells: int | None = None, seed: int = 0) -> World:
        """The same world with codes learned anew from episodes that were played in it."""
        raise ValueError(f"{self.name}: observations are codes as they come, nothing is learned about them")

    def recoded(self, data: Trajectories) -> Trajectories:
        return data

    @abstractmethod
    def simulation(self, seed: int = 0, episode: int = 0) -> Simulation:
        """One running episode: `first`, ``step(action) -> (observation, reward, terminated)`` and ``render()``.

        It has the random stream of episode number `episode` of ``rollout(..., seed=seed)``.
        """

    def schedule(
        self,
        policy: Policy | None,
        episodes: int,
        horizon: int | None,
        seed: int,
        epsilon: float = 0.0,
        first: int = 0,
    ) -> Record:
        """The numbers that `play` goes by, or an error that names the argument."""
        seed_number(seed)
        sizes = getattr(policy, "column_sizes", None)
        # A policy of raw columns also knows codes: those of the codebook that it was learned with.
        knows = getattr(policy, "n_observations", None) == self.n_observations
        if sizes is not None and not knows and not np.array_equal(sizes, self.column_sizes):
            own = self.column_sizes.tolist()
            raise ValueError(
                f"policy has column_sizes = {np.asarray(sizes).tolist()}, but {self.name} has {own}"
            )
        for name in ("n_actions", "n_observations") if sizes is None else ("n_actions",):
            size = getattr(policy, name, None)
            if isinstance(size, int) and size != getattr(self, name):
                raise ValueError(f"policy has {name} = {size}, but {self.name} has {getattr(self, name)}")
        count = positive("episodes", episodes)
        if count > MAX_EPISODES:
            raise ValueError(f"episodes = {count}: give 1 to {MAX_EPISODES}")
        length = self.horizon if horizon is None else positive("horizon", horizon)
        if count * length > MAX_STEPS:
            raise ValueError(
                f"horizon = {length}: give at least 1, and at most {MAX_STEPS} steps over all episodes"
            )
        return {
            "episodes": count,
            "horizon": length,
            "seed": int(seed),
            "epsilon": probability("epsilon", epsilon),
            "first": whole("first", first),
        }

    def play(
        self,
        policy: Policy | None,
        *,
        episodes: int,
        horizon: int | None = None,
        epsilon: float = 0.0,
        seed: int = 0,
        first: int = 0,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Trajectories:
        """What `uqf.rollout` does in this world; `progress` gets the number of episodes done."""
        if progress is not None:
            function("progress", progress, "the number of episodes done")
        schedule = self.schedule(policy, episodes, horizon, seed, epsilon, first)
        return self._play(policy, schedule, threads, progress)

    @abstractmethod
    def _play(
        self,
        policy: Policy | None,
        schedule: Record,
        threads: int | None,
        progress: Callable[[int], object] | None,
    ) -> Trajectories:
        """`play` by numbers that are checked."""

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}, {self.n_actions} actions, "
            f"{self.n_observations} observations, horizon {self.horizon}, discount {self.discount:g})"
        )
