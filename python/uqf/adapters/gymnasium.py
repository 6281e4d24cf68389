"""Worlds of this package as Gymnasium environments, and episodes of any finite Gymnasium environment."""

from __future__ import annotations

import operator
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from uqf.adapters.spaces import coding
from uqf.data.trajectories import MAX_SYMBOLS, Trajectories
from uqf.policies import chooser, started
from uqf.worlds.environments import Environment


class GymnasiumEnv(gymnasium.Env[np.int64, np.int64]):
    """A world of this package behind Gymnasium's interface; made by `gymnasium_env`."""

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012  (Gymnasium's own declaration)

    def __init__(self, env: Environment, render_mode: str | None = None) -> None:
        if not isinstance(env, Environment):
            raise TypeError(f"env is a {type(env).__name__}: give uqf.make(…) or a TabularPOMDP")
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode = {render_mode!r}: give None or 'ansi'")
        self.world = env
        self.render_mode = render_mode
        self.action_space = Discrete(env.n_actions)
        self.observation_space = Discrete(env.n_observations + 1)
        self._seed: int | None = None
        self._episode = 0
        self._left = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Starts the next episode; the observation is ``n_observations``, "nothing seen yet"."""
        super().reset(seed=seed)
        if seed is not None or self._seed is None:
            self._seed = int(self.np_random.integers(2**63)) if seed is None else seed
            self._episode = -1
        self._episode += 1
        self._simulation = self.world.simulation(self._seed, self._episode)
        self._left = self.world.horizon
        return np.int64(self.world.n_observations), {}

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """(observation, reward, terminated, truncated, {}); truncated after the world's horizon."""
        observation, reward, terminated = self._simulation.step(operator.index(action))
        self._left -= 1
        return np.int64(observation), reward, terminated, self._left <= 0 and not terminated, {}

    def render(self) -> str | None:
        """The state as text, for ``render_mode="ansi"``."""
        return self._simulation.render() if self.render_mode == "ansi" else None


def gymnasium_env(env: Environment, *, render_mode: str | None = None) -> GymnasiumEnv:
    """A world as a `gymnasium.Env`, truncated after ``env.horizon`` steps.

    Our worlds show nothing before the first action, but Gymnasium wants an observation from `reset`: the
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


def gymnasium_vector_env(
    env: Environment, n: int, *, autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP
) -> SyncVectorEnv:
    """Copies of a world as a `gymnasium.vector.VectorEnv`, each as `gymnasium_env` makes it.

    Parameters
    ----------
    env : Environment
        The world.
    n : int
        Number of copies; ``reset(seed=s)`` seeds copy i with s + i.
    autoreset_mode : AutoresetMode
        By default a copy whose episode has ended is reset by the next `step`, which ignores its action and gives
        reward 0, as Gymnasium does since 1.1.

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
    if operator.index(n) < 1:
        raise ValueError(f"n = {n}: give at least one copy")
    return SyncVectorEnv([lambda: GymnasiumEnv(env)] * n, autoreset_mode=autoreset_mode)


class _Uniform:
    """Every action alike, whatever happened."""

    def __init__(self, n_actions: int) -> None:
        self.probs = np.full(n_actions, 1.0 / n_actions)

    def initial_state(self) -> None:
        return None

    def update(self, state: None, action: int, observation: int) -> None:
        return None

    def action_probs(self, state: None) -> NDArray[np.float64]:
        return self.probs


def _opens_with_nothing(gym_env: gymnasium.Env[Any, Any]) -> bool:
    """Whether the last observation code is the "nothing seen yet" of `gymnasium_env`."""
    world = gym_env.unwrapped
    return isinstance(world, GymnasiumEnv) and gym_env.observation_space == world.observation_space


def _usual_horizon(gym_env: gymnasium.Env[Any, Any]) -> int:
    if isinstance(gym_env.unwrapped, GymnasiumEnv):
        return gym_env.unwrapped.world.horizon
    if gym_env.spec is not None and gym_env.spec.max_episode_steps is not None:
        return gym_env.spec.max_episode_steps
    raise ValueError("horizon is not given and the environment names no max_episode_steps: give horizon")


def from_gymnasium(
    gym_env: gymnasium.Env[Any, Any],
    policy: Any = None,
    *,
    episodes: int,
    horizon: int | None = None,
    epsilon: float = 0.0,
    seed: int = 0,
) -> Trajectories:
    """Plays episodes in a Gymnasium environment and records them, like `uqf.rollout`.

    What `reset` shows becomes `first_observations`: whoever uses a policy learned from such data begins an episode
    with ``policy.initial_state(first=code)``. Environments made by `gymnasium_env` show nothing first.

    Parameters
    ----------
    gym_env : gymnasium.Env
        Action and observation spaces are Discrete (any `start`), MultiDiscrete, MultiBinary, or a Tuple or
        Dict of those; elements become codes 0, 1, 2, …, the last component counting fastest.
    policy : None (uniform) or any policy
        Acting on codes.
    episodes : int
        How many.
    horizon : int, optional
        Longest episode; by default the environment's own limit, without which it must be given.
    epsilon : float in [0, 1]
        With this probability a uniform action replaces the policy's own, at each step.
    seed : int
        Seeds the first `reset`; later resets continue the environment's own generator.

    Returns
    -------
    Trajectories
        The episodes, with `behavior_probs`.

    Raises
    ------
    TypeError
        If a space is not finite.

    Examples
    --------
    >>> import gymnasium, uqf
    >>> data = uqf.from_gymnasium(gymnasium.make("FrozenLake-v1"), episodes=10, seed=0)
    >>> data.n_actions, data.n_observations
    (4, 16)
    """
    if not isinstance(gym_env, gymnasium.Env):
        raise TypeError(f"gym_env is a {type(gym_env).__name__}: give a single gymnasium.Env, not a vector")
    if operator.index(episodes) < 1:
        raise ValueError(f"episodes = {episodes}: give at least one")
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"epsilon = {epsilon}: give a probability in [0, 1]")
    longest = _usual_horizon(gym_env) if horizon is None else operator.index(horizon)
    if longest < 1:
        raise ValueError(f"horizon = {horizon}: give at least one step")
    actions = coding(gym_env.action_space, "action")
    observations = coding(gym_env.observation_space, "observation")
    silent = _opens_with_nothing(gym_env)
    n_observations = observations.n - silent
    if actions.n * n_observations > MAX_SYMBOLS:
        raise ValueError(
            f"{actions.n} actions and {n_observations} observations: at most {MAX_SYMBOLS} symbols; "
            "group rare observations in a wrapper"
        )
    actor = _Uniform(actions.n) if policy is None else policy
    choose = chooser(actor, actions.n)
    rng = np.random.default_rng(seed)
    steps: list[tuple[int, int, float, float]] = []
    offsets, ended, firsts = [0], [], []
    for episode in range(episodes):
        shown, _ = gym_env.reset(seed=seed if episode == 0 else None)
        first = None if silent else observations.encode(shown)
        if first is not None:
            firsts.append(first)
        state = started(actor, first)
        terminated = truncated = False
        for _ in range(longest):
            probs = (1.0 - epsilon) * choose(state, rng) + epsilon / actions.n
            action = int(rng.choice(actions.n, p=probs))
            seen, reward, terminated, truncated, _ = gym_env.step(actions.decode(action))
            code = observations.encode(seen)
            steps.append((action, code, float(reward), probs[action]))
            if terminated or truncated:
                break
            state = actor.update(state, action, code)
        offsets.append(len(steps))
        ended.append(bool(terminated))
    taken, seen_codes, rewards, behavior_probs = (np.array(column) for column in zip(*steps, strict=True))
    return Trajectories(
        taken,
        seen_codes,
        rewards,
        offsets,
        n_actions=actions.n,
        n_observations=n_observations,
        behavior_probs=behavior_probs,
        terminated=ended,
        first_observations=None if silent else firsts,
    )
