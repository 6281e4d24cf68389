"""
The compiled core: worlds, episodes of compiled policies, and checks on trajectories.

The package wraps what users call; come here for the contract of the raw calls. Arrays are C-contiguous and
have exactly the stated dtype. Long calls release the interpreter, hear Ctrl-C and call ``progress(done)``
about twenty times a second. Errors are `ValueError` naming the argument; a `RuntimeError` is a bug.
"""

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Pomcp",
    "PomcpState",
    "Simulation",
    "TablePolicy",
    "World",
    "returns",
    "rollout",
    "take_episodes",
    "validate",
]

_Integers: TypeAlias = NDArray[np.int32]
_Offsets: TypeAlias = NDArray[np.int64]
_Floats: TypeAlias = NDArray[np.float64]
_Booleans: TypeAlias = NDArray[np.bool_]

#: (actions, observations, rewards, behavior_probs, offsets, terminated)
_Recorded: TypeAlias = tuple[_Integers, _Integers, _Floats, _Floats, _Offsets, _Booleans]

class _Data(Protocol):
    """What the core reads of a data set: `uqf.Trajectories`, or anything with the same arrays."""

    actions: _Integers
    observations: _Integers
    rewards: _Floats
    offsets: _Offsets
    behavior_probs: _Floats | None
    n_actions: int
    n_observations: int

# --- trajectories ----------------------------------------------------------------------------------------

def validate(data: _Data) -> None:
    """Raises ValueError naming the first episode and step that cannot be."""

def take_episodes(data: _Data, terminated: _Booleans, episodes: _Offsets) -> _Recorded:
    """
    The arrays of the chosen episodes, copied in the order given.

    `behavior_probs` comes back empty if the data have none.
    """

# --- worlds ----------------------------------------------------------------------------------------------

@final
class World:
    """A simulated world; stateless, shared by any number of episodes and threads."""

    @staticmethod
    def tiger() -> World:
        """Two doors, one tiger."""

    @staticmethod
    def gridworld(variant: str) -> World:
        """A grid world: "near", "mid", "far" (one map, three starts) or "hamilton"."""

    @staticmethod
    def pocman(maze: str) -> World:
        """PocMan of Silver and Veness in the "full", "mini" or "micro" maze."""

    @staticmethod
    def spocman(ghosts: str) -> World:
        """S-PocMan of Hamilton et al. with "published" or "chasing" ghosts."""

    @staticmethod
    def tabular(
        transitions: _Floats,
        observations: _Floats,
        rewards: _Floats,
        start: _Floats,
        terminal: _Booleans,
        action_names: list[str],
        observation_names: list[str],
        state_names: list[str],
    ) -> World:
        """
        A finite POMDP: (A, S, S), (A, S, O), (A, S) or (A, S, S) or (A, S, S, O), (S,), (S,).

        An empty list of names numbers the things instead.
        """

    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def action_names(self) -> list[str]:
        """What each action is called."""

    @property
    def observation_names(self) -> list[str]:
        """What each observation means."""

    def model(self) -> dict[str, Any] | None:
        """The arrays of a small world by name, or None if it has too many states to write down."""

    def simulation(self, seed: int, episode: int = 0) -> Simulation:
        """Episode number `episode` of a rollout with this seed, to be stepped by hand."""

@final
class Simulation:
    """One running episode."""

    def step(self, action: int) -> tuple[int, float, bool]:
        """(observation, reward, terminated); refused once the episode has ended."""

    def choose(self, probs: _Floats) -> int:
        """
        An action drawn from these probabilities with the episode's own luck for policies, as `rollout` would.

        The probabilities must sum to one; that is not checked here.
        """

    def render(self) -> str:
        """The state as text."""

# --- compiled policies -----------------------------------------------------------------------------------

@final
class TablePolicy:
    """
    Action probabilities by last symbol.

    ``probs[symbol, action]`` has one row per symbol ``action * n_observations + observation`` and a last row
    for the start of an episode: shape (n_actions * n_observations + 1, n_actions).
    """

    def __new__(cls, probs: _Floats, n_observations: int) -> TablePolicy: ...
    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    def initial_state(self) -> int:
        """The state before the first step: the number of symbols."""

    def action_probs(self, state: int) -> list[float]:
        """Probability of every action in a state."""

    def update(self, state: int, action: int, observation: int) -> int:
        """The state after one more step: the symbol of `action` and `observation`."""

@final
class PomcpState:
    """Belief and finished search at one step of an episode; made and read by `Pomcp`."""

    @property
    def n_particles(self) -> int:
        """Size of the particle belief; 0 once the episode should have ended in every particle."""

    @property
    def simulated_steps(self) -> int:
        """Steps simulated since the episode began."""

class Pomcp:
    """Online planning by particle filter and UCT; `uqf.baselines.POMCP` is the class to use."""

    def __new__(
        cls,
        world: World,
        *,
        simulations: int,
        particles: int,
        rollouts: str,
        exploration: float | None,
        discount: float,
        horizon: int,
        seed: int,
    ) -> Self: ...
    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def exploration(self) -> float:
        """The constant of UCB1 in use."""

    def initial_state(self) -> PomcpState:
        """Belief and search at the start of an episode; always the same for the same seed."""

    def update(self, state: PomcpState, action: int, observation: int) -> PomcpState:
        """Belief and search after one more step; `state` is left as it was."""

    def action_probs(self, state: PomcpState) -> list[float]:
        """One on the best action; all alike if the belief was lost."""

    def action(self, state: PomcpState, rng: object = None) -> int:
        """The best action; the first if the belief was lost. Nothing is drawn from `rng`."""

    def q_values(self, state: PomcpState) -> list[float]:
        """Mean simulated return after each action; minus infinity for actions that were not tried."""

# --- episodes of compiled policies -----------------------------------------------------------------------

def rollout(
    world: World,
    policy: TablePolicy | Pomcp | None,
    *,
    episodes: int,
    horizon: int,
    epsilon: float,
    seed: int,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> _Recorded:
    """Recorded episodes: (actions, observations, rewards, behavior_probs, offsets, terminated)."""

def returns(
    world: World,
    policy: TablePolicy | Pomcp | None,
    *,
    episodes: int,
    horizon: int,
    discount: float,
    seed: int,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[_Floats, _Offsets]:
    """(discounted returns, lengths), one entry per episode."""
