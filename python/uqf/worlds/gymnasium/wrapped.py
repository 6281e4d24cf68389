"""Worlds of this package as Gymnasium environments."""

from __future__ import annotations

import operator

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import SyncVectorEnv

from uqf.episodes.checks import one_of, positive
from uqf.errors import kind_of
from uqf.types import Raw, Record
from uqf.worlds.environments import Environment
from uqf.worlds.named import make


class GymnasiumEnv(gymnasium.Env[np.int64, np.int64]):
    """A world of this package behind Gymnasium's interface; made by `gymnasium_env`."""

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012  (Gymnasium's own declaration)

    def __init__(self, env: Environment, render_mode: str | None = None) -> None:
        if not isinstance(env, Environment):
            raise TypeError(f"env is {kind_of(env)}: give uqf.make(…) or a TabularPOMDP")
        if render_mode is not None:
            one_of("render_mode", render_mode, ("ansi",))
        self.world = env
        self.render_mode = render_mode
        self.action_space = Discrete(env.n_actions)
        self.observation_space = Discrete(env.n_observations + (not env.shows_first))
        self._seed: int | None = None
        self._episode = 0
        self._left = 0

    def reset(self, *, seed: int | None = None, options: Record | None = None) -> tuple[np.int64, Record]:
        """Starts the next episode, or number ``options["episode"]``.

        The observation is ``n_observations``, "nothing seen yet", in worlds that show nothing first.
        """
        super().reset(seed=seed)
        if seed is not None or self._seed is None:
            self._seed = int(self.np_random.integers(2**63)) if seed is None else seed
            self._episode = -1
        self._episode += 1
        if options is not None and "episode" in options:
            self._episode = operator.index(options["episode"])
        self._simulation = self.world.simulation(self._seed, self._episode)
        self._left = self.world.horizon
        first = self._simulation.first
        return np.int64(self.world.n_observations if first is None else first), {}

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, Record]:
        """(observation, reward, terminated, truncated, {}); truncated after the world's horizon."""
        observation, reward, terminated = self._simulation.step(operator.index(action))
        self._left -= 1
        return np.int64(observation), reward, terminated, self._left <= 0 and not terminated, {}

    def render(self) -> str | None:
        return self._simulation.render() if self.render_mode == "ansi" else None


def gymnasium_env(env: Environment, *, render_mode: str | None = None) -> GymnasiumEnv:
    """A world as a `gymnasium.Env`, truncated after ``env.horizon`` steps.

    Gymnasium wants an observation from `reset`. In worlds that show nothing before the first action the
    observation space is ``Discrete(n_observations + 1)``, and its last code means "nothing seen yet" and
    occurs at `reset` only. After ``reset(seed=s)`` and n further resets the world draws the random numbers of
    episode n of ``uqf.rollout(env, …, seed=s)``.

    Parameters
    ----------
    env : Environment
        The world.
    render_mode : "ansi" or None
        Whether `render` gives text.

    Returns
    -------
    gymnasium.Env
        With discrete spaces.

    Examples
    --------
    >>> import uqf
    >>> tiger = uqf.gymnasium_env(uqf.make("tiger"))
    >>> int(tiger.reset(seed=0)[0])  # two observations, and "nothing seen yet"
    2
    """
    return GymnasiumEnv(env, render_mode)


def gymnasium_vector_env(env: Environment, n: int) -> SyncVectorEnv:
    """Copies of a world as a `gymnasium.vector.VectorEnv`, each as `gymnasium_env` makes it.

    A copy whose episode has ended is reset by the next `step`, which ignores its action and gives reward 0.

    Parameters
    ----------
    env : Environment
        The world.
    n : int
        Number of copies; ``reset(seed=s)`` seeds copy i with s + i.

    Returns
    -------
    gymnasium.vector.SyncVectorEnv
        With discrete spaces.

    Examples
    --------
    >>> import uqf
    >>> tigers = uqf.gymnasium_vector_env(uqf.make("tiger"), 3)
    >>> tigers.reset(seed=0)[0].tolist()
    [2, 2, 2]
    """
    positive("n", n)
    return SyncVectorEnv([lambda: GymnasiumEnv(env)] * n)


def named_env(name: str, *, render_mode: str | None = None, **options: Raw) -> GymnasiumEnv:
    """What ``gymnasium.make("uqf/…")`` makes: `options` are those of `uqf.make`."""
    return GymnasiumEnv(make(name, **options), render_mode)
