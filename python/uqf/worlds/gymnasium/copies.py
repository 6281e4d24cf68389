"""Episodes in several copies of a world that is stepped in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from uqf.policies.batches import Batch, batch
from uqf.policies.policy import Policy
from uqf.types import Memory, Raw


class Steppable(Protocol):
    """Copies of a world, by number."""

    n_actions: int
    shows_first: bool
    """Whether an episode shows something before its first action."""

    def begin(self, copy: int, seed: int, episode: int) -> Raw:
        """Resets a copy to a numbered episode; gives what it shows."""

    def step(self, copy: int, action: int) -> tuple[Raw, float, bool, bool]:
        """(observation, reward, terminated, truncated)"""

    def encode(self, observations: Sequence[Raw]) -> NDArray[np.int64]:
        """Codes of several observations, (n,)."""


@dataclass
class Played:
    """One episode; `codes` stays empty where chance acted, `observations` where only codes are kept."""

    number: int
    first: Raw
    rng: np.random.Generator = field(repr=False)
    actions: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    observations: list[Raw] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    probs: list[float] = field(default_factory=list)
    terminated: bool = False
    over: bool = False

    def take(
        self,
        world: Steppable,
        copy: int,
        probs: NDArray[np.float64],
        below: NDArray[np.float64],
        horizon: int,
    ) -> Memory:
        """One step: draws an action by the running sums of its probabilities, and gives what was seen."""
        # The last sum may miss 1 by a rounding error, and the draw must not fall beyond it.
        action = int(below.searchsorted(self.rng.random() * below[-1], side="right"))
        seen, reward, self.terminated, truncated = world.step(copy, action)
        self.actions.append(action)
        self.rewards.append(float(reward))
        self.probs.append(float(probs[action]))
        self.over = self.terminated or truncated or len(self.actions) == horizon
        return seen


def play(
    world: Steppable,
    policy: Policy | None,
    episodes: range,
    *,
    copies: int,
    horizon: int,
    epsilon: float,
    seed: int,
    keep: bool = False,
) -> Iterator[Played]:
    """Numbered episodes as they end; a policy of None acts uniformly.

    Every episode has random numbers of its own: the number of copies does not change what happens. What was seen is
    kept as it came with `keep`, and where the policy is None.
    """
    copies = min(copies, len(episodes))
    acting = None if policy is None else batch(policy, copies, n_actions=world.n_actions, seed=seed)
    waiting, playing = iter(episodes), dict[int, Played]()
    _begin(world, range(copies), waiting, playing, acting, seed)
    probs = np.full((copies, world.n_actions), 1.0 / world.n_actions)
    while playing:
        if acting is not None:
            probs = (1.0 - epsilon) * acting.action_probs() + epsilon / world.n_actions
        below = probs.cumsum(axis=1)
        seen = [
            episode.take(world, copy, probs[copy], below[copy], horizon) for copy, episode in playing.items()
        ]
        if acting is None or keep:
            for episode, observation in zip(playing.values(), seen, strict=True):
                episode.observations.append(observation)
        if acting is not None:
            actions, codes = np.zeros((2, copies), np.int64)
            places = list(playing)
            codes[places] = world.encode(seen)
            actions[places] = [episode.actions[-1] for episode in playing.values()]
            for copy, episode in playing.items():
                episode.codes.append(int(codes[copy]))
            acting.update(actions, codes)
        free = [copy for copy, episode in playing.items() if episode.over]
        yield from [playing.pop(copy) for copy in free]
        _begin(world, free, waiting, playing, acting, seed)


def _begin(
    world: Steppable,
    free: Sequence[int],
    waiting: Iterator[int],
    playing: dict[int, Played],
    acting: Batch | None,
    seed: int,
) -> None:
    """Starts waiting episodes in the copies that are free."""
    # The copies come first: `zip` takes from them before it finds that no episode waits.
    begun = list(zip(free, waiting, strict=False))
    for copy, number in begun:
        playing[copy] = Played(number, world.begin(copy, seed, number), np.random.default_rng([seed, number]))
    if acting is None or not begun:
        return
    places = [copy for copy, _ in begun]
    starts, first = np.zeros(len(acting), np.bool_), np.zeros(len(acting), np.int64)
    starts[places] = True
    if world.shows_first:
        first[places] = world.encode([playing[copy].first for copy in places])
    acting.reset(starts, first if world.shows_first else None)
