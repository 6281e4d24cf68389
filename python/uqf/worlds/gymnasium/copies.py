"""Episodes in several copies of a world that is stepped in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from uqf.policies.batches import batch, batch_probs
from uqf.policies.masks import uniform
from uqf.policies.policy import Policy, wants_columns
from uqf.types import AnyArray
from uqf.worlds.gymnasium.recorded import Recorded

if TYPE_CHECKING:
    from uqf.worlds.gymnasium.world import GymnasiumWorld

Mask = NDArray[np.bool_] | None


@dataclass(kw_only=True)
class Played(Recorded):
    """One episode; `codes` stays empty where chance acted, `observations` where only codes are kept."""

    number: int
    mask: Mask
    """The actions that may be taken next; None for all."""
    rng: np.random.Generator = field(repr=False)
    codes: list[int] = field(default_factory=list)
    probs: list[float] = field(default_factory=list)
    allowed: list[Mask] = field(default_factory=list)
    over: bool = False


class Copies:
    """Some copies of a world that play side by side; a policy of None acts uniformly. Nobody does what is not allowed.

    Every episode has random numbers of its own: the number of copies does not change what happens. What was seen is
    kept as it came with `keep`, and where the policy is None.
    """

    def __init__(
        self,
        world: GymnasiumWorld,
        policy: Policy | None,
        count: int,
        *,
        horizon: int,
        epsilon: float,
        seed: int,
        keep: bool,
    ) -> None:
        self.world, self.policy, self.count = world, policy, count
        self.horizon, self.epsilon, self.seed = horizon, epsilon, seed
        self.acting = None if policy is None else batch(policy, count, n_actions=world.n_actions, seed=seed)
        self.keep = keep or policy is None
        self.shown = world.raw_columns if wants_columns(policy) else world.encode
        self.playing: dict[int, Played] = {}

    def episodes(self, numbers: Sequence[int]) -> Iterator[Played]:
        waiting = iter(numbers)
        self._begin(range(self.count), waiting)
        while self.playing:
            self._step()
            free = [copy for copy, episode in self.playing.items() if episode.over]
            yield from [self.playing.pop(copy) for copy in free]
            self._begin(free, waiting)

    def _begin(self, free: Sequence[int], waiting: Iterator[int]) -> None:
        # The copies come first: `zip` takes from them before it finds that no episode waits.
        begun = dict(zip(free, waiting, strict=False))
        for copy, number in begun.items():
            first, mask = self.world.begin(copy, self.seed, number)
            rng = np.random.default_rng([self.seed, number])
            self.playing[copy] = Played(first, number=number, mask=mask, rng=rng)
        if self.acting is None or not begun:
            return
        starts = np.zeros(self.count, np.bool_)
        starts[[*begun]] = True
        shown = None
        if self.world.shows_first:
            shown = self._spread(self.shown([self.playing[copy].first for copy in begun]), [*begun])
        self.acting.reset(starts, shown)

    def _step(self) -> None:
        """One step of every episode: draws an action by the running sums of its probabilities."""
        probs = self._probs()
        below, seen = probs.cumsum(axis=1), []
        for copy, episode in self.playing.items():
            # The last sum may miss 1 by a rounding error, and the draw must not fall beyond it.
            drawn = episode.rng.random() * below[copy, -1]
            action = int(below[copy].searchsorted(drawn, side="right"))
            episode.allowed.append(episode.mask)
            shown, reward, episode.terminated, truncated, episode.mask = self.world.step(copy, action)
            episode.actions.append(action)
            episode.rewards.append(float(reward))
            episode.probs.append(float(probs[copy, action]))
            episode.over = episode.terminated or truncated or len(episode.actions) == self.horizon
            seen.append(shown)
            if self.keep:
                episode.observations.append(shown)
        if self.acting is not None:
            episodes, places = self.playing.values(), [*self.playing]
            for episode, code in zip(episodes, self.world.encode(seen).tolist(), strict=True):
                episode.codes.append(code)
            actions = self._spread(np.array([one.actions[-1] for one in episodes], np.int64), places)
            self.acting.update(actions, self._spread(self.shown(seen), places))

    def _probs(self) -> NDArray[np.float64]:
        """Probability of every action in every copy, (copies, n_actions)."""
        allowed = np.ones((self.count, self.world.n_actions), np.bool_)
        masked = {copy: one.mask for copy, one in self.playing.items() if one.mask is not None}
        for copy, mask in masked.items():
            allowed[copy] = mask
        if self.acting is None or self.policy is None:
            return uniform(allowed)
        wanted = batch_probs(self.acting, self.policy, allowed if masked else None)
        return np.asarray((1.0 - self.epsilon) * wanted + self.epsilon * uniform(allowed))

    def _spread(self, values: AnyArray, places: Sequence[int]) -> AnyArray:
        """Values of some copies among blank ones of the others."""
        spread = np.zeros((self.count, *values.shape[1:]), values.dtype)
        spread[places] = values
        return spread
