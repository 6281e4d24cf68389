"""Gymnasium environments as worlds: played, evaluated, iterated on and watched like those of the package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import gymnasium
import numpy as np
from numpy.typing import NDArray

from uqf.coding.codebook import Codebook
from uqf.episodes.columns import Columns, Sizes
from uqf.episodes.trajectories import MAX_SYMBOLS, Trajectories
from uqf.policies.policy import Policy
from uqf.types import Raw, Record
from uqf.worlds.gymnasium.copies import Copies, Mask, Played
from uqf.worlds.gymnasium.envs import (
    GymnasiumSimulation,
    Source,
    begun,
    made,
    shows_first,
    stepped,
    usual_horizon,
)
from uqf.worlds.gymnasium.finite import codes_shown, coding, known_bins
from uqf.worlds.gymnasium.recorded import as_trajectories, joined, usual_codebook
from uqf.worlds.gymnasium.space_codes import encoded, is_finite, relearned
from uqf.worlds.gymnasium.space_columns import column_sizes, mask_of, raw_columns
from uqf.worlds.gymnasium.spaces import checked_observations
from uqf.worlds.world import World

#: Copies of an environment that play side by side; what happens does not depend on it.
COPIES = 32

#: A codebook is learned from so many episodes of random play, or fewer if they have so many steps.
LEARNED_EPISODES, LEARNED_STEPS = 1_000, 50_000

#: They are counted after so many at a time.
LEARNED_BLOCK = 50


class GymnasiumWorld(World):
    """A Gymnasium environment with finitely many actions, or made so; its observations become codes of a codebook.

    What `reset` shows is part of every episode: `rollout` records it as `first_observations`, and policies see it.
    Observations that are no codes are recorded as they came too, as `columns`. Where ``info["action_mask"]`` says which
    actions are allowed, no other is taken, and `rollout` records them as `allowed`.
    Every episode has a seed of its own, so it is the same whatever was played before it; this needs an environment
    that draws its random numbers from the seed of `reset`, as those of Gymnasium do.

    Parameters
    ----------
    source : str, gymnasium.Env, or a function without arguments that makes one
        Of a name or a function many copies are made, which play side by side; a given environment plays alone.
    horizon : int, optional
        Longest episode; by default the environment's own limit, without which it must be given.
    discount : float
        Gymnasium names none; 1 scores returns undiscounted.
    codebook : Codebook, optional
        That of another world, of data or of a policy file. By default finite observation spaces of up to 4096 elements
        have a code for each, the last component counting fastest; for others one is learned from random play.
    cells : int, optional
        How many codes are learned, one for every 200 steps at most; by default as many as predict what follows best.
    action_bins : int, optional
        Every number of a Box of actions is cut into so many values at equal distances, its bounds among them. The
        codebook keeps them, so that agents do what the environment takes.
    seed : int
        Of that random play.

    Examples
    --------
    >>> import uqf
    >>> world = uqf.GymnasiumWorld("Blackjack-v1", horizon=20)
    >>> world.n_actions, world.n_observations
    (2, 704)
    >>> world.codebook.encode_one((13, 10, 0))
    306
    >>> uqf.rollout(world, episodes=5).first_observations is None
    False
    """

    def __init__(
        self,
        source: Source,
        *,
        horizon: int | None = None,
        discount: float = 0.99,
        codebook: Codebook | None = None,
        cells: int | None = None,
        action_bins: int | None = None,
        seed: int = 0,
    ) -> None:
        self._source, self._envs = source, [made(source)]
        env = self._envs[0]
        self._cells, self._action_bins = cells, action_bins
        self._bins = known_bins(env.action_space, action_bins, codebook)
        self._actions = self._bins or coding(env.action_space, "action", action_bins)
        self.observation_space = checked_observations(env.observation_space)
        self.shows_first, self.learns_codes = shows_first(env), not is_finite(env.observation_space)
        super().__init__(
            name=env.spec.id if env.spec is not None else type(env.unwrapped).__name__,
            horizon=usual_horizon(env) if horizon is None else horizon,
            discount=discount,
            n_actions=self._actions.n,
            n_observations=codes_shown(self.observation_space) - (not self.shows_first),
        )
        self.codebook = codebook or usual_codebook(
            self.observation_space,
            lambda: self._random_play(seed),
            shows_first=self.shows_first,
            cells=cells,
            seed=seed,
        )
        if self.codebook is not None:
            self.n_observations = self.codebook.n_codes or self.n_observations
        if self.n_symbols > MAX_SYMBOLS:
            raise ValueError(
                f"{self.n_actions} actions and {self.n_observations} observations: at most {MAX_SYMBOLS} symbols; "
                "group rare observations in a wrapper"
            )
        if not codes_shown(env.action_space):
            # Codes would be other actions of the environment, or none; names cannot be mistaken for them.
            known = self._bins or self.action_names
            self.codebook = (self.codebook or Codebook.named()).with_actions(known)
        self._sizes = column_sizes(self.observation_space, self.codebook)
        #: Whether `rollout` keeps raw columns: where observations are no codes as they come.
        self.keeps_columns = self._sizes is not None

    def _random_play(self, seed: int) -> list[Played]:
        played, steps = list[Played](), 0
        for first in range(0, LEARNED_EPISODES, LEARNED_BLOCK):
            if steps < LEARNED_STEPS:
                played += self.episodes(None, range(first, first + LEARNED_BLOCK), seed=seed)
                steps = sum(len(episode.actions) for episode in played)
        return sorted(played, key=lambda episode: episode.number)

    def relearned(self, data: Trajectories, *, cells: int | None = None, seed: int = 0) -> GymnasiumWorld:
        """The same world with a codebook learned anew from episodes that were played in it, if codes are learned.

        A policy reaches places that chance never sees: they get cells of their own. Policies and data of the old
        codebook do not fit the new world; `recoded` makes data fit. `cells` as in the constructor.
        """
        if self.codebook is None or not self.learns_codes:
            raise ValueError(
                f"{self.name}: observations are codes as they come, nothing is learned about them"
            )
        return GymnasiumWorld(
            self._source,
            horizon=self.horizon,
            discount=self.discount,
            codebook=relearned(self.codebook, data, cells or self._cells, seed),
            cells=cells or self._cells,
            action_bins=None if self._bins else self._action_bins,
        )

    def recoded(self, data: Trajectories) -> Trajectories:
        """Episodes of this world with the codes of its codebook, made from their raw columns if codes are learned."""
        if not self.learns_codes or self.codebook is None:
            return data
        if data.columns is None:
            raise ValueError("the episodes have no raw columns: play them with uqf.rollout in this world")
        shown = data.first_columns
        changed = {
            "observations": self.codebook.encode(data.columns),
            "n_observations": self.n_observations,
            "codebook": self.codebook,
            "first_observations": None if shown is None else self.codebook.encode(shown),
        }
        return Trajectories(**data.__getstate__() | changed)

    @property
    def actions(self) -> list[Raw]:
        """The action of the environment that every code stands for."""
        return [self.action(code) for code in range(self.n_actions)]

    def action(self, code: int) -> Raw:
        return self._actions.decode(code)

    @property
    def action_names(self) -> list[str]:
        return [
            str(self.action(code)) if self._bins is None else self._bins.name(code)
            for code in range(self.n_actions)
        ]

    @property
    def observation_names(self) -> list[str]:
        codes = range(self.n_observations)
        return [str(code) if self.codebook is None else self.codebook.describe(code) for code in codes]

    def simulation(self, seed: int = 0, episode: int = 0) -> GymnasiumSimulation:
        return GymnasiumSimulation(self, self._source, seed, episode)

    def _play(
        self,
        policy: Policy | None,
        schedule: Record,
        threads: int | None,
        progress: Callable[[int], object] | None,
    ) -> Trajectories:
        played: list[Played] = []
        numbers = range(schedule["first"], schedule["first"] + schedule["episodes"])
        options = {name: schedule[name] for name in ("horizon", "epsilon", "seed")}
        for episode in self.episodes(policy, numbers, keep=self.keeps_columns, **options):
            played.append(episode)
            if progress is not None:
                progress(len(played))
        played.sort(key=lambda one: one.number)
        masks, every = joined(one.allowed for one in played), np.ones(self.n_actions, np.bool_)
        masked = any(mask is not None for mask in masks)
        return as_trajectories(
            played,
            self.observation_space,
            self.codebook,
            self._sizes,
            shows_first=self.shows_first,
            codes=joined(one.codes for one in played),
            n_actions=self.n_actions,
            n_observations=self.n_observations,
            behavior_probs=joined(one.probs for one in played),
            allowed=np.stack([every if mask is None else mask for mask in masks]) if masked else None,
        )

    def episodes(self, policy: Policy | None, numbers: range, **options: Raw) -> Iterator[Played]:
        """Numbered episodes as they end, with what was seen as it came if chance acts."""
        count = 1 if isinstance(self._source, gymnasium.Env) else min(COPIES, len(numbers))
        self._envs += [made(self._source) for _ in range(count - len(self._envs))]
        settings: Record = {"horizon": self.horizon, "epsilon": 0.0, "keep": False} | options
        return Copies(self, policy, count, **settings).episodes(numbers)

    def begin(self, copy: int, seed: int, episode: int) -> tuple[Raw, Mask]:
        """Resets a copy to a numbered episode; gives what it shows, and the actions that are allowed."""
        seen, info = begun(self._envs[copy], seed, episode)
        return seen, mask_of(info, self.n_actions)

    def step(self, copy: int, action: int) -> tuple[Raw, float, bool, bool, Mask]:
        """(observation, reward, terminated, truncated, allowed)"""
        *step, info = stepped(self._envs[copy], self.action(action))
        return *step, mask_of(info, self.n_actions)

    def encode(self, observations: Sequence[Raw]) -> NDArray[np.int64]:
        """Codes of several observations, (n,)."""
        return encoded(self.codebook, self.observation_space, observations)

    @property
    def column_sizes(self) -> Sizes:
        return super().column_sizes if self._sizes is None else self._sizes

    def raw_columns(self, observations: Sequence[Raw]) -> Columns:
        """Raw columns of several observations, (n, d)."""
        return raw_columns(self.codebook, self.observation_space, observations, self.column_sizes)

    def __getstate__(self) -> Record:
        """Without the copies, which can be made again; a given environment cannot."""
        return self.__dict__ | {"_envs": [self._source] if isinstance(self._source, gymnasium.Env) else []}
