"""Episodes in several copies of a world that is stepped in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from uqf.policies.batches import Batch, batch, batch_probs
from uqf.policies.masks import uniform
from uqf.policies.policy import Policy, wants_columns
from uqf.types import AnyArray, Memory, Raw

if TYPE_CHECKING:
    from uqf.worlds.gymnasium.world import GymnasiumWorld

Mask = NDArray[np.bool_] | None


@dataclass
class Played:
    """One episode; `codes` stays empty where chance acted, `observations` where only codes are kept."""

    number: int
    first: Raw
    mask: Mask
    """The actions that may be taken next; None for all."""
    rng: np.random.Generator = field(repr=False)
    actions: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    observations: list[Raw] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    probs: list[float] = field(default_factory=list)
    allowed: list[Mask] = field(default_factory=list)
    terminated: bool = False
    over: bool = False

    def take(
        self,
        world: GymnasiumWorld,
        copy: int,
        probs: NDArray[np.float64],
        below: NDArray[np.float64],
        horizon: int,
    ) -> Memory:
        """One step: draws an action by the running sums of its probabilities, and gives what was seen."""
        # The last sum may miss 1 by a rounding error, and the draw must not fall beyond it.
        action = int(below.searchsorted(self.rng.random() * below[-1], side="right"))
        self.allowed.append(self.mask)
        seen, reward, self.terminated, truncated, self.mask = world.step(copy, action)
        self.actions.append(action)
        self.rewards.append(float(reward))
        self.probs.append(float(probs[action]))
        self.over = self.terminated or truncated or len(self.actions) == horizon
        return seen


def play(
    world: GymnasiumWorld,
    policy: Policy | None,
    episodes: range,
    *,
    copies: int,
    horizon: int,
    epsilon: float,
    seed: int,
    keep: bool = False,
) -> Iterator[Played]:
    """Numbered episodes as they end; a policy of None acts uniformly. Nobody takes an action that is not allowed.

    Every episode has random numbers of its own: the number of copies does not change what happens. What was seen is
    kept as it came with `keep`, and where the policy is None.
    """
    copies = min(copies, len(episodes))
    acting = None if policy is None else batch(policy, copies, n_actions=world.n_actions, seed=seed)
    shown = world.raw_columns if wants_columns(policy) else world.encode
    waiting, playing = iter(episodes), dict[int, Played]()
    _begin(world, range(copies), waiting, playing, acting, shown, seed)
    while playing:
        probs = _probs(world.n_actions, policy, acting, playing, copies, epsilon)
        below = probs.cumsum(axis=1)
        seen = [
            episode.take(world, copy, probs[copy], below[copy], horizon) for copy, episode in playing.items()
        ]
        if acting is None or keep:
            for episode, observation in zip(playing.values(), seen, strict=True):
                episode.observations.append(observation)
        if acting is not None:
            places = list(playing)
            actions = np.zeros(copies, np.int64)
            actions[places] = [episode.actions[-1] for episode in playing.values()]
            for episode, code in zip(playing.values(), world.encode(seen).tolist(), strict=True):
                episode.codes.append(code)
            acting.update(actions, _spread(shown(seen), places, copies))
        free = [copy for copy, episode in playing.items() if episode.over]
        yield from [playing.pop(copy) for copy in free]
        _begin(world, free, waiting, playing, acting, shown, seed)


def _probs(
    n_actions: int,
    policy: Policy | None,
    acting: Batch | None,
    playing: dict[int, Played],
    copies: int,
    epsilon: float,
) -> NDArray[np.float64]:
    """Probability of every action in every copy, (copies, n_actions)."""
    allowed = np.ones((copies, n_actions), np.bool_)
    masked = {copy: episode.mask for copy, episode in playing.items() if episode.mask is not None}
    for copy, mask in masked.items():
        allowed[copy] = mask
    if acting is None or policy is None:
        return uniform(allowed)
    wanted = batch_probs(acting, policy, allowed if masked else None)
    return np.asarray((1.0 - epsilon) * wanted + epsilon * uniform(allowed))


def _spread(values: AnyArray, places: Sequence[int], copies: int) -> AnyArray:
    """Values of some copies among blank ones of the others."""
    spread = np.zeros((copies, *values.shape[1:]), values.dtype)
    spread[places] = values
    return spread


def _begin(
    world: GymnasiumWorld,
    free: Sequence[int],
    waiting: Iterator[int],
    playing: dict[int, Played],
    acting: Batch | None,
    shown: Callable[[Sequence[Raw]], AnyArray],
    seed: int,
) -> None:
    """Starts waiting episodes in the copies that are free."""
    # The copies come first: `zip` takes from them before it finds that no episode waits.
    begun = list(zip(free, waiting, strict=False))
    for copy, number in begun:
        first, mask = world.begin(copy, seed, number)
        playing[copy] = Played(number, first, mask, np.random.default_rng([seed, number]))
    if acting is None or not begun:
        return
    places = [copy for copy, _ in begun]
    starts = np.zeros(len(acting), np.bool_)
    starts[places] = True
    first = (
        _spread(shown([playing[copy].first for copy in places]), places, len(acting))
        if world.shows_first
        else None
    )
    acting.reset(starts, first)
