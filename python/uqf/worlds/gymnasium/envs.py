"""Single Gymnasium environments: made, begun, stepped and looked at."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import VectorEnv
from gymnasium.wrappers import TimeLimit
from numpy.typing import ArrayLike

from uqf.episodes.columns import Columns
from uqf.errors import kind_of
from uqf.types import Raw, Record
from uqf.worlds.environments import Environment
from uqf.worlds.gymnasium.space_columns import mask_of

if TYPE_CHECKING:
    from uqf.worlds.gymnasium.world import GymnasiumWorld

# Any: actions and observations are what a world's spaces say.
Env = gymnasium.Env[Any, Any]
#: Options of ``gymnasium.make_vec`` that its specs keep.
OF_VECTORS = ("num_envs", "vectorization_mode", "vector_kwargs", "wrappers", "max_episode_steps")

# Any: the same.
Vector = VectorEnv[Any, Any, Any]
Source = str | Env | Vector | Callable[[], Env]


def made(source: Source, **options: Raw) -> Env:
    """An environment of a source; `options` are for those that are made by name."""
    if isinstance(source, gymnasium.Env):
        return source
    if isinstance(source, VectorEnv):
        source = _single(source)
    if not (isinstance(source, str) or callable(source)):
        raise TypeError(
            f"source is {kind_of(source)}: give the name of an environment, a gymnasium.Env, a vector of them, "
            "or a function without arguments that makes one"
        )
    # The checker looks at every step of every copy.
    named = {"disable_env_checker": True} | options
    try:
        env = gymnasium.make(source, **named) if isinstance(source, str) else source()
    except gymnasium.error.Error as error:
        raise ValueError(f"source = {source!r}: {error}") from None
    if not isinstance(env, gymnasium.Env):
        raise TypeError(f"source made {kind_of(env)}: give a function that makes a gymnasium.Env")
    return env


def _single(vector: Vector) -> str | Callable[[], Env]:
    """What makes one of the environments of a vector: here many copies are made anyway."""
    makers = getattr(vector.unwrapped, "env_fns", None)
    if isinstance(makers, (list, tuple)):
        maker: Callable[[], Env] = makers[0]
        return maker
    # Gymnasium 1.0 keeps a generator that is used up; its environments know how they were made.
    spec = next((env.spec for env in getattr(vector.unwrapped, "envs", [])), vector.spec)
    if spec is not None:
        # A vector that is made of no single environments is asked for with options that these do not have.
        options = {name: value for name, value in spec.kwargs.items() if name not in OF_VECTORS}
        return partial(gymnasium.make, replace(spec, kwargs=options))
    raise TypeError(
        f"source is {kind_of(vector)} that does not say how one of its environments is made: give its name, a "
        "gymnasium.Env, or a function without arguments that makes one"
    )


def inner_world(env: Env) -> Environment | None:
    """The world of this package that an environment plays in, if it is one of `uqf.gymnasium_env`."""
    world = getattr(env.unwrapped, "world", None)
    return world if isinstance(world, Environment) else None


def shows_first(env: Env) -> bool:
    """Whether `reset` shows something: that of `uqf.gymnasium_env` may show the code for "nothing seen yet"."""
    world = inner_world(env)
    if world is None or world.shows_first:
        return True
    return env.observation_space != Discrete(world.n_observations + 1)


def usual_horizon(env: Env) -> int:
    """The limit that an environment names for its episodes; of several the shortest."""
    world = inner_world(env)
    if world is not None:
        return world.horizon
    limits = [] if env.spec is None else [env.spec.max_episode_steps]
    while isinstance(env, gymnasium.Wrapper):
        # An environment that was made by its class has no spec, whatever is wrapped around it.
        limits += [env._max_episode_steps] if isinstance(env, TimeLimit) else []
        env = env.env
    known = [limit for limit in limits if limit is not None]
    if known:
        return min(known)
    raise ValueError("horizon is not given and the environment names no max_episode_steps: give horizon")


def begun(env: Env, seed: int, episode: int) -> tuple[Raw, Record]:
    """Resets to an episode that depends on its number and the seed alone; gives what it shows, and `info`."""
    if inner_world(env) is not None:
        return env.reset(seed=seed, options={"episode": episode})
    return env.reset(seed=int(np.random.SeedSequence([seed, episode]).generate_state(1)[0]))


def stepped(env: Env, action: Raw) -> tuple[Raw, float, bool, bool, Record]:
    """(observation, reward, terminated, truncated, info)"""
    observation, reward, terminated, truncated, info = env.step(action)
    return observation, float(reward), bool(terminated), bool(truncated), info


def pictured(source: Source) -> Env:
    """An environment that draws itself in letters, if it can."""
    if isinstance(source, str) and "ansi" in made(source).metadata.get("render_modes", ()):
        return made(source, render_mode="ansi")
    return made(source)


def plain_picture(coloured: str) -> str:
    """A picture without the colours of terminals: a letter with a coloured ground, where the player is, becomes @."""
    marked = re.sub(r"\x1b\[4\d(?:;\d+)*m.\x1b\[0m", "@", coloured)
    return re.sub(r"\x1b\[[\d;]*m", "", marked)


class GymnasiumSimulation:
    """One running episode of a `GymnasiumWorld`, like those of compiled worlds; `first` is what `reset` showed.

    `allowed` are the actions that may be taken next, (n_actions,), None for all.
    """

    def __init__(self, world: GymnasiumWorld, source: Source, seed: int, episode: int) -> None:
        self._world, self._env = world, pictured(source)
        self._rng = np.random.default_rng([seed, episode])
        self._seen, info = begun(self._env, seed, episode)
        self.allowed = mask_of(info, world.n_actions)
        self.first = int(world.encode([self._seen])[0]) if world.shows_first else None

    def choose(self, probs: ArrayLike) -> int:
        below = np.cumsum(probs)
        return int(np.searchsorted(below, self._rng.random() * below[-1], side="right"))

    def step(self, action: int) -> tuple[int, float, bool]:
        """(observation, reward, whether the episode is over)"""
        self._seen, reward, terminated, truncated, info = stepped(self._env, self._world.action(action))
        self.allowed = mask_of(info, self._world.n_actions)
        return int(self._world.encode([self._seen])[0]), reward, terminated or truncated

    @property
    def columns(self) -> Columns:
        """What was seen last as raw columns, (d,)."""
        seen: Columns = self._world.raw_columns([self._seen])[0]
        return seen

    def render(self) -> str:
        """A picture in letters; what was seen, where the environment draws none."""
        if self._env.render_mode == "ansi":
            return plain_picture(str(self._env.render()))
        if self._world.codebook is None:
            return str(self._seen)
        code = int(self._world.encode([self._seen])[0])
        return f"{self._seen}\n{self._world.codebook.describe(code)}"
